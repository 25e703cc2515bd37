"""How prediction and mechanism fare as graphs grow, and where two systems part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import altair as alt
import pandas as pd

from whybench.report.charts import heat, lines
from whybench.report.difference import difference
from whybench.report.families.causalab_rows import (
    Entry,
    command,
    entries,
    framed,
    own_row,
    published_range,
    published_rows,
    suites,
    told,
    unlike,
)
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

MAIN = tuple(f"main_{k}" for k in (3, 4, 5, 6, 7))
DRAWN = {
    "accuracy": "accuracy: the frequency was predicted",
    "edge_f1": "edge F1: the graph was recovered",
    "freq_weight_f1": "F1 of the frequency's coefficients",
    "shd": "wrong edges (SHD)",
}
TABLED = (
    "accuracy", "root_f1", "edge_precision", "edge_recall", "edge_f1", "freq_edge_f1",
    "freq_weight_f1", "shd", "imec",
)  # fmt: skip
GAPS = ("accuracy", "root_f1", "edge_f1", "freq_edge_f1", "freq_weight_f1")
SHADES = ("#e8934d", "#f4f6f8", "#5aa9d6")
"""From the second system's advantage to the first one's; all light enough for dark words."""
MOST_PAIRS = 3
"""Pairs of systems that are compared."""


def sizes(view: View) -> Section:
    """Return metrics by size."""
    found = suites(entries(view), MAIN)
    parts: list[Part] = []
    if found:
        parts += [part for metric in DRAWN if (part := _lines(view, found, metric)) is not None]
        parts.append(_table(view, found))
        parts += _gaps(found)
        published = _published_gap(view)
        parts += [published] if published is not None else []
    missing = [suite for suite in MAIN if suite not in found]
    if missing:
        parts.append(command(f"Graph sizes without a run ({', '.join(missing)})", missing[0]))
    return Section(
        "causalab-sizes",
        "Graph sizes",
        "The main suites: linear worlds of 3 to 7 quantities, two records, and four interventions "
        "for each property.",
        tuple(parts),
    )


def _lines(view: View, found: dict[str, list[Entry]], metric: str) -> Figure | None:
    rows = [own_row(view, entry, [metric]) for suite in found for entry in found[suite]]
    rows = [row for row in rows if not math.isnan(row[metric])]
    if not rows:
        return None
    like = [entry for listed in found.values() for entry in listed]
    rows += [row for suite in MAIN for row in published_rows(view, suite, [metric], like)]
    frame = framed(rows)
    frame["nodes"] = [int(suite.removeprefix("main_")) for suite in frame["suite"]]
    own = frame[~frame["published"]]
    said = "; ".join(
        f"{system}: "
        + ", ".join(f"{row['nodes']} nodes {row[metric]:.2f}" for row in group.to_dict("records"))
        for system, group in own.groupby("system", sort=False)
    )
    theirs = published_range(frame, metric)
    note = "Bars are 95 % intervals, clustered by world; grey and hollow is published."
    if metric == "shd":
        note += " The paper's SHD of the GPT systems seems to leave out 1 to 5 of 50 episodes."
    return Figure(
        f"causalab-size-{metric.replace('_', '-')}",
        f"{DRAWN[metric][0].upper()}{DRAWN[metric][1:]}, by size",
        f"{DRAWN[metric]} over the number of quantities. {said}."
        + (f" Published: {theirs}." if theirs else ""),
        lines(
            frame, x="nodes", y=metric, low=f"{metric} low", high=f"{metric} high",
            x_title="quantities", y_title=DRAWN[metric], x_sort=[3, 4, 5, 6, 7],  # type: ignore[list-item]  # sizes are numbers
            domain=None if metric == "shd" else (0, 1), published="published",
        ),
        frame,
        note + unlike(like),
    )  # fmt: skip


def _table(view: View, found: dict[str, list[Entry]]) -> Table:
    rows: list[dict[str, Any]] = []
    like = [entry for listed in found.values() for entry in listed]
    for suite in MAIN:
        for entry in found.get(suite, ()):
            values = {metric: view.estimate(entry.run, metric) for metric in TABLED}
            rows.append(
                {
                    "suite": suite,
                    "system": entry.system,
                    "origin": entry.origin,
                    "n": values["accuracy"].n,
                    **{metric: told(value) for metric, value in values.items()},
                }
            )
        for row in published_rows(view, suite, TABLED, like):
            kept = {metric: row.get(f"{metric} printed", "–") for metric in TABLED}
            rows.append({key: row[key] for key in ("suite", "system", "origin", "n")} | kept)
    return Table(
        "causalab-main",
        "All metrics by size, as the paper lists them",
        pd.DataFrame(rows),
        "Published figures as printed (accuracy in per cent), on other instances. The paper does "
        "not define its IMEC; ours is the size of the interventional equivalence class."
        + unlike(like),
    )


# Gaps.


def _gaps(found: dict[str, list[Entry]]) -> Iterator[Part]:
    """Compare pairs of systems, models before reference agents."""
    by_system: dict[tuple[str, ...], dict[str, Entry]] = {}
    for suite, listed in found.items():
        for entry in listed:
            by_system.setdefault(entry.setting, {})[suite] = entry
    models = [one for one in by_system.values() if not next(iter(one.values())).run.reference]
    pool = models if len(models) > 1 else list(by_system.values())
    ranked = sorted(pool, key=_strength, reverse=True)
    drawn = 0
    for first, second in combinations(ranked, 2):
        shared = [suite for suite in MAIN if suite in first and suite in second]
        rows = [row for suite in shared for row in _differences(first[suite], second[suite])]
        if rows and drawn < MOST_PAIRS:
            drawn += 1
            yield _gap(rows, drawn)
    if not drawn:
        yield Remark("The gap of two systems needs two of them on the same instances.")


def _strength(one: dict[str, Entry]) -> float:
    values = [float(entry.run.frame["accuracy"].mean()) for entry in one.values()]
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else 0.0


def _differences(first: Entry, second: Entry) -> Iterator[dict[str, Any]]:
    for metric in GAPS:
        found = difference(first.run.frame, second.run.frame, metric, rate=metric == "accuracy")
        if found.n:
            yield {
                "first": first.system,
                "second": second.system,
                "nodes": first.suite.removeprefix("main_"),
                "metric": metric,
                "gap": found.estimate,
                "low": found.low,
                "high": found.high,
                "p": found.p_value,
                "n": found.n,
            }


def _gap(rows: Sequence[dict[str, Any]], place: int) -> Figure:
    frame = pd.DataFrame(rows)
    first, second = frame["first"][0], frame["second"][0]
    return Figure(
        f"causalab-gap-{place}",
        f"{first} minus {second}",
        _said(frame, f"{first} minus {second} on shared instances"),
        _heated(frame),
        frame,
        "Differences of shares on the same instances, paired; intervals and p-values in the table "
        "are for single cells, not corrected for their number.",
    )


def _published_gap(view: View) -> Figure | None:
    """Return the paper's own gap, between the two systems that it also tried in all regimes."""
    rows: list[dict[str, Any]] = []
    both = {row["system"] for row in published_rows(view, "scaling_4", GAPS, parts=True)}
    for suite in MAIN:
        ranked = sorted(
            (row for row in published_rows(view, suite, GAPS) if row["system"] in both),
            key=lambda row: -row["accuracy"],
        )
        if len(ranked) < 2:
            continue
        first, second = ranked[0], ranked[-1]
        rows += [
            {
                "first": first["system"],
                "second": second["system"],
                "nodes": suite.removeprefix("main_"),
                "metric": metric,
                "gap": first[metric] - second[metric],
                "first printed": first.get(f"{metric} printed", ""),
                "second printed": second.get(f"{metric} printed", ""),
            }
            for metric in GAPS
        ]
    frame = pd.DataFrame(rows)
    if frame.empty or frame["first"].nunique() > 1:
        return None
    pair = f"{frame['first'][0]} minus {frame['second'][0]}"
    return Figure(
        "causalab-gap-published", pair, _said(frame, pair), _heated(frame), frame,
        "Differences of the published means, other instances; no intervals are published.",
    )  # fmt: skip


def _heated(frame: pd.DataFrame) -> Any:
    """Draw gaps: blue where the first is ahead, orange where the second is, pale where neither."""
    chart = heat(frame, x="nodes", y="metric", value="gap", y_sort=GAPS, format="+.2f")
    cells, words = chart.layer
    cells.encoding.color.scale = alt.Scale(domain=[-1, 0, 1], range=list(SHADES))
    words.encoding.color = alt.value("#12202c")
    for layer in chart.layer:
        layer.encoding.x.axis = alt.Axis(labelAngle=0)
        layer.encoding.x.title = "quantities"
    return chart


def _said(frame: pd.DataFrame, what: str) -> str:
    cells = "; ".join(
        f"{metric}: "
        + ", ".join(f"{row.nodes} nodes {row.gap:+.2f}" for row in group.itertuples(index=False))
        for metric, group in frame.groupby("metric", sort=False)
    )
    return f"{what}. {cells}."
