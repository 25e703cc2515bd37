"""The suites as tasksets: all behind one id, and each family behind one of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import verifiers.v1 as vf
from pydantic import Field

from whybench import Choice, Instance, load_suite
from whybench_verifiers.playing import Pay
from whybench_verifiers.task import WhyBenchTask, task_of


class WhyBenchConfig(vf.TasksetConfig):
    """Which instances are played, and how they are told and paid."""

    suite: str | None = None
    """`family/suite`; a family's own taskset also takes the bare name. None: the taskset's own."""
    split: Literal["train", "eval", "all"] = "train"
    """`train` and `eval` share no hidden system, however named; `all` is the suite as it stands."""
    rows: int | None = Field(None, ge=1)
    """Look at so many rows of the suite, which may be more than its size; None: at its size."""
    endless: bool = False
    """Draw fresh instances without end instead of listing the suite."""
    seed: int | None = None
    """By what an endless list is drawn (None: 0) and a finite one is dealt (None: in order)."""
    reward: Pay = "sparse"
    """`sparse`: the headline metric at the end. `dense`: and evidence as it comes in."""
    template: str | None = None
    """The words in which an instance is told; None: the family's first."""
    profile: Literal["certified", "published"] = "certified"
    """The rules: with known defects repaired, or as published."""
    suite_seed: str = "public"
    """Another seed, other instances; `private:…` needs its secret."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The family's parameters."""


class WhyBenchTaskset(vf.Taskset[WhyBenchTask, WhyBenchConfig]):
    """Any suite of any family."""

    default: ClassVar[str] = "causallink/core"
    """The suite that is played if none is named; its family's need no family's name."""
    others: ClassVar[bool] = True
    """Whether other families' suites are taken, too."""

    def __init__(self, config: WhyBenchConfig) -> None:
        super().__init__(config)
        # A switch of the library for each class; here each list has its own.
        self.INFINITE = config.endless
        self.suite = load_suite(
            self._path(),
            profile=config.profile,
            seed=config.suite_seed,
            parameters=config.parameters,
        )
        part = None if config.split == "all" else config.split
        self.choice = Choice(self.suite, part, config.rows, config.endless)
        templates = self.suite.family.templates
        if config.template not in (None, *templates):
            raise ValueError(f"no template {config.template!r}: try {', '.join(templates)}")

    def load(self) -> Iterator[WhyBenchTask]:
        """Yield the tasks one by one: worlds are made when they are asked for."""
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
            raise ValueError(f"{path!r} is no suite of {family}: use whybench-verifiers")
        return path


class CausaLabTaskset(WhyBenchTaskset):
    """Suites of CausaLab."""

    default, others = "causalab/main_4", False


class CausalGameTaskset(WhyBenchTaskset):
    """Suites of CausalGame."""

    default, others = "causalgame/knobs", False


class CausalLinkTaskset(WhyBenchTaskset):
    """Suites of CausalLink."""

    default, others = "causallink/core", False


class ReciteTaskset(WhyBenchTaskset):
    """Suites of ReCITE."""

    default, others = "recite/made_short", False


class ReplaySCMTaskset(WhyBenchTaskset):
    """Suites of ReplaySCM."""

    default, others = "replayscm/lab", False
