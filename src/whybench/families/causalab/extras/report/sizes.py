"""Prediction and mechanism by graph size, and the gap between two systems."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causalab.extras.report.rows import (
    entries,
    framed,
    own_row,
    paper_differences,
    published_rows,
    setting_of,
    suites,
)
from whybench.report.charts import heat
from whybench.report.decisions.difference import difference
from whybench.report.entries import Entry, told
from whybench.report.forms import FigureForm, Row, Shown
from whybench.report.view import View

MAIN = tuple(f"main_{k}" for k in (3, 4, 5, 6, 7))
TABLED = (
    "accuracy", "root_f1", "edge_precision", "edge_recall", "edge_f1", "freq_edge_f1",
    "freq_weight_f1", "shd", "imec",
)  # fmt: skip
GAPS = ("accuracy", "root_f1", "edge_f1", "freq_edge_f1", "freq_weight_f1")
SHADES = ("#e8934d", "#f4f6f8", "#5aa9d6")
"""Colours from the second system's advantage to the first's; light, for dark text."""
MOST_PAIRS = 3
"""Maximum number of compared pairs of systems."""


def _played(view: View) -> list[Entry]:
    return [entry for listed in suites(entries(view), MAIN).values() for entry in listed]


def by_size(view: View, metric: str) -> Shown:
    """Return a metric by size, with the published systems."""
    played = _played(view)
    rows = [own_row(view, entry, [metric]) for entry in played]
    rows = [row for row in rows if not math.isnan(row[metric])]
    if not rows:
        return Shown(pd.DataFrame())
    rows += [row for suite in MAIN for row in published_rows(view, suite, [metric], played)]
    frame = framed(rows)
    frame["nodes"] = [int(suite.removeprefix("main_")) for suite in frame["suite"]]
    return Shown(frame, {"differences": paper_differences(played)})


def all_metrics(view: View) -> Shown:
    """Return every metric by size, as the paper lists them."""
    rows: list[Row] = []
    played = _played(view)
    for suite in MAIN if played else ():
        for entry in (entry for entry in played if entry.suite == suite):
            values = {metric: view.estimate(entry.run, metric) for metric in TABLED}
            cells = {m: told(v) for m, v in values.items()}
            rows.append({"suite": suite, "system": entry.system, "origin": entry.origin,
                         "n": values["accuracy"].n, **cells})  # fmt: skip
        for row in published_rows(view, suite, TABLED, played):
            kept = {metric: row.get(f"{metric} printed", "–") for metric in TABLED}
            rows.append({key: row[key] for key in ("suite", "system", "origin", "n")} | kept)
    return Shown(pd.DataFrame(rows), {"differences": paper_differences(played)})


def absent_sizes(view: View) -> list[Row]:
    """Return one row with the sizes that have no run, if others have one."""
    found = {entry.suite for entry in _played(view)}
    absent = [suite for suite in MAIN if suite not in found]
    return [{"absent": ", ".join(absent), "first": absent[0]}] if found and absent else []


# Gaps.


def gaps(view: View) -> Iterator[Shown]:
    """Compare pairs of systems, models before reference agents."""
    by_system: dict[tuple[str, ...], dict[str, Entry]] = {}
    for entry in _played(view):
        by_system.setdefault(setting_of(entry), {})[entry.suite] = entry
    models = [one for one in by_system.values() if not next(iter(one.values())).run.reference]
    pool = models if len(models) > 1 else list(by_system.values())
    drawn = 0
    for first, second in combinations(sorted(pool, key=strength, reverse=True), 2):
        shared = [suite for suite in MAIN if suite in first and suite in second]
        rows = [row for suite in shared for row in _differences(first[suite], second[suite])]
        if rows and drawn < MOST_PAIRS:
            drawn += 1
            yield Shown(pd.DataFrame(rows), {"place": drawn, **rows[0]})


def strength(one: dict[str, Entry]) -> float:
    """Return a system's mean accuracy over the suites on which it has one."""
    values = [float(entry.run.frame["accuracy"].mean()) for entry in one.values()]
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else 0.0


def _differences(first: Entry, second: Entry) -> Iterator[Row]:
    for metric in GAPS:
        found = difference(first.run.frame, second.run.frame, metric, rate=metric == "accuracy")
        if found.n:
            yield {
                "first": first.system, "second": second.system,
                "nodes": first.suite.removeprefix("main_"), "metric": metric,
                "gap": found.estimate, "low": found.low, "high": found.high, "p": found.p_value,
                "n": found.n,
            }  # fmt: skip


def published_gap(view: View) -> Shown | None:
    """Return the paper's gap between the two systems that it ran in all regimes."""
    rows: list[Row] = []
    both = {row["system"] for row in published_rows(view, "scaling_4", GAPS, parts=True)}
    for suite in MAIN if _played(view) else ():
        ranked = [row for row in published_rows(view, suite, GAPS) if row["system"] in both]
        ranked.sort(key=lambda row: -row["accuracy"])
        first, second = ranked[0], ranked[-1]
        rows += [
            {
                "first": first["system"], "second": second["system"],
                "nodes": suite.removeprefix("main_"), "metric": metric,
                "gap": first[metric] - second[metric],
                "first printed": first.get(f"{metric} printed", ""),
                "second printed": second.get(f"{metric} printed", ""),
            }
            for metric in GAPS
            if len(ranked) > 1
        ]  # fmt: skip
    frame = pd.DataFrame(rows)
    return None if frame.empty or frame["first"].nunique() > 1 else Shown(frame, rows[0])


def gap_cells(form: FigureForm, shown: Shown) -> Any:
    """Draw gaps: blue if the first is ahead, orange if the second is, pale otherwise."""
    chart = heat(shown.frame, x="nodes", y="metric", value="gap", y_sort=GAPS, format="+.2f")
    cells, words = chart.layer
    cells.encoding.color.scale = alt.Scale(domain=[-1, 0, 1], range=list(SHADES))
    words.encoding.color = alt.value("#12202c")
    for layer in chart.layer:
        layer.encoding.x.axis = alt.Axis(labelAngle=0)
        layer.encoding.x.title = form.x_title
    return chart
