"""Rows of the paper's tables that are no means of a run."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean, pvariance
from typing import Any

from whybench.episode.registry import load_suite
from whybench.report.papers.model import Item
from whybench.report.view import View


def graph_statistics(view: View | None, item: Item) -> list[dict[str, Any]]:  # noqa: ARG001
    """Return Table 1 for the graphs of the generator: edges, forks and colliders by size."""
    rows = []
    for group in item.groups:
        suite = load_suite(f"causalab/main_{group.labels['Nodes']}", profile="published")
        graphs = [suite.family.world(one).law.graph for one in suite]
        edges = [float(len(list(graph.edges()))) for graph in graphs]
        forks = [_pairs([a for a, _ in graph.edges()]) for graph in graphs]
        meets = [_pairs([b for _, b in graph.edges()]) for graph in graphs]
        rows.append({
            item.system: "generator", **group.labels, "Graphs": len(graphs),
            "Edge mean": fmean(edges), "Edge var.": pvariance(edges),
            "Fork mean": fmean(forks), "Collider mean": fmean(meets),
        })  # fmt: skip
    return rows


def _pairs(ends: list[Any]) -> float:
    """Count pairs of edges that share an end."""
    return float(sum(a == b for a, b in combinations(ends, 2)))
