"""Which of our runs and metrics a published row belongs to, read from `mapping.json`.

A paper's suite and condition are matched with a suite of ours and arguments of its task, or with
a reason why no run of ours has such a figure. Arguments come in three kinds, listed by family:
`free` ones never matter (seed, schema …), `told` ones may differ if the reader is told (profile,
wording …), all others must agree. `needed` ones must be given, with whatever value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from whybench.causal.canonical import EMPTY, Record, freeze
from whybench.episode.registry import load_suite

_UNBUILT = ("data", "filter")
"""Parameters that name or choose files: they are compared, but no suite is built with them."""


@dataclass(frozen=True, slots=True)
class Where:
    """The part of a run that a published row is about, by a covariate of its instances."""

    covariate: str
    equals: Any = None
    low: float | None = None
    """Included."""
    high: float | None = None
    """Not included."""
    contrast: str = ""
    """Set where the row is a difference between two parts: what is subtracted from what."""

    def mask(self, frame: pd.DataFrame) -> pd.Series[bool]:
        """Tell which rows of a frame that has covariates as columns belong to the part."""
        if self.contrast:
            raise ValueError(f"a difference ({self.contrast}) is no part of a run")
        if self.covariate not in frame:
            raise ValueError(f"no column {self.covariate!r}: join the covariates first")
        column = frame[self.covariate]
        kept = pd.Series(True, index=frame.index)
        if self.equals is not None:
            kept &= column == self.equals
        if self.low is not None:
            kept &= column >= self.low
        if self.high is not None:
            kept &= column < self.high
        return kept


@dataclass(frozen=True, slots=True)
class OwnRun:
    """A run of ours: `inspect eval TASK -T suite=… -T …`, and perhaps a part of it."""

    task: str
    suite: str
    """`family/suite`."""
    args: Record = EMPTY
    """Task arguments that differ from the task's defaults."""
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Counterpart:
    """What of ours stands opposite a suite and condition of a paper."""

    family: str
    suite: str
    condition: str
    runs: tuple[OwnRun, ...] = ()
    """Any of these will do, the nearest first."""
    none: str = ""
    """Why there is no run; empty if there is one."""
    caveat: str = ""
    """What a reader must know who compares."""
    metrics: Record = EMPTY
    """Published metric → ours, where it is another one than elsewhere in the family."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What a published metric is called here."""

    metric: str = ""
    """A column of a run's frame; those of another scorer have its name before a dot."""
    none: str = ""
    """Why there is none; empty if there is one."""
    of: int | None = None
    """Set where the paper counts episodes, of so many, and ours is a share."""
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """How runs of a family are compared with published rows."""

    task: str
    defaults: Record
    """Task argument → what it is if not given."""
    free: tuple[str, ...]
    told: tuple[str, ...]
    needed: tuple[str, ...]
    counterparts: tuple[Counterpart, ...]
    measures: Record
    systems: Record
    """A table's name of a system → its one name here, where tables spell it differently."""


def runs_of(family: str, suite: str, condition: str) -> Counterpart:
    """Return what of ours stands opposite a suite and condition of a paper.

    >>> runs_of("causalab", "scaling_6node", "5o20i").runs[1].args["regime"]
    '5o20i'
    """
    found = _by_pair(family).get((suite, condition))
    if found is None:
        raise ValueError(f"{family} has no published rows of {suite!r}, {condition!r}")
    return found


@cache
def measure_of(family: str, suite: str, condition: str, metric: str) -> Measure:
    """Return what a published metric is called here.

    >>> measure_of("recite", "name_assisted", "", "f1").metric
    'legacy_f1'
    """
    own = runs_of(family, suite, condition).metrics.get(metric)
    if own is not None:
        return Measure(metric=own)
    found = rules(family).measures.get(metric)
    if found is None:
        raise ValueError(f"{family} has no published metric {metric!r}")
    return Measure(**found.asdict())


def matching(
    run_suite: str, args: Mapping[str, Any], *, strict: bool = False
) -> list[tuple[str, str]]:
    """Return the published suites and conditions that belong beside a run of ours.

    `args` are task arguments and parameters of the run; what is absent is at its default. A run may
    differ in the `told` arguments (see `differences`) unless `strict`.

    >>> matching("causallink/core", {"template": "step_limited"})[0]
    ('core_step_limited', 'best_of_two_templates')
    >>> matching("causallink/core", {"template": "step_limited"}, strict=True)
    []
    """
    found = matches(run_suite, args, strict=strict)
    return [(counterpart.suite, counterpart.condition) for counterpart, _ in found]


def matches(
    run_suite: str, args: Mapping[str, Any], *, strict: bool = False
) -> list[tuple[Counterpart, OwnRun]]:
    """Return the same as values: what stands opposite a run, and as which of its runs."""
    family = run_suite.partition("/")[0]
    if family not in _data():
        return []
    given = _settings(family, run_suite, args)
    return [
        (counterpart, own)
        for counterpart in rules(family).counterparts
        for own in counterpart.runs
        if own.suite == run_suite and not _differing(own, given, strict=strict)
    ]


def differences(own: OwnRun, args: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the arguments in which a run differs from a published row's own, free ones aside."""
    given = _settings(own.suite.partition("/")[0], own.suite, args)
    return _differing(own, given, strict=True)


def _differing(own: OwnRun, given: Mapping[str, Any], *, strict: bool) -> tuple[str, ...]:
    how = rules(own.suite.partition("/")[0])
    aside = set(how.free) if strict else {*how.free, *how.told}
    wanted = _own_settings(own).asdict()
    found = []
    for name in sorted({*given, *wanted} - aside):
        if name in how.needed:
            differs = (given.get(name) is None) != (wanted.get(name) is None)
        else:
            differs = given.get(name) != wanted.get(name)
        if differs:
            found.append(name)
    return tuple(found)


@cache
def _own_settings(own: OwnRun) -> Record:
    return Record(_settings(own.suite.partition("/")[0], own.suite, own.args.asdict()).items())


def _settings(family: str, suite: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the task's defaults, and parameters that are not at theirs."""
    flat = {**args.get("parameters", {}), **{k: v for k, v in args.items() if k != "parameters"}}
    how = rules(family)
    of_task = {*how.defaults.asdict(), *how.free, "suite"} - {"max_errors", "data"}
    found = how.defaults.asdict() | {k: v for k, v in flat.items() if k in of_task - {"suite"}}
    parameters = {k: v for k, v in flat.items() if k not in {*of_task, *_UNBUILT}}
    built = load_suite(suite, profile=found["profile"], parameters=parameters)
    chosen = {name: flat[name] for name in _UNBUILT if flat.get(name) is not None}
    return found | built.parameters.asdict() | chosen


# From the file.


@cache
def _data() -> Any:
    place = files("whybench.report.published") / "figures_of_papers" / "mapping.json"
    return json.loads(place.read_text("utf-8"))


@cache
def rules(family: str) -> Rules:
    """Return a family's part of the mapping."""
    if family not in _data():
        raise ValueError(f"no published figures of {family!r}: try {', '.join(_data())}")
    data = _data()[family]
    without = {name: {"none": group["none"]} for group in data["unmeasured"]
               for name in group["metrics"]}  # fmt: skip
    return Rules(
        task=data["task"],
        defaults=freeze(data["defaults"]),
        free=tuple(data["free"]),
        told=tuple(data["told"]),
        needed=tuple(data["needed"]),
        counterparts=tuple(_counterpart(family, data["task"], row) for row in data["entries"]),
        measures=freeze(data["metrics"] | without),
        systems=freeze(data.get("systems", {})),
    )


@cache
def _by_pair(family: str) -> dict[tuple[str, str], Counterpart]:
    return {(row.suite, row.condition): row for row in rules(family).counterparts}


def _counterpart(family: str, task: str, row: Mapping[str, Any]) -> Counterpart:
    return Counterpart(
        family,
        row["suite"],
        row["condition"],
        tuple(
            OwnRun(task, run["suite"], freeze(run["args"]), _where(run.get("where")))
            for run in row.get("runs", ())
        ),
        row.get("none", ""),
        row.get("caveat", ""),
        freeze(row.get("metrics", {})),
    )


def _where(data: Mapping[str, Any] | None) -> Where | None:
    if data is None:
        return None
    return Where(
        data["covariate"],
        data.get("equals"),
        data.get("from"),
        data.get("below"),
        data.get("contrast", ""),
    )
