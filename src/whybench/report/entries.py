"""Name the runs of a section, and format cells of its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.report.naming import seed_tag
from whybench.report.published.figures import Cell
from whybench.report.runs import Run
from whybench.stats.interval import Interval

OURS, AGENT, PUBLISHED = "this report", "reference agent", "published, other instances"
"""Sources of a row."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A run with its name in a section."""

    run: Run
    system: str

    @property
    def suite(self) -> str:
        """The suite without the family."""
        return self.run.suite.partition("/")[2]

    @property
    def origin(self) -> str:
        """Source of its rows."""
        return AGENT if self.run.reference else OURS


def entries(runs: Iterable[Run], aside: Sequence[str] = ()) -> list[Entry]:
    """Name runs uniquely within a suite; models come before reference agents.

    A name starts with the system. Profile and seed follow if the system has several of them, and
    parameters if it has several on one suite. A number follows if the name is still not unique.
    Arguments in `aside` are left out of names, because the section shows them elsewhere.
    """
    every = sorted(runs, key=lambda run: run.reference)
    bare = [displayed_without(run, aside) for run in every]
    found: list[Entry] = []
    seen: Counter[tuple[object, ...]] = Counter()
    for run, name in zip(every, bare, strict=True):
        alike = [other for other, theirs in zip(every, bare, strict=True) if theirs == name]
        there = {_parameters(other, aside) for other in alike if other.suite == run.suite}
        told = [f"profile {run.profile}"] if len({r.profile for r in alike}) > 1 else []
        told += [f"seed {seed_tag(run.seed)}"] if len({r.seed for r in alike}) > 1 else []
        told += [f"parameters {_parameters(run, aside)}"] if len(there) > 1 else []
        full = " · ".join([name, *told])
        key = (full, run.suite, *(str(run.parameters.get(n, run.args.get(n))) for n in aside))
        seen[key] += 1
        found.append(Entry(run, f"{full} · run {seen[key]}" if seen[key] > 1 else full))
    return found


def displayed_without(run: Run, aside: Sequence[str]) -> str:
    """Return the name of a run's system without some settings."""
    parts = [part for part in run.system.split(" · ") if part.partition("=")[0] not in aside]
    return " · ".join(parts)


def _parameters(run: Run, aside: Sequence[str]) -> str:
    """Return parameters as shown to readers; paths are cut to their names."""
    shown = {n: Path(str(v)).name if n == "data" else v for n, v in run.parameters.items()}
    return canonical_json({name: value for name, value in shown.items() if name not in aside})


# Estimates.


def cells(found: Interval, name: str = "value") -> dict[str, Any]:
    """Return an estimate, its interval and its n as cells of a row."""
    return {name: found.estimate, "low": found.low, "high": found.high, "n": found.n}


def told(found: Interval, digits: int = 3) -> str:
    """Return an estimate with its interval in one cell.

    >>> told(Interval(0.25, 0.75, 0.5, 10, 10, False))
    '0.500 [0.250, 0.750]'
    """
    if math.isnan(found.estimate):
        return "–"
    bounds = f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return f"{found.estimate:.{digits}f}{'' if math.isnan(found.low) else bounds}"


def labels_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row's labels; empty if it has none."""
    found = row.get("labels")
    return found if isinstance(found, Mapping) else {}


# Published figures.


def printed(cell: Cell | None) -> str:
    """Return a published figure exactly as printed; empty without a cell."""
    if cell is None:
        return ""
    return "*" if cell.suppressed else "–" if cell.undefined else cell.printed
