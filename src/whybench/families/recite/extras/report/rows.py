"""Rows of ReCITE's tables and figures: one estimate of one run, or one published cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from whybench.report.entries import Entry
from whybench.report.forms import Row
from whybench.report.published.row_match import matching, rules
from whybench.report.runs import Run
from whybench.report.view import View

SCORE = "edge_f1"
"""The family's headline metric, by which documents are sorted and compared."""

STANDARD = "standard"
"""The published suite whose texts the paper's analyses are about."""

OTHER_SCORE = (
    " Published figures (grey, open markers) are the judge's F1, which is another score: compare "
    "how they rise and fall, not their height. Runs on generated documents also have other texts."
)


def series(runs: Iterable[Run]) -> list[Entry]:
    """Name runs for a figure: the system, and its suite if suites differ."""
    listed = list(runs)
    suites = {(run.suite, run.profile) for run in listed}
    named = [(_name(run, len(suites) > 1), run) for run in listed]
    often = Counter(name for name, _ in named)
    seen: Counter[str] = Counter()
    found = []
    for name, run in named:
        seen[name] += 1
        found.append(Entry(run, f"{name} · run {seen[name]}" if often[name] > 1 else name))
    return found


def models(view: View) -> list[Entry]:
    """Name the runs of models alone."""
    return series(run for run in view.runs if not run.reference)


def systems(runs: Iterable[Run]) -> list[Entry]:
    """Name the runs of models, or of reference agents if no model was run."""
    listed = list(runs)
    return series([run for run in listed if not run.reference] or listed)


def _name(run: Run, with_suite: bool) -> str:
    texts = ", profile published" if run.profile == "published" else ""
    texts = ", published texts" if run.parameters.get("data") else texts
    where = f" · {run.suite.partition('/')[2]}{texts}" if with_suite else ""
    return f"{run.system}{where}"


def estimated(
    view: View, entry: Entry, metric: str, where: pd.Series | None = None, **more: Any
) -> list[Row]:
    """Return a row with a metric's mean and interval; none where nothing is scored."""
    run = entry.run
    if metric not in run.frame:
        return []
    found = view.estimate(run, metric, where)
    rows = run.frame if where is None else run.frame[where.to_numpy(bool)]
    scored = rows[rows[metric].notna()]
    row = {
        "system": entry.system, **more, "metric": metric, "value": found.estimate,
        "low": found.low, "high": found.high,
        "documents": int(scored["instance"].nunique()),
        "graphs": int(scored["cluster"].nunique()), "published": False,
    }  # fmt: skip
    return [row] if found.n else []


def by_value(view: View, entry: Entry, covariate: str, kinds: dict[Any, Any], by: str) -> list[Row]:
    """Return a row for each kind of a covariate, given as value → its name."""
    values = view.joined(entry.run).get(covariate, pd.Series(dtype=object))
    return [
        row
        for value, name in kinds.items()
        if len(values)
        for row in estimated(view, entry, SCORE, values == value, **{by: name})
    ]


def binned(
    view: View, entry: Entry, covariate: str, cuts: Sequence[float], names: Sequence[str], by: str
) -> list[Row]:
    """Return a row for each bin of a covariate between cuts; a value on a cut belongs above."""
    values = view.joined(entry.run).get(covariate, pd.Series(dtype=float))
    if not values.notna().any():
        return []
    numbers = pd.to_numeric(values, errors="coerce")
    edges = [-math.inf, *cuts, math.inf]
    places = pd.cut(numbers, edges, right=False, labels=list(names))
    bins = [estimated(view, entry, SCORE, places == name, **{by: name}) for name in names]
    return [row for rows in bins for row in rows]


# Published figures are shown only beside runs on the published texts (`mapping.json`).


def opposite(runs: Iterable[Run]) -> frozenset[str]:
    """Return the published suites that belong beside at least one of the runs."""
    return frozenset(suite for run in runs for suite in _opposite(run))


def _opposite(run: Run) -> list[str]:
    how = rules("recite")
    named = {*how.defaults.asdict(), *how.free, *how.told, *run.family.parameters}
    given = {**run.args.get("parameters", {}), **run.args, **run.parameters, "profile": run.profile}
    try:
        known = {name: value for name, value in given.items() if name in named}
        return [suite for suite, _ in matching(run.suite, known)]
    except ValueError:
        return []  # settings of another version: no published suite is known to match


def beside(view: View, drawn: Iterable[Entry], suite: str, metric: str, **more: Any) -> list[Row]:
    """Return a published suite's cells as rows if it belongs beside one of the runs drawn."""
    if suite not in opposite(entry.run for entry in drawn):
        return []
    return [
        {
            "system": f"{cell.system} (published)", **more,
            "metric": f"Table {cell.table}, {cell.metric}", "value": cell.value, "low": math.nan,
            "high": math.nan, "documents": cell.n, "published": True,
        }
        for cell in view.published.cells("recite", suite=suite, metric=metric)
        if cell.value is not None
    ]  # fmt: skip
