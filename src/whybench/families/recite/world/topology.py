"""The shape of a causal graph: the figures of the paper's Table 12.

The paper names them without definitions and its release has no code for them; each one is defined
here, as its printed values allow.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx

CYCLES = 10_000
"""Cycles are counted no further: a dense graph has more than can be listed. The most that the paper
reports is 3,820."""

METRICS = {
    "nodes": "nodes",
    "edges": "different edges, self loops left out",
    "density": "edges by the n (n - 1) places for one",
    "average_degree": "mean number of edges at a node, coming and going: 2 edges / nodes",
    "sources": "nodes that have effects and no cause",
    "sinks": "nodes that have causes and no effect",
    "clustering": (
        "mean over nodes of the share of pairs of neighbours that are neighbours themselves, "
        "whatever the direction; 0 with fewer than two neighbours"
    ),
    "cycles": f"simple directed cycles, two-cycles included; {CYCLES} stands for so many or more",
    "cycles_capped": "1 if there are more cycles than were counted, else 0",
    "in_cycles": "share of the nodes that lie on a cycle",
    "sccs": "strongly connected components, single nodes included",
    "largest_scc": "nodes of the largest strongly connected component",
    "path_length": (
        "mean length of a shortest directed path, over the ordered pairs of different nodes that "
        "have one; 0 if there is none"
    ),
    "betweenness_variance": (
        "variance over nodes of the share of shortest directed paths that run through a node "
        "(Freeman's betweenness by (n - 1)(n - 2))"
    ),
    "chains": "A → B → C with three different nodes, whatever else joins them",
    "forks": "B ← A → C with B and C different, whatever else joins them",
    "colliders": "A → C ← B with A and B different, whatever else joins them",
}
"""What `topology` gives, and what each figure means."""


def topology(n: int, pairs: Iterable[tuple[int, int]]) -> dict[str, float]:
    """Describe the shape of a directed graph on the nodes 0 … n - 1; see `METRICS`.

    >>> found = topology(3, [(0, 1), (1, 0), (1, 2)])
    >>> found["cycles"], found["sinks"], found["chains"], found["largest_scc"]
    (1.0, 1.0, 1.0, 2.0)
    """
    # Takes most of a second to import the first time: only who asks for topology shall wait.
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((a, b) for a, b in pairs if a != b)
    if len(graph) != n:
        raise ValueError(f"An edge names a node outside 0 … {n - 1}.")
    if not n:
        return dict.fromkeys(METRICS, 0.0)
    ins, outs = dict(graph.in_degree), dict(graph.out_degree)
    components = [len(component) for component in nx.strongly_connected_components(graph)]
    cycles = sum(1 for _ in islice(nx.simple_cycles(graph), CYCLES + 1))
    two_cycles = sum(graph.has_edge(b, a) for a, b in graph.edges) // 2
    between = nx.betweenness_centrality(graph).values()
    middle = sum(between) / n
    found = {
        "nodes": n,
        "edges": graph.number_of_edges(),
        "density": nx.density(graph),
        "average_degree": 2 * graph.number_of_edges() / n,
        "sources": sum(outs[v] > 0 == ins[v] for v in graph),
        "sinks": sum(ins[v] > 0 == outs[v] for v in graph),
        "clustering": nx.average_clustering(graph.to_undirected()),
        "cycles": min(cycles, CYCLES),
        "cycles_capped": cycles > CYCLES,
        "in_cycles": sum(size for size in components if size > 1) / n,
        "sccs": len(components),
        "largest_scc": max(components),
        "path_length": _path_length(graph),
        "betweenness_variance": sum((value - middle) ** 2 for value in between) / n,
        "chains": sum(ins[v] * outs[v] for v in graph) - 2 * two_cycles,
        "forks": sum(outs[v] * (outs[v] - 1) // 2 for v in graph),
        "colliders": sum(ins[v] * (ins[v] - 1) // 2 for v in graph),
    }
    return {name: float(value) for name, value in found.items()}


def _path_length(graph: nx.DiGraph[Any]) -> float:
    import networkx as nx

    lengths = [
        length
        for _, reached in nx.all_pairs_shortest_path_length(graph)
        for length in reached.values()
        if length
    ]
    return sum(lengths) / len(lengths) if lengths else 0.0
