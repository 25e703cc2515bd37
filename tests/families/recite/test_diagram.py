"""Made diagrams look like the published ones."""

import statistics
from functools import cache

import networkx as nx
import pytest
from tests.tables import together

from whybench.causal.seeds import Stream
from whybench.families.recite.world.diagram import (
    FEWEST_EDGES,
    FEWEST_NODES,
    MOST_EDGES,
    MOST_NODES,
    diagram,
    edge_count,
)
from whybench.families.recite.world.sizes import LONGEST, SHORTEST, Size, sized

SETS, SAMPLES = 3, 292
"""As many graphs as there are published ones, three times over: one set alone varies too much."""

PUBLISHED = {
    # Table 12: mean, and how far ours may be from it
    "nodes": (25.0, 0.1),
    "edges": (37.0, 0.1),
    "density": (0.094, 0.15),
    "degree": (3.0, 0.05),
    "sources": (4.8, 0.2),
    "sinks": (1.8, 0.4),
    "in_cycles": (0.636, 0.1),
    "sccs": (11.9, 0.2),
    "largest_scc": (13.4, 0.3),
    "chains": (57.7, 0.15),
    "forks": (24.1, 0.2),
    "colliders": (31.5, 0.2),
}
DEVIATIONS = {"nodes": (15.8, 0.15), "edges": (23.9, 0.25)}
MEDIANS = {
    "nodes": (22.0, 0.1),
    "edges": (32.5, 0.1),
    "density": (0.070, 0.12),
    "in_cycles": (0.727, 0.12),
    "largest_scc": (12.0, 0.15),
    "chains": (45.0, 0.15),
    "forks": (16.0, 0.15),
    "colliders": (21.0, 0.15),
}
"""Table 12: standard deviations and medians with their tolerances."""

Edges = frozenset[tuple[int, int]]


@cache
def drawn() -> tuple[tuple[Size, Edges], ...]:
    found = []
    for number in range(SETS * SAMPLES):
        stream = Stream("diagrams", number)
        size = sized(stream, "matched")
        found.append((size, diagram(stream, size.nodes, size.edges, size.looped)))
    return tuple(found)


def shape(n: int, edges: Edges) -> dict[str, float]:
    """Measure a graph anew, by plain definitions."""
    graph = nx.DiGraph(list(edges))
    components = [len(part) for part in nx.strongly_connected_components(graph)]
    ins, outs = dict(graph.in_degree), dict(graph.out_degree)
    triples = [(a, b, c) for a, b in edges for c in graph.successors(b) if c != a]
    return {
        "nodes": n,
        "edges": len(edges),
        "density": len(edges) / (n * (n - 1)),
        "degree": 2 * len(edges) / n,
        "sources": sum(not ins[v] for v in graph),
        "sinks": sum(not outs[v] for v in graph),
        "in_cycles": sum(size for size in components if size > 1) / n,
        "sccs": len(components),
        "largest_scc": max(components),
        "chains": len(triples),
        "forks": sum(out * (out - 1) / 2 for out in outs.values()),
        "colliders": sum(into * (into - 1) / 2 for into in ins.values()),
    }


@cache
def shapes() -> dict[str, list[float]]:
    rows = [shape(size.nodes, edges) for size, edges in drawn()]
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("name", PUBLISHED)
def test_means_are_near_the_published(name: str) -> None:
    value, tolerance = PUBLISHED[name]
    assert statistics.fmean(shapes()[name]) == pytest.approx(value, rel=tolerance)


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviations_are_near_the_published(name: str) -> None:
    value, tolerance = DEVIATIONS[name]
    assert statistics.pstdev(shapes()[name]) == pytest.approx(value, rel=tolerance)


@pytest.mark.parametrize("name", MEDIANS)
def test_medians_are_near_the_published(name: str) -> None:
    value, tolerance = MEDIANS[name]
    assert statistics.median(shapes()[name]) == pytest.approx(value, rel=tolerance)


def test_about_nine_in_ten_are_cyclic() -> None:
    cyclic = [value > 0 for value in shapes()["in_cycles"]]
    assert statistics.fmean(cyclic) == pytest.approx(0.904, abs=0.03)


def test_texts_are_as_long_as_the_published() -> None:
    lengths = [size.length for size, _ in drawn()]
    assert statistics.fmean(lengths) == pytest.approx(40_541, rel=0.06)
    assert statistics.pstdev(lengths) == pytest.approx(17_722, rel=0.12)
    assert SHORTEST <= min(lengths) < max(lengths) <= LONGEST


def test_diagrams_are_what_was_asked_connected_and_within_bounds() -> None:
    for size, edges in drawn():
        graph = nx.DiGraph(list(edges))
        assert set(graph) == set(range(size.nodes))
        assert len(edges) == size.edges
        assert nx.is_weakly_connected(graph)
        assert not any(a == b for a, b in edges)
        assert FEWEST_NODES <= size.nodes <= MOST_NODES
        assert FEWEST_EDGES <= size.edges <= MOST_EDGES
        assert nx.is_directed_acyclic_graph(graph) == (size.looped == 0)


@pytest.mark.parametrize(
    ("source", "nodes", "lengths"),
    [
        ("short", (5, 14), (700, 6_000)),
        ("ladder", (8, 30), (5_000, 15_000)),
        ("long", (20, 140), (20_000, 170_000)),
    ],
)
def test_each_source_keeps_to_its_sizes_and_fills_them(
    source: str, nodes: tuple[int, int], lengths: tuple[int, int]
) -> None:
    sizes = [sized(Stream("sizes", source, number), source) for number in range(400)]
    counts = [size.nodes for size in sizes]
    assert nodes[0] <= min(counts) <= nodes[0] + 1
    assert nodes[1] * 0.97 <= max(counts) <= nodes[1]
    chars = [size.length for size in sizes]
    assert lengths[0] <= min(chars) < 1.05 * lengths[0]
    assert 0.95 * lengths[1] < max(chars) <= lengths[1]


def test_given_sizes_are_kept() -> None:
    size = sized(Stream("given"), "short", nodes=140, length=170_000)
    assert (size.nodes, size.length) == (140, 170_000)


@together("n", [5, 6, 9, 20, 60, 140])
@together("looped", [0.0, 0.3, 1.0])
def test_extreme_numbers_of_edges_are_reached(n: int, looped: float) -> None:
    for m in {max(6, n - 1), max(6, n), edge_count(n, 3.0), edge_count(n, 100.0)}:
        edges = diagram(Stream("extreme", n, m), n, m, looped)
        graph = nx.DiGraph(list(edges))
        assert len(edges) == m
        assert len(graph) == n
        assert nx.is_weakly_connected(graph)


def test_share_on_cycles_is_near_what_was_asked() -> None:
    for looped in (0.2, 0.5, 0.8, 1.0):
        found = [
            shape(40, diagram(Stream("looped", k), 40, 60, looped))["in_cycles"] for k in range(20)
        ]
        assert statistics.fmean(found) == pytest.approx(looped, abs=0.02)


def test_impossible_numbers_of_edges_are_refused() -> None:
    for m in (3, 8, 91):
        with pytest.raises(ValueError, match="cannot have"):
            diagram(Stream("refused"), 10, m, 0.5)
