"""What a server offers, and what a reset may ask for instead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from whybench import Choice, Record, Suite, freeze, installed_families, load_suite, thaw

Part = Literal["train", "eval"]
Pay = Literal["sparse", "dense"]

LONGEST = 100_000
"""The most rows of a finite list; `endless` has no bound."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which episodes, told how, paid how.

    >>> Options().changed({"suite": "causallink", "split": "train", "endless": True}).found.path
    'causallink/core'
    """

    suite: str = "causallink/core"
    """`family/suite`; a family alone stands for its first suite, whose path is kept."""
    split: Part | None = None
    """`train` or `eval`, which share no hidden system; None: both."""
    endless: bool = False
    """Draw without end from the list that the suite begins, not from the suite alone."""
    rows: int | None = None
    """The length of the finite list, before the split; None: the suite's own."""
    reward: Pay = "sparse"
    """`sparse`: the headline score at the end. `dense`: evidence gained and errors, too."""
    template: str | None = None
    """The words in which episodes are told; None: the family's first template."""
    profile: str = "certified"
    suite_seed: str = "public"
    """The seed of the suite: another one, other instances."""
    parameters: Record = field(default_factory=Record)
    """Parameters of the family."""
    found: Suite = field(init=False, repr=False, compare=False)
    """The suite itself."""

    def __post_init__(self) -> None:
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds) or (kinds is _WHOLE and isinstance(value, bool)):
                raise ValueError(f"`{name}` is {_show(value)}: give {_WANTED[kinds]}")
        if self.split is not None and self.split not in get_args(Part):
            raise ValueError(f"no split {_show(self.split)}: try {' or '.join(get_args(Part))}")
        if self.reward not in get_args(Pay):
            raise ValueError(f"no reward {_show(self.reward)}: try {' or '.join(get_args(Pay))}")
        if self.rows is not None and (self.endless or not 1 <= self.rows <= LONGEST):
            raise ValueError(f"`rows` is for finite lists: give 1 … {LONGEST}, without `endless`")
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
                f"{found.family.name} has no template {_show(self.template)}: try {known}"
            )
        object.__setattr__(self, "found", found)

    @property
    def choice(self) -> Choice:
        """The instances that are offered."""
        return Choice(self.found, self.split, self.rows, self.endless)

    def changed(self, given: Mapping[str, Any]) -> Options:
        """Return these options with others in their place; names that are none are refused."""
        unknown = sorted(given.keys() - NAMES)
        if unknown:
            raise ValueError(f"no option {_show(unknown[0])}: there are {', '.join(sorted(NAMES))}")
        new = dict(given)
        if "parameters" in new:
            new["parameters"] = _record(new["parameters"])
        if _whole_path(new.get("suite", self.suite)) != self.suite:
            # A template and parameters fit one suite; they are no defaults for another.
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
}
_WANTED: Mapping[tuple[type, ...], str] = {
    _TEXT: "a text",
    _TEXT_OR_NONE: "a text or null",
    (bool,): "true or false",
    _WHOLE: "a whole number or null",
    (Record,): "an object of named values",
}

NAMES = frozenset(option.name for option in fields(Options) if option.init)
"""The names of the options."""


def _record(value: Any) -> Any:
    """Return parameters frozen; what is no mapping is left for the check to refuse."""
    return freeze(value) if isinstance(value, Mapping) else value


def _whole_path(path: Any) -> Any:
    """Return `family/suite`, the first suite if a family stands alone; what is no text stays."""
    family = installed_families().get(path) if isinstance(path, str) else None
    return path if family is None else f"{path}/{next(iter(family.suites))}"


def _show(value: object) -> str:
    """Return a value as an error may quote it: short."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"
