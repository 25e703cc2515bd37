"""ReplaySCM's runs as the paper's rows: who tried which pool, with what is published beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from whybench.core.canonical import canonical_json
from whybench.episode.family import PUBLIC_SALT
from whybench.families.replayscm.analyses.attempt import Attempt
from whybench.families.replayscm.analyses.conditional import SUPPRESSED, UNDEFINED
from whybench.families.replayscm.params import POOLS
from whybench.report.frames import salt_tag
from whybench.report.published import Cell
from whybench.report.runs import REFERENCE, Run
from whybench.report.section import Remark
from whybench.report.view import View
from whybench.stats.interval import Interval

FAMILY = "replayscm"
OURS, AGENT, PUBLISHED = "this report", "reference agent", "published, other instances"
"""Where a row comes from."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One run under the name that it has in this family's tables."""

    run: Run
    system: str
    pool: str
    """The suite, such as `ord_match`."""
    attempts: tuple[Attempt, ...]

    @property
    def origin(self) -> str:
        """Where its rows come from."""
        return AGENT if self.run.reference else OURS


def entries(view: View) -> tuple[Entry, ...]:
    """Return the family's runs as entries: models first, each with its pools in their order."""
    named = _named(view.runs)
    places = {name: place for place, name in reversed(list(enumerate(named)))}
    pools = list(POOLS)
    found = [
        Entry(run, name, pool := run.suite.partition("/")[2], _attempts(view, run, name, pool))
        for run, name in zip(view.runs, named, strict=True)
        if run.suite.partition("/")[2] in POOLS and not run.frame.empty
    ]
    return tuple(
        sorted(found, key=lambda e: (e.run.reference, places[e.system], pools.index(e.pool)))
    )


def _named(runs: Sequence[Run]) -> list[str]:
    """Name runs so that no two of one pool share a name: with what sets their problems apart."""
    settings = [
        {
            "profile": run.profile,
            "salt": salt_tag(run.salt),
            "knobs": canonical_json({name: _bare(name, run.knobs[name]) for name in run.knobs}),
        }
        for run in runs
    ]
    found = []
    for run, own in zip(runs, settings, strict=True):
        alike = [
            (other.suite, theirs)
            for other, theirs in zip(runs, settings, strict=True)
            if other.system == run.system
        ]
        told = [
            f"{key} {value}"
            for key, value in own.items()
            if any(
                first == second and one[key] != two[key]
                for first, one in alike
                for second, two in alike
            )
        ]
        name = run.system or run.model
        if run.reference:
            name = f"{name.removeprefix(REFERENCE)} (reference agent)"
        found.append(" · ".join([name, *told]))
    return found


def _bare(knob: str, value: Any) -> Any:
    """Return a knob's value as it may be shown: of a folder only its name."""
    return Path(str(value)).name if knob == "data" else value


def with_traits(view: View, run: Run) -> pd.DataFrame:
    """Return a run's rows with the traits of their problems, where these need not be made anew.

    Records of the public salt ship; to make those of another takes about a second each.
    """
    return view.joined(run) if run.salt == PUBLIC_SALT else run.frame


def _attempts(view: View, run: Run, system: str, pool: str) -> tuple[Attempt, ...]:
    """Return a run's rows as the analyses take them."""
    frame = with_traits(view, run)
    metrics = [metric.name for metric in run.family.metrics if metric.name in frame.columns]
    if "bits" in frame.columns:
        metrics.append("bits")
    rows = []
    for row in frame.to_dict("records"):
        values: dict[str, float | None] = {name: _number(row[name]) for name in metrics}
        if POOLS[pool].disclosure == "roots":
            # Logs leave these two out: replay scores mechanisms whatever the roots.
            values["mechanism_train_exact"] = values.get("train_exact")
            values["mechanism_heldout_exact"] = values.get("heldout_exact")
        labels = row.get("labels")
        cluster = str(row["cluster"])
        rows.append(
            Attempt(system, pool, cluster, values, labels if isinstance(labels, Mapping) else {})
        )
    return tuple(rows)


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


def attempts(listed: Iterable[Entry]) -> list[Attempt]:
    """Return the attempts of all entries."""
    return [attempt for entry in listed for attempt in entry.attempts]


def by_pool(listed: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """Return the entries of each pool, pools in their order."""
    kept = list(listed)
    return [
        (pool, own) for pool in POOLS if (own := [entry for entry in kept if entry.pool == pool])
    ]


def chosen(listed: Iterable[Entry], pools: Iterable[str]) -> list[Entry]:
    """Return the entries of some pools, in the order of the pools."""
    wanted = list(pools)
    return sorted(
        (entry for entry in listed if entry.pool in wanted), key=lambda e: wanted.index(e.pool)
    )


def drawn(view: View, listed: Iterable[Entry]) -> list[Entry]:
    """Return the entries for a picture: without floors and the oracle, if anything is left."""
    aside = {f"{REFERENCE}{agent}" for agent in (*view.family.floor_ceiling, "oracle")}
    kept = list(listed)
    return [entry for entry in kept if entry.run.model not in aside] or kept


def origins(listed: Iterable[Entry]) -> dict[str, str]:
    """Return where the rows of each system come from."""
    return {entry.system: entry.origin for entry in listed}


def with_own_evidence(listed: Iterable[Entry]) -> list[Entry]:
    """Return the entries in which a system worked from its own experiments, or needed none."""
    return [entry for entry in listed if entry.run.evidence == "own"]


# Published figures.


def printed(cell: Cell | None) -> str:
    """Return a published figure just as the paper shows it; empty if it has none."""
    if cell is None:
        return ""
    if cell.suppressed:
        return SUPPRESSED
    return UNDEFINED if cell.undefined else cell.printed


# Words and rows.


def told(interval: Interval, digits: int = 3, *, share: bool = True) -> str:
    """Return an estimate with its bounds; those of a share are kept between 0 and 1.

    >>> told(Interval(0.25, 0.75, 0.5, 10, 10, False))
    '0.500 [0.250, 0.750]'
    """
    if math.isnan(interval.estimate):
        return UNDEFINED
    estimate = f"{interval.estimate:.{digits}f}"
    if math.isnan(interval.low):
        return estimate
    low = max(0.0, interval.low) if share else interval.low
    high = min(1.0, interval.high) if share else interval.high
    return f"{estimate} [{low:.{digits}f}, {high:.{digits}f}]"


def absent(what: str, suites: Sequence[str], extra: str = "") -> Remark:
    """Say which run would give what cannot be shown."""
    task = f"{FAMILY}_lab" if suites[0] == "lab" else f"{FAMILY} -T suite={suites[0]}"
    command = f"inspect eval whybench/{task}{extra} --model MODEL"
    others = f" (and the same for {', '.join(suites[1:])})" if len(suites) > 1 else ""
    return Remark(f"{what} is not shown, for want of a run: {command}{others}")
