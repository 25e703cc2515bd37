"""ReCITE by size: quarters of the graphs, and the gap between the outer ones (Table 5)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from whybench.families.recite.analyses.sizes import quartile_gap
from whybench.report import charts
from whybench.report.families.recite_beside import (
    OTHER_SCORE,
    STANDARD,
    beside,
    not_beside,
    opposite,
)
from whybench.report.families.recite_correlations import correlations
from whybench.report.families.recite_graphs import (
    FEWEST_PARTED,
    ONCE,
    RESAMPLES,
    by_graph,
    column,
    quarter_rows,
    tested,
)
from whybench.report.families.recite_rows import (
    SCORE,
    Row,
    Series,
    framed,
    in_words,
    missing,
    systems,
)
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View

SIZES = {"characters": ("length of the text", "by_quartile_text"),
         "edges": ("arrows", "by_quartile_edges"),
         "nodes": ("nodes", "by_quartile_nodes")}  # fmt: skip
"""Trait → what it is, and the published suite of its quarters."""

QUARTERS = ("smallest quarter", "second", "third", "largest quarter")


def size_section(view: View) -> Section:
    """Show the score by quarters of size, the gap between them, and what goes with the score."""
    drawn = systems(view.runs)
    gaps: list[Row | None] = []
    quarters: list[Row] = []
    for name, run in drawn:
        joined = view.joined(run)
        for trait, (what, _) in SIZES.items():
            graphs = by_graph(joined, SCORE, trait)
            parted = quarter_rows(name, graphs, trait, QUARTERS, "quarter")
            if len(graphs) < FEWEST_PARTED or not parted:
                continue
            quarters += [{"size": what, **row} for row in parted]
            found = quartile_gap(column(graphs, SCORE), column(graphs, trait), what, RESAMPLES)
            gap, outer = found.found, (QUARTERS[0], QUARTERS[-1])
            gaps.append({
                "system": name, "size": what, "metric": SCORE, "value": gap.estimate,
                "low": gap.low, "high": gap.high,
                "documents": sum(row["documents"] for row in parted if row["quarter"] in outer),
                "graphs": sum(gap.n), "permutation p": tested(gap.permutation_p, sum(gap.n)),
                "published": False,
            })  # fmt: skip
    parts: list[Part] = []
    if gaps:
        parts += _gaps(view, drawn, gaps)
        parts += _quarters(framed(quarters))
    else:
        parts.append(
            missing("quarters of size", "", f"at least {FEWEST_PARTED} graphs of different sizes")
        )
    related = correlations(view, drawn)
    if (gaps or related) and STANDARD not in opposite(run for _, run in drawn):
        parts.append(not_beside("Tables 5 and 13"))
    return Section(
        "recite-size", "Size", "Length of the text, arrows and nodes.", (*parts, *related)
    )


def _gaps(view: View, drawn: Sequence[Series], gaps: list[Row | None]) -> list[Part]:
    """Draw the largest quarter minus the smallest, Table 5 beside it where it belongs."""
    for what, suite in SIZES.values():
        gaps += beside(view, drawn, suite, "performance_delta", size=what)
    frame = framed(gaps)
    chart = charts.dots(
        frame, x="value", y="size", low="low", high="high", domain=None, published="published",
        x_title="largest quarter minus smallest", y_sort=[what for what, _ in SIZES.values()],
    )  # fmt: skip
    note = f"Bounds are Welch's. {ONCE}"
    if frame["published"].any():
        note += f" {OTHER_SCORE} Table 5 prints two decimals and does not name its score."
    alt = (
        f"{SCORE} of the largest quarter of the graphs minus the smallest. "
        f"{in_words(frame, 'size')}"
    )
    title = "Large documents against small ones"
    return [Figure("recite-quartiles", title, alt, chart, frame, note)]


def _quarters(means: pd.DataFrame) -> list[Part]:
    """Draw the quarters by nodes, and list all."""
    parts: list[Part] = []
    nodes = means[means["size"] == SIZES["nodes"][0]].reset_index(drop=True)
    if len(nodes):
        chart = charts.lines(
            nodes, x="quarter", y="value", low="low", high="high", x_sort=QUARTERS, y_title=SCORE,
            x_title="by number of nodes",
        )  # fmt: skip
        alt = f"{SCORE} by quarter of the number of nodes. {in_words(nodes, 'quarter')}"
        parts.append(Figure("recite-quarters", "By number of nodes", alt, chart, nodes))
    note = "Each graph counts once. Graphs of one size stay together, so quarters may be unequal."
    table = means.drop(columns="published")
    parts.append(Table("recite-quarter-means", "Every quarter", table, note))
    return parts
