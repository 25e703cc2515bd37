"""ReCITE by size and shape: quarters, density and cycles, beside the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from whybench.families.recite.analyses.bins import edge_names
from whybench.families.recite.analyses.shape import DENSITIES, shape_correlations
from whybench.families.recite.analyses.sizes import quartile_gap, quartiles
from whybench.report import charts
from whybench.report.families.recite_rows import (
    OTHER_SCORE,
    RESAMPLES,
    SCORE,
    Row,
    Series,
    binned_rows,
    by_instance,
    estimated,
    framed,
    in_words,
    missing,
    printed,
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
    """Show the score by quarters of size, and the gap between the outer ones (Table 5)."""
    gaps: list[Row | None] = []
    quarters: list[Row | None] = []
    for one in systems(view.runs):
        joined = view.joined(one[1])
        scores = by_instance(joined, SCORE)
        for trait, (what, _) in SIZES.items():
            sizes = by_instance(joined, trait)
            cuts = sorted(set(quartiles({name: sizes.get(name) for name in scores})))
            if len(cuts) < 3 or len(scores) < 8:
                continue
            parted = binned_rows(view, one, joined[trait], cuts, QUARTERS, "quarter")
            quarters += [row and {"size": what, **row} for row in parted]
            found = quartile_gap(scores, sizes, what, RESAMPLES).found
            gaps.append({
                "system": one[0], "size": what, "metric": SCORE, "value": found.estimate,
                "low": found.low, "high": found.high, "documents": sum(found.n),
                "permutation p": found.permutation_p, "published": False,
            })  # fmt: skip
    if not gaps:
        return Section(
            "recite-size", "Size", parts=(missing("quarters of size", "", "at least 8 samples"),)
        )
    for what, suite in SIZES.values():
        cells = view.published.cells("recite", suite=suite, metric="performance_delta")
        gaps += [printed(cell, size=what) for cell in cells]
    frame, means = framed(gaps), framed(quarters)
    chart = charts.dots(
        frame, x="value", y="size", low="low", high="high", domain=None, published="published",
        x_title="largest quarter minus smallest", y_sort=[what for what, _ in SIZES.values()],
    )  # fmt: skip
    nodes = means[means["size"] == SIZES["nodes"][0]]
    parts: list[Part] = [
        Figure(
            "recite-quartiles",
            "Large documents against small ones",
            f"{SCORE} of the largest quarter of documents minus the smallest. "
            f"{in_words(frame, 'size')}",
            chart,
            frame,
            f"{OTHER_SCORE} Bounds are Welch's. Table 5 of the paper prints two decimals and does "
            "not name its score.",
        )
    ]
    if len(nodes):
        drawn = charts.lines(
            nodes, x="quarter", y="value", low="low", high="high", x_sort=QUARTERS, y_title=SCORE,
            x_title="by number of nodes",
        )  # fmt: skip
        alt = f"{SCORE} by quarter of the number of nodes. {in_words(nodes, 'quarter')}"
        parts.append(
            Figure(
                "recite-quarters", "By number of nodes", alt, drawn, nodes.reset_index(drop=True)
            )
        )
    parts.append(Table("recite-quarter-means", "Every quarter", means.drop(columns="published")))
    parts += _correlations(view)
    return Section("recite-size", "Size", "Length of the text, arrows and nodes.", tuple(parts))


def _correlations(view: View) -> list[Part]:
    """Set how a graph's size goes with the score beside the paper's Table 13."""
    metrics = ("nodes", "edges", "density")
    rows: list[Row] = []
    for name, run in systems(view.runs):
        joined = view.joined(run)
        scores = by_instance(joined, SCORE)
        columns = {metric: by_instance(joined, metric) for metric in metrics}
        shapes = {
            one: {metric: columns[metric][one] for metric in metrics}
            for one in scores
            if all(one in columns[metric] for metric in metrics)
        }
        if len(shapes) < 3:
            continue
        rows += [
            {
                "system": name,
                "trait": found.metric,
                "documents": found.pearson.n,
                "Pearson r": found.pearson.value,
                "p (Holm)": found.pearson_holm,
                "Spearman ρ": found.spearman.value,
                "p of ρ (Holm)": found.spearman_holm,
            }
            for found in shape_correlations(scores, shapes, metrics)
        ]
    if not rows:
        return []
    for metric in metrics:
        cells = {
            cell.metric: cell
            for cell in view.published.cells(
                "recite", suite="topology_f1_correlation", condition=metric
            )
        }
        rows.append({
            "system": "ten systems (published, Table 13)", "trait": metric,
            "documents": next((cell.n for cell in cells.values()), None),
            "Pearson r": cells["pearson_r"].value, "Spearman ρ": cells["spearman_rho"].value,
        })  # fmt: skip
    note = "Between a document's trait and its score. The paper's p-values are not corrected."
    return [Table("recite-correlations", "What goes with the score", pd.DataFrame(rows), note)]


def shape_section(view: View) -> Section:
    """Show the score by density (Table 14) and by cycles (Table 15)."""
    names = ("sparse", "moderate", "dense")

    def density(one: Series) -> list[Row | None]:
        values = view.joined(one[1]).get("density", pd.Series(dtype=float))
        return binned_rows(view, one, values, DENSITIES, names, "density") if len(values) else []

    def cycles(one: Series) -> list[Row | None]:
        held = view.joined(one[1]).get("cyclic", pd.Series(dtype=bool))
        if held.empty:
            return []
        return [
            estimated(view, one, SCORE, held == (name == "cyclic"), cycles=name)
            for name in ("acyclic", "cyclic")
        ]

    cuts = ", ".join(
        f"{name} {cut}" for name, cut in zip(names, edge_names(DENSITIES), strict=True)
    )
    parts = [
        _overlaid(view, density, "density", "by_density_", names, "recite-density", "Density",
                  f"Arrows by places for one: {cuts}. {OTHER_SCORE}"),
        _overlaid(view, cycles, "cycles", "by_cyclicity_", ("acyclic", "cyclic"), "recite-cycles",
                  "Graphs with and without cycles", OTHER_SCORE),
    ]  # fmt: skip
    return Section("recite-shape", "Shape of the graph", parts=tuple(parts))


def _overlaid(
    view: View,
    rows_of: Callable[[Series], list[Row | None]],
    by: str,
    suite: str,
    names: Sequence[str],
    id: str,  # noqa: A002 - a part's own word
    title: str,
    note: str,
) -> Part:
    """Draw own estimates by kind of graph, the published ones among them."""
    own = [row for one in systems(view.runs) for row in rows_of(one)]
    if not any(own):
        return missing(title.lower(), "")
    cells = [
        printed(cell, **{by: name})
        for name in names
        for cell in view.published.cells("recite", suite=f"{suite}{name}", metric="f1")
    ]
    frame = framed([*own, *cells])
    chart = charts.lines(
        frame, x=by, y="value", low="low", high="high", x_sort=names, x_title=by,
        y_title="edge_f1 (published: judge's F1)", published="published", height=340,
    )  # fmt: skip
    return Figure(id, title, f"{SCORE} by {by}. {in_words(frame, by)}", chart, frame, note)
