"""The options of a server, which a reset can replace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from whybench import Choice, Record, Suite, freeze, installed_families, load_suite, thaw

Part = Literal["train", "eval"]
Pay = Literal["sparse", "dense"]

LONGEST = 100_000
"""Maximum rows of a finite list. `endless` has no limit."""


@dataclass(frozen=True, slots=True)
class Options:
    """The choice of episodes, their prompt template and their reward.

    >>> Options().changed({"suite": "causallink", "split": "train", "endless": True}).found.path
    'causallink/advanced'
    """

    suite: str = "causallink/advanced"
    """`family/suite`. A family alone selects the first suite that it recommends."""
    split: Part | None = None
    """`train` or `eval`, which share no hidden system. None means both."""
    endless: bool = False
    """Draw new instances without end, not only the instances of the suite."""
    rows: int | None = None
    """Length of the finite list before the split. None means the size of the suite."""
    reward: Pay = "sparse"
    """`sparse` pays the headline metric at the end. `dense` also counts evidence and errors."""
    template: str | None = None
    """The prompt template. None means the family's first template."""
    profile: str = "certified"
    suite_seed: str = "public"
    """The suite seed. Another seed gives other instances."""
    parameters: Record = field(default_factory=Record)
    """Parameters of the family."""
    where: str | None = None
    """A filter on difficulty, such as `bits <= 6 and tokens < 2000`."""
    data: str | None = None
    """The address of a stored set of the suite, to take its rows."""
    found: Suite = field(init=False, repr=False, compare=False)
    """The suite itself."""
    choice: Choice = field(init=False, repr=False, compare=False)
    """The instances that are offered."""

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds) or (kinds is _WHOLE and isinstance(value, bool)):
                raise ValueError(f"`{name}` is {_show(value)}. It must be {_WANTED[kinds]}.")
        if self.split is not None and self.split not in get_args(Part):
            raise ValueError(
                f"Unknown split {_show(self.split)}. Use {' or '.join(get_args(Part))}."
            )
        if self.reward not in get_args(Pay):
            raise ValueError(
                f"Unknown reward {_show(self.reward)}. Use {' or '.join(get_args(Pay))}."
            )
        if self.rows is not None and (self.endless or not 1 <= self.rows <= LONGEST):
            raise ValueError(
                f"`rows` must be 1 … {LONGEST}, and cannot be combined with `endless`."
            )
        object.__setattr__(self, "suite", _whole_path(self.suite))
        found = load_suite(
            self.suite,
            profile=self.profile,
            seed=self.suite_seed,
            parameters=thaw(self.parameters),
        )
        if self.template is not None and self.template not in found.family.templates:
            known = ", ".join(found.family.templates)
            raise ValueError(
                f"{found.family.name} has no template {_show(self.template)}. Use {known}."
            )
        object.__setattr__(self, "found", found)
        object.__setattr__(self, "choice", self._choice(found))

    def _choice(self, suite: Suite) -> Choice:
        return Choice.of(
            suite, self.split, self.rows, self.endless, where=self.where, data=self.data
        )

    def changed(self, given: Mapping[str, Any]) -> Options:
        """Return these options with replacements. Unknown names are rejected."""
        unknown = sorted(given.keys() - NAMES)
        if unknown:
            raise ValueError(f"Unknown option {_show(unknown[0])}. Use {', '.join(sorted(NAMES))}.")
        new = dict(given)
        if "parameters" in new:
            new["parameters"] = _record(new["parameters"])
        if _whole_path(new.get("suite", self.suite)) != self.suite:
            # A template and parameters fit one suite, so they are not defaults for another.
            new = {"template": None, "parameters": Record(), **new}
        return replace(self, **new) if new else self


_TEXT, _WHOLE = (str,), (int, type(None))
_TEXT_OR_NONE = (str, type(None))
_KINDS: Mapping[str, tuple[type, ...]] = {
    "suite": _TEXT,
    "split": _TEXT_OR_NONE,
    "endless": (bool,),
    "rows": _WHOLE,
    "reward": _TEXT,
    "template": _TEXT_OR_NONE,
    "profile": _TEXT,
    "suite_seed": _TEXT,
    "parameters": (Record,),
    "where": _TEXT_OR_NONE,
    "data": _TEXT_OR_NONE,
}
_WANTED: Mapping[tuple[type, ...], str] = {
    _TEXT: "a string",
    _TEXT_OR_NONE: "a string or null",
    (bool,): "true or false",
    _WHOLE: "an integer or null",
    (Record,): "an object of named values",
}

NAMES = frozenset(option.name for option in fields(Options) if option.init) - {"data"}
"""The names of the options that a client may change. It must not make a server read addresses."""


def _record(value: Any) -> Any:
    """Freeze parameters. A value that is not a mapping is returned for the later check."""
    return freeze(value) if isinstance(value, Mapping) else value


def _whole_path(path: Any) -> Any:
    """Return `family/suite`, with the first recommended suite if only a family is given.

    A value that is not a string is returned for the later check.
    """
    family = installed_families().get(path) if isinstance(path, str) else None
    return path if family is None else f"{path}/{family.recommended[0]}"


def _show(value: object) -> str:
    """Return a value in short form, for error messages."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"
