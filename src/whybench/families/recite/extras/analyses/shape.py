"""Whether the score depends on the shape of the gold graph (appendix E: Tables 13, 14, 15).

Shapes are what `topology.topology` gives, by instance. The paper does not say how the F1 of Table
13 is put together from ten systems; `scores.over_systems` takes their mean. Fifteen metrics tested
two ways make thirty tests, of which one or two are below 0.05 by chance: Holm's correction
is given beside each p-value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from whybench.families.recite.extras.analyses.bins import Bin, binned
from whybench.families.recite.extras.analyses.scores import Scores, joined
from whybench.families.recite.extras.analyses.table import Row, number, p_value
from whybench.stats.association import Association, pearson, spearman
from whybench.stats.multiplicity import holm

TABLE_13 = (
    "nodes", "edges", "density", "average_degree", "sources", "sinks", "clustering", "cycles",
    "in_cycles", "sccs", "largest_scc", "betweenness_variance", "chains", "forks", "colliders",
)  # fmt: skip
"""The metrics of Table 13, in its order; Table 12 has `path_length` too."""

DENSITIES = (0.15, 0.3)
"""The edges of the bins of Table 14."""

Shapes = Mapping[str, Mapping[str, float]]
"""Instance → metric → value."""


@dataclass(frozen=True, slots=True)
class ShapeCorrelation(Row):
    """Correlation of a metric of the graph with the score."""

    HEAD: ClassVar = ("metric", "n", "r", "p", "Holm", "ρ", "p", "Holm")
    metric: str
    pearson: Association
    spearman: Association
    pearson_holm: float = float("nan")
    spearman_holm: float = float("nan")
    """p-values corrected for all metrics of the table, for r and ρ apart."""

    def cells(self) -> tuple[str, ...]:
        """Return the row as in Table 13, with corrected p-values."""
        r, rho = self.pearson, self.spearman
        linear = (number(r.value, sign=True), p_value(r.p), p_value(self.pearson_holm))
        ranked = (number(rho.value, sign=True), p_value(rho.p), p_value(self.spearman_holm))
        return (self.metric, str(r.n), *linear, *ranked)


def shape_correlations(
    scores: Scores, shapes: Shapes, metrics: Sequence[str] = TABLE_13
) -> list[ShapeCorrelation]:
    """Correlate each metric with the score over the instances that have both (Table 13)."""
    rows = []
    for metric in metrics:
        pairs = joined(scores, _values(shapes, metric))
        x, y = [value for value, _ in pairs], [score for _, score in pairs]
        rows.append(ShapeCorrelation(metric, pearson(x, y), spearman(x, y)))
    linear, ranked = (
        holm([row.pearson.p for row in rows]),
        holm([row.spearman.p for row in rows]),
    )
    return [
        replace(row, pearson_holm=r, spearman_holm=rho)
        for row, r, rho in zip(rows, linear, ranked, strict=True)
    ]


def by_density(scores: Scores, shapes: Shapes, edges: Sequence[float] = DENSITIES) -> list[Bin]:
    """Part the scores by density of the graph (Table 14): sparse, moderate, dense."""
    names = ("sparse", "moderate", "dense") if tuple(edges) == DENSITIES else ()
    return binned(scores, _values(shapes, "density"), edges, names)


def by_cyclicity(scores: Scores, shapes: Shapes) -> list[Bin]:
    """Part the scores of graphs without a cycle from those with one (Table 15)."""
    return binned(scores, _values(shapes, "cycles"), (1,), ("acyclic", "cyclic"))


def _values(shapes: Shapes, metric: str) -> dict[str, float]:
    lacking = next((one for one, shape in shapes.items() if metric not in shape), None)
    if lacking is not None:
        raise ValueError(
            f"The shape of {lacking} lacks {metric}. Compute it with `topology.topology`."
        )
    return {instance: shape[metric] for instance, shape in shapes.items()}
