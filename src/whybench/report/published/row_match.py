"""Match published rows with our runs and metrics, as `mapping.json` declares.

A paper's suite and condition correspond to a suite of ours with task arguments, or to a reason why
no run of ours has such a figure. Each family lists its arguments by kind:

- `free`: never matters (seed, schema …).
- `told`: may differ, and the report then states the difference (profile, template …).
- `needed`: must be given, with any value.
- All other arguments must be equal.
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
"""Parameters that name or select files; they are compared, but no suite is built with them."""


@dataclass(frozen=True, slots=True)
class Where:
    """The part of a run that a published row covers, by a covariate of its instances."""

    covariate: str
    equals: Any = None
    low: float | None = None
    """Inclusive."""
    high: float | None = None
    """Exclusive."""
    contrast: str = ""
    """Set if the row is the difference of two parts; names the two parts."""

    def mask(self, frame: pd.DataFrame) -> pd.Series[bool]:
        """Return which rows of a frame belong to the part; covariates must be columns."""
        if self.contrast:
            raise ValueError(f"A difference ({self.contrast}) is not a part of a run.")
        if self.covariate not in frame:
            raise ValueError(f"There is no column {self.covariate!r}. Join the covariates first.")
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
    """A run of ours (`inspect eval TASK -T suite=… -T …`), or a part of it."""

    task: str
    suite: str
    """`family/suite`."""
    args: Record = EMPTY
    """Task arguments that differ from the task's defaults."""
    where: Where | None = None
    differs: tuple[str, ...] = ()
    """Arguments in which this run differs from the paper's."""


@dataclass(frozen=True, slots=True)
class Counterpart:
    """Our runs that correspond to a suite and condition of a paper."""

    family: str
    suite: str
    condition: str
    runs: tuple[OwnRun, ...] = ()
    """Alternatives, the closest first."""
    none: str = ""
    """Reason why there is no run; empty if there is one."""
    caveat: str = ""
    """What a reader must know to compare."""
    metrics: Record = EMPTY
    """Published metric → ours, if it differs from the rest of the family."""


@dataclass(frozen=True, slots=True)
class Measure:
    """Our metric for a published metric."""

    metric: str = ""
    """Column of a run's frame; columns of other scorers start with their name and a dot."""
    none: str = ""
    """Reason why there is none; empty if there is one."""
    of: int | None = None
    """Number of episodes, if the paper counts episodes and ours is a share."""
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules that match runs of a family with published rows."""

    task: str
    defaults: Record
    """Task argument → its default."""
    free: tuple[str, ...]
    told: tuple[str, ...]
    needed: tuple[str, ...]
    counterparts: tuple[Counterpart, ...]
    measures: Record
    systems: Record
    """Name of a system in a table → its common name, if tables differ."""


def runs_of(family: str, suite: str, condition: str) -> Counterpart:
    """Return our runs that correspond to a suite and condition of a paper.

    >>> runs_of("causalab", "scaling_6node", "5o20i").runs[1].args["regime"]
    '5o20i'
    """
    found = _by_pair(family).get((suite, condition))
    if found is None:
        raise ValueError(f"Family {family} has no published rows of {suite!r}, {condition!r}.")
    return found


@cache
def measure_of(family: str, suite: str, condition: str, metric: str) -> Measure:
    """Return our metric for a published metric.

    >>> measure_of("recite", "name_assisted", "", "f1").metric
    'legacy_f1'
    """
    own = runs_of(family, suite, condition).metrics.get(metric)
    if own is not None:
        return Measure(metric=own)
    found = rules(family).measures.get(metric)
    if found is None:
        raise ValueError(f"Family {family} has no published metric {metric!r}.")
    return Measure(**found.asdict())


def matching(
    run_suite: str, args: Mapping[str, Any], *, strict: bool = False
) -> list[tuple[str, str]]:
    """Return the published suites and conditions that correspond to a run of ours.

    `args` are task arguments and parameters of the run; those that are absent have their defaults.
    Unless `strict` is set, a run can differ in the `told` arguments (see `differences`).

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
    """Return the same as values: the counterpart and which of its runs matched."""
    family = run_suite.partition("/")[0]
    if family not in _data():
        return []
    given = _settings(family, run_suite, args)
    return [
        (counterpart, own)
        for counterpart in rules(family).counterparts
        for own in counterpart.runs
        if own.suite == run_suite
        and not (strict and own.differs)
        and not _differing(own, given, strict=strict)
    ]


def differences(own: OwnRun, args: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the arguments, except free ones, in which a run differs from a published row."""
    given = _settings(own.suite.partition("/")[0], own.suite, args)
    return tuple(sorted({*_differing(own, given, strict=True), *own.differs}))


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
    """Return arguments with the task's defaults, and parameters that differ from theirs."""
    flat = {**args.get("parameters", {}), **{k: v for k, v in args.items() if k != "parameters"}}
    how = rules(family)
    of_task = {*how.defaults.asdict(), *how.free, "suite"} - {"max_errors", "data"}
    found = how.defaults.asdict() | {k: v for k, v in flat.items() if k in of_task - {"suite"}}
    parameters = {k: v for k, v in flat.items() if k not in {*of_task, *_UNBUILT}}
    built = load_suite(suite, profile=found["profile"], parameters=parameters)
    found["template"] = found.get("template") or built.family.template_for(found["profile"])
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
        raise ValueError(
            f"Family {family!r} has no published figures. Choose one of: {', '.join(_data())}."
        )
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
            OwnRun(
                task,
                run["suite"],
                freeze(run["args"]),
                _where(run.get("where")),
                tuple(run.get("differs", ())),
            )
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
