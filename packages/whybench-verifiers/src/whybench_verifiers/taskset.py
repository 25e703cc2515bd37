"""The suites as tasksets: one taskset for all suites, and one for each family."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import verifiers.v1 as vf
from pydantic import Field

from whybench import Choice, Instance, load_suite
from whybench_verifiers.playing import Pay
from whybench_verifiers.task import WhyBenchTask, task_of


class WhyBenchConfig(vf.TasksetConfig):
    """The choice of instances, their prompt template and their reward."""

    suite: str | None = None
    """`family/suite`. The taskset of a family also accepts the suite alone. None: its default."""
    split: Literal["train", "eval", "all"] = "train"
    """`train` and `eval` share no hidden system, up to renaming. `all` is the whole suite."""
    rows: int | None = Field(None, ge=1)
    """Number of rows before the split. It may exceed the size of the suite, the default."""
    endless: bool = False
    """Draw new instances without end instead of listing the suite."""
    seed: int | None = None
    """Seed of an endless list (None: 0), or of the order of a finite one (None: no shuffling)."""
    reward: Pay = "sparse"
    """`sparse` pays the headline metric at the end. `dense` also pays for evidence."""
    template: str | None = None
    """The prompt template. None means the family's first template."""
    profile: Literal["certified", "published"] = "certified"
    """The rules: `certified` repairs known defects, `published` does not."""
    suite_seed: str = "public"
    """The suite seed. Another seed gives other instances. `private:…` needs its secret."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The family's parameters."""
    where: str | None = None
    """A filter on difficulty, such as `bits <= 6 and tokens < 2000`."""
    data: str | None = None
    """The address of a stored set of the suite, to take its rows."""


class WhyBenchTaskset(vf.Taskset[WhyBenchTask, WhyBenchConfig]):
    """Any suite of any family."""

    default: ClassVar[str] = "causallink/advanced"
    """The default suite. Suites of its family can be given without the family."""
    others: ClassVar[bool] = True
    """Whether suites of other families are accepted too."""

    def __init__(self, config: WhyBenchConfig) -> None:
        super().__init__(config)
        # The library sets this per class; here it depends on the configuration.
        self.INFINITE = config.endless
        self.suite = load_suite(
            self._path(),
            profile=config.profile,
            seed=config.suite_seed,
            parameters=config.parameters,
        )
        part = None if config.split == "all" else config.split
        self.choice = Choice.of(
            self.suite, part, config.rows, config.endless, where=config.where, data=config.data
        )
        templates = self.suite.family.templates
        if config.template not in (None, *templates):
            raise ValueError(f"Unknown template {config.template!r}. Use {', '.join(templates)}.")

    def load(self) -> Iterator[WhyBenchTask]:
        """Yield the tasks one by one. Instances are built when they are requested."""
        config = self.config
        for instance in self._instances():
            yield task_of(instance, template=config.template, pay=config.reward, config=config.task)

    def _instances(self) -> Iterator[Instance]:
        if self.config.endless:
            return self.choice.seeded(self.config.seed or 0)
        return self.choice.once(self.config.seed)

    def _path(self) -> str:
        family = self.default.partition("/")[0]
        suite = self.config.suite or self.default
        path = suite if "/" in suite else f"{family}/{suite}"
        if not self.others and path.partition("/")[0] != family:
            raise ValueError(
                f"{path!r} is not a suite of {family}. Use the taskset whybench-verifiers."
            )
        return path


class CausaLabTaskset(WhyBenchTaskset):
    """Suites of CausaLab."""

    default, others = "causalab/main_4", False


class CausalGameTaskset(WhyBenchTaskset):
    """Suites of CausalGame."""

    default, others = "causalgame/antenna", False


class CausalLinkTaskset(WhyBenchTaskset):
    """Suites of CausalLink."""

    default, others = "causallink/advanced", False


class ReciteTaskset(WhyBenchTaskset):
    """Suites of ReCITE."""

    default, others = "recite/short", False


class ReplaySCMTaskset(WhyBenchTaskset):
    """Suites of ReplaySCM."""

    default, others = "replayscm/lab", False
