"""CausaLab's runs under the names of this section, and the published figures beside them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from whybench.core.canonical import canonical_json
from whybench.report.frames import salt_tag
from whybench.report.mapping import matches
from whybench.report.published import Cell, Published
from whybench.report.runs import REFERENCE, Run
from whybench.report.section import Remark
from whybench.report.unlike import manner_of, unlike_in_words
from whybench.report.view import View
from whybench.stats.interval import Interval

FAMILY = "causalab"
OURS, AGENT, PUBLISHED = "this report", "reference agent", "published, other instances"
"""Where a row comes from."""

ASIDE = ("regime=", "evidence=", "yoke=")
"""Parts of a system's name that are shown in columns of their own."""


ON_WHAT = ("regime",)
"""Knobs that say on what a run was played, not how."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One run under the name that it has in this section."""

    run: Run
    system: str
    suite: str
    """Without the family."""

    @property
    def origin(self) -> str:
        """Where its rows come from."""
        return AGENT if self.run.reference else OURS

    @property
    def regime(self) -> str:
        """The regime that was asked for; empty: the suite's own."""
        return str(self.run.knobs.get("regime") or "")

    @property
    def setting(self) -> tuple[str, str, str, str]:
        """What two suites must have been played with to be compared: all but the regime."""
        knobs = {name: value for name, value in self.run.knobs.items() if name != "regime"}
        return self.system, self.run.profile, self.run.salt, canonical_json(knobs)

    @property
    def manner(self) -> str:
        """How it was played, as the mapping to published rows asks for it; in canonical JSON.

        Without the regime, which says on what.
        """
        return canonical_json(manner_of(self.run, ON_WHAT))

    @property
    def row(self) -> str:
        """Its name among runs of several suites."""
        return " · ".join(filter(None, (self.system, self.suite, self.regime)))


def entries(view: View, *, evidence: str | None = "own") -> list[Entry]:
    """Return the runs that were scored, models before reference agents; None: any evidence."""
    found = [
        entry
        for entry in _every(view)
        if evidence in (None, entry.run.evidence) and entry.run.frame["accuracy"].notna().any()
    ]
    return sorted(found, key=lambda entry: entry.run.reference)


def unscored(view: View) -> list[Entry]:
    """Return the runs of which no episode was scored."""
    return [entry for entry in _every(view) if entry.run.frame["accuracy"].isna().all()]


def _every(view: View) -> list[Entry]:
    runs = [run for run in view.runs if not run.frame.empty]
    return [
        Entry(run, name, run.suite.partition("/")[2])
        for run, name in zip(runs, _named(runs), strict=True)
    ]


def _named(runs: Sequence[Run]) -> list[str]:
    """Name runs; profile and salt are told where a system has several."""
    bare = [_bare(run) for run in runs]
    found = []
    for run, name in zip(runs, bare, strict=True):
        alike = [other for other, theirs in zip(runs, bare, strict=True) if theirs == name]
        told = [f"profile {run.profile}"] if len({r.profile for r in alike}) > 1 else []
        told += [f"salt {salt_tag(run.salt)}"] if len({r.salt for r in alike}) > 1 else []
        found.append(" · ".join([name, *told]))
    return found


def _bare(run: Run) -> str:
    parts = [part for part in run.system.split(" · ") if not part.startswith(ASIDE)]
    name = " · ".join(parts) or run.model
    return f"{name.removeprefix(REFERENCE)} (reference agent)" if run.reference else name


def suites(listed: Iterable[Entry], wanted: Iterable[str]) -> dict[str, list[Entry]]:
    """Return the entries of some suites in their own regime, by suite."""
    every = list(listed)
    found = {name: [e for e in every if e.suite == name and not e.regime] for name in wanted}
    return {name: those for name, those in found.items() if those}


# Rows of tables and pictures.


def own_row(view: View, entry: Entry, metrics: Sequence[str], where: Any = None) -> dict[str, Any]:
    """Return a run's means with their bounds, of all its rows or some."""
    row: dict[str, Any] = {"system": entry.system, "suite": entry.suite, "origin": entry.origin}
    for metric in metrics:
        found = view.estimate(entry.run, metric, where)
        row |= {metric: found.estimate, f"{metric} low": found.low, f"{metric} high": found.high}
        row["n"] = max(int(row.get("n", 0)), found.n)
    return row | {"published": False}


def published_rows(
    view: View,
    suite: str,
    metrics: Sequence[str],
    like: Iterable[Entry] | None = None,
    *,
    parts: bool = False,
) -> list[dict[str, Any]]:
    """Return the published systems of a suite: values to be drawn, and what the paper prints.

    Only those that belong beside a run played like one of the entries; None: all.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    manners = ["{}"] if like is None else list(dict.fromkeys(entry.manner for entry in like))
    for cell in (c for manner in manners for c in _beside(view.published, suite, manner, parts)):
        metric = cell.measure.metric
        if not cell.system or metric not in metrics:
            continue
        key = (cell.system, cell.condition if parts else "")
        row = rows.setdefault(
            key,
            {
                "system": f"{cell.system} (published)",
                "suite": suite,
                "origin": PUBLISHED,
                "regime": key[1],
                **dict.fromkeys(metrics, math.nan),
                "n": cell.n,
                "published": True,
            },
        )
        drawn = cell.comparable
        row |= {metric: math.nan if drawn is None else drawn, f"{metric} printed": shown(cell)}
    return list(rows.values())


@cache
def _beside(published: Published, suite: str, manner: str, parts: bool) -> tuple[Cell, ...]:
    """Return the cells of a suite; they are asked for again and again, and never change."""
    try:
        return published.beside(f"{FAMILY}/{suite}", json.loads(manner), parts=parts)
    except ValueError:
        return ()  # knobs of another version, or of another suite


def unlike(listed: Iterable[Entry]) -> str:
    """Say which systems were not asked as in the paper, and what was otherwise."""
    return unlike_in_words(((entry.system, entry.run) for entry in listed), ON_WHAT)


def published_range(frame: pd.DataFrame, metric: str) -> str:
    """Say how far the published systems of a frame reach."""
    theirs = frame[frame["published"]].dropna(subset=[metric])
    if theirs.empty:
        return ""
    count = theirs["system"].nunique()
    low, high = theirs[metric].min(), theirs[metric].max()
    return f"{low:.2f} to {high:.2f} ({count} published system{'s' if count > 1 else ''})"


def shown(cell: Cell) -> str:
    """Return a published figure as it is printed, with its unit where that is per cent."""
    if not cell.printed:
        return "suppressed" if cell.suppressed else "undefined"
    return f"{cell.printed} %" if cell.unit == "percent" else cell.printed


def framed(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame; the number of episodes is whole, or not known."""
    frame = pd.DataFrame(list(rows)).drop(columns=["regime"], errors="ignore")
    return frame.astype({"n": "Int64"})


def caveats(wanted: Iterable[str]) -> str:
    """Return what a reader must know who compares with the published rows of some suites."""
    found = dict.fromkeys(
        counterpart.caveat
        for suite in wanted
        for counterpart, _ in matches(f"{FAMILY}/{suite}", {})
        if counterpart.caveat
    )
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in found)


def told(found: Interval) -> str:
    """Return an estimate with its bounds for a cell.

    >>> told(Interval(0.25, 0.75, 0.5, 10, 10, False))
    '0.500 [0.250, 0.750]'
    """
    if math.isnan(found.estimate):
        return "–"
    if math.isnan(found.low):
        return f"{found.estimate:.3f}"
    return f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]"


def figure_text(value: float) -> str:
    """Return a figure for a sentence."""
    return "unknown" if math.isnan(value) else f"{value:.2f}"


def labels_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row's labels, whatever is there."""
    found = row.get("labels")
    return found if isinstance(found, Mapping) else {}


def regimes_of(frame: pd.DataFrame) -> pd.Series:
    """Return the regime of each row of a run on a suite that has several."""
    found = [str(labels_of(row).get("regime") or "") for row in frame.to_dict("records")]
    return pd.Series(found, index=frame.index, dtype=str)


def command(what: str, suite: str, more: str = "") -> Remark:
    """Say which run would give what cannot be shown."""
    line = f"inspect eval whybench/{FAMILY} -T suite={suite}{more} --model MODEL"
    return Remark(f"{what}: no run here gives it. Command: {line}")
