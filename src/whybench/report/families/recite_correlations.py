"""How a graph's size and density go with the score, beside the paper's Table 13."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from whybench.families.recite.analyses.shape import shape_correlations
from whybench.report.families.recite_beside import STANDARD, opposite
from whybench.report.families.recite_graphs import ONCE, by_graph, column, tested
from whybench.report.families.recite_rows import SCORE, Row, Series
from whybench.report.section import Part, Table
from whybench.report.view import View

METRICS = ("nodes", "edges", "density")


def correlations(view: View, drawn: Sequence[Series]) -> list[Part]:
    """Correlate traits of graphs with the score, over graphs."""
    rows: list[Row] = []
    for name, run in drawn:
        graphs = by_graph(view.joined(run), SCORE, *METRICS)
        if len(graphs) < 3:
            continue
        shapes = {
            str(graph): {metric: float(row[metric]) for metric in METRICS}
            for graph, row in graphs.iterrows()
        }
        rows += [
            {
                "system": name,
                "trait": found.metric,
                "documents": int(graphs["documents"].sum()),
                "graphs": found.pearson.n,
                "Pearson r": found.pearson.value,
                "p (Holm)": tested(found.pearson_holm, found.pearson.n),
                "Spearman ρ": found.spearman.value,
                "p of ρ (Holm)": tested(found.spearman_holm, found.spearman.n),
            }
            for found in shape_correlations(column(graphs, SCORE), shapes, METRICS)
        ]
    if not rows:
        return []
    note = f"Between a graph's trait and its score. {ONCE}"
    if STANDARD in opposite(run for _, run in drawn):
        rows += _published(view)
        note += " The paper's p-values are not corrected."
    return [Table("recite-correlations", "What goes with the score", pd.DataFrame(rows), note)]


def _published(view: View) -> list[Row]:
    """Return Table 13, which is about the same texts though about no single system."""
    rows: list[Row] = []
    for metric in METRICS:
        found = view.published.cells("recite", suite="topology_f1_correlation", condition=metric)
        cells = {cell.metric: cell for cell in found}
        rows.append({
            "system": "ten systems (published, Table 13)", "trait": metric,
            "documents": next((cell.n for cell in cells.values()), None),
            "Pearson r": cells["pearson_r"].value, "Spearman ρ": cells["spearman_rho"].value,
        })  # fmt: skip
    return rows
