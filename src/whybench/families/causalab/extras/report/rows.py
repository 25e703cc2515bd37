"""The runs of CausaLab with their names in the report, and the published figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from whybench.causal.canonical import canonical_json
from whybench.report import entries as naming
from whybench.report.entries import PUBLISHED, Entry
from whybench.report.forms import Row
from whybench.report.published.figures import Cell
from whybench.report.published.row_match import matches
from whybench.report.published.setup_differences import beside, differences_in_words
from whybench.report.view import View

ASIDE = ("regime", "evidence", "yoke")
"""Arguments that have their own columns."""

ON_WHAT = ("regime",)
"""Parameters that select the instances of a run, not the way of playing."""


def every(view: View) -> list[Entry]:
    """Return all runs that have episodes."""
    return naming.entries((run for run in view.runs if not run.frame.empty), ASIDE)


def entries(view: View, *, evidence: str | None = "own") -> list[Entry]:
    """Return the runs that were scored, models before reference agents; None: any evidence."""
    return [
        entry
        for entry in every(view)
        if evidence in (None, entry.run.evidence) and entry.run.frame["accuracy"].notna().any()
    ]


def regime_of(entry: Entry) -> str:
    """Return the regime of a run; empty if it is the suite's own."""
    return str(entry.run.parameters.get("regime") or "")


def setting_of(entry: Entry) -> tuple[str, str, str, str]:
    """Return the arguments that two compared runs must share: all except the regime."""
    run = entry.run
    parameters = {name: value for name, value in run.parameters.items() if name not in ON_WHAT}
    return entry.system, run.profile, run.seed, canonical_json(parameters)


def row_of(entry: Entry) -> str:
    """Return the name of a run among runs of several suites."""
    return " · ".join(filter(None, (entry.system, entry.suite, regime_of(entry))))


def suites(listed: Iterable[Entry], wanted: Iterable[str]) -> dict[str, list[Entry]]:
    """Return the entries of some suites in their own regime, by suite."""
    known = [entry for entry in listed if not regime_of(entry)]
    found = {name: [entry for entry in known if entry.suite == name] for name in wanted}
    return {name: those for name, those in found.items() if those}


def own_row(view: View, entry: Entry, metrics: Sequence[str], where: Any = None) -> Row:
    """Return a run's means with their bounds, of all its rows or some."""
    row: Row = {"system": entry.system, "suite": entry.suite, "origin": entry.origin}
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
) -> list[Row]:
    """Return the published systems of a suite: values to draw, and the printed figures.

    Only rows comparable with one of the entries; None for all rows.
    """
    rows: dict[tuple[str, str], Row] = {}
    runs = None if like is None else [entry.run for entry in like]
    for cell in beside(view, f"causalab/{suite}", runs, parts=parts, aside=ON_WHAT):
        metric = cell.measure.metric
        if not cell.system or metric not in metrics:
            continue
        key = (cell.system, cell.condition if parts else "")
        row = rows.setdefault(
            key,
            {"system": f"{cell.system} (published)", "suite": suite, "origin": PUBLISHED,
             "regime": key[1], **dict.fromkeys(metrics, math.nan), "n": cell.n,
             "published": True},
        )  # fmt: skip
        drawn = cell.comparable
        row |= {metric: math.nan if drawn is None else drawn, f"{metric} printed": _shown(cell)}
    return list(rows.values())


def _shown(cell: Cell) -> str:
    """Return a published figure as printed, with its unit if that is per cent."""
    if not cell.printed:
        return "suppressed" if cell.suppressed else "undefined"
    return f"{cell.printed} %" if cell.unit == "percent" else cell.printed


def paper_differences(listed: Iterable[Entry]) -> str:
    """Say which systems ran with other arguments than the paper's, and which arguments."""
    return differences_in_words(((entry.system, entry.run) for entry in listed), ON_WHAT)


def framed(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a frame; the number of episodes is whole or missing."""
    frame = pd.DataFrame(list(rows)).drop(columns=["regime"], errors="ignore")
    return frame.astype({"n": "Int64"})


def caveats(wanted: Iterable[str]) -> str:
    """Return caveats about comparisons with the published rows of some suites."""
    found = dict.fromkeys(
        counterpart.caveat
        for suite in wanted
        for counterpart, _ in matches(f"causalab/{suite}", {})
        if counterpart.caveat
    )
    return "".join(f" {text[0].upper()}{text[1:]}." for text in found)
