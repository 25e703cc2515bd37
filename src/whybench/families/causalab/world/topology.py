"""Random causal graphs with the statistics of CausaLab's Table 1.

The paper's sampler is not public, so this one is ours. It ranks the nodes at random, with the
frequency last or last but one. It then draws edges from a deck of ranked pairs, and keeps the graph
if it is connected. `topology.json` holds the fitted values: the edge counts, and two numbers. One
turns forks and colliders into chains; the other lowers the number of causes of the frequency.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import comb
from statistics import fmean, pvariance
from typing import NamedTuple

from whybench.causal.graph import Graph, canonical_form, transpose
from whybench.causal.seeds import Stream
from whybench.families.causalab.world.world import FREQUENCY

Edges = tuple[tuple[int, int], ...]
"""Pairs (cause, effect), sorted; node 0 is the frequency, the others are properties."""

_NEAR = 2
"""Pairs at most this number of ranks apart are near."""

_PATIENCE = 20
"""Rejected draws, per known shape, after which no further shapes are expected."""


class Statistics(NamedTuple):
    """Means over graphs; the first four are those of CausaLab's Table 1."""

    edges: float
    edge_variance: float
    """Population variance of the edge count."""
    forks: float
    """Pairs of edges with one cause."""
    colliders: float
    """Pairs of edges with one effect."""
    chains: float
    """Pairs of edges such that the effect of one is the cause of the other."""
    frequency_parents: float
    """In-degree of the frequency."""


class Draw(NamedTuple):
    """An accepted graph, and how many were rejected before it."""

    edges: Edges
    unconnected: int = 0
    """Draws that were not connected, had too few causes of the frequency, or no room for all
    edges."""
    repeated: int = 0
    """Draws of a shape that already existed."""


class _Fit(NamedTuple):
    """The fitted values for one size; `topology.json` gives the reasons."""

    edge_counts: tuple[int, ...]
    """Edge counts of a typical suite, fewest first."""
    near: int
    """Copies of a near pair in the deck."""
    late: int
    """Percentage of graphs in which a property ranks after the frequency."""


def topology(k: int, stream: Stream) -> Edges:
    """Draw a connected acyclic graph on k nodes; the frequency has causes but no effects.

    >>> topology(4, Stream("example"))
    ((1, 3), (2, 1), (2, 3), (3, 0))
    """
    return draw(k, stream).edges


def draw(k: int, stream: Stream, least: int = 1) -> Draw:
    """Draw a graph as `topology` does, and count the rejected draws.

    The frequency has at least `least` causes.
    """
    return _drawn(k, stream.choice(_fit(k).edge_counts), stream, least)


@lru_cache(maxsize=64)
def draws(k: int, seed: str, count: int = 50, least: int = 1) -> tuple[Draw, ...]:
    """Return the graphs of a suite, with the rejected draws of each.

    Shapes repeat only if there are too few of them. Edge counts follow a quota and are not drawn,
    so suites of different seeds have the same sizes and differ only in shape.
    """
    if count < 0:
        raise ValueError(f"Cannot draw {count} graphs. Give 0 or more.")
    stream = Stream("causalab", "topologies", k, seed)
    quota = _fit(k).edge_counts
    spread = [quota[(2 * i + 1) * len(quota) // (2 * count)] for i in range(count)]
    strata = [
        _stratum(k, edge_count, n, stream, least) for edge_count, n in Counter(spread).items()
    ]
    return tuple(stream.shuffled([one for stratum in strata for one in stratum]))


def frequency_moved(edges: Edges, k: int, stream: Stream) -> list[int]:
    """Return new labels: the frequency swaps with a property that has causes and effects, if any.

    >>> frequency_moved(((1, 0), (2, 1)), 3, Stream("example"))
    [1, 0, 2]
    """
    graph = Graph.from_edges(k, edges)
    parents = graph.parents()
    between = [v for v in range(k) if v != FREQUENCY and parents[v] and graph.children[v]]
    labels = list(range(k))
    if between:
        chosen = stream.choice(between)
        labels[FREQUENCY], labels[chosen] = chosen, FREQUENCY
    return labels


def shape(edges: Edges, k: int) -> tuple[int, ...]:
    """Return a code equal for two graphs exactly if renaming properties maps one to the other."""
    return _shape(Graph.from_edges(k, edges).children)


@lru_cache(maxsize=16384)
def _shape(children: tuple[int, ...]) -> tuple[int, ...]:
    """Return a graph's shape; cached up to five nodes, where shapes are few."""
    return canonical_form(children, [int(v == FREQUENCY) for v in range(len(children))])


def statistics(graphs: Sequence[Edges], k: int) -> Statistics:
    """Average the counts of Table 1 over graphs on k nodes.

    >>> statistics([((1, 0), (2, 0), (2, 1))], 3)[2:]
    (1.0, 1.0, 1.0, 2.0)
    """
    if not graphs:
        raise ValueError("Cannot average over no graphs. Give one or more.")
    sizes = [len(edges) for edges in graphs]
    degrees = [_degrees(edges, k) for edges in graphs]
    return Statistics(
        edges=fmean(sizes),
        edge_variance=pvariance(sizes),
        forks=fmean(sum(comb(effects, 2) for _, effects in nodes) for nodes in degrees),
        colliders=fmean(sum(comb(causes, 2) for causes, _ in nodes) for nodes in degrees),
        chains=fmean(sum(causes * effects for causes, effects in nodes) for nodes in degrees),
        frequency_parents=fmean(nodes[FREQUENCY][0] for nodes in degrees),
    )


def _degrees(edges: Edges, k: int) -> list[tuple[int, int]]:
    """Return each node's numbers of causes and effects."""
    children = Graph.from_edges(k, edges).children
    return [
        (causes.bit_count(), effects.bit_count())
        for causes, effects in zip(transpose(children), children, strict=True)
    ]


@cache
def _fits() -> dict[int, _Fit]:
    data = json.loads((files(__package__) / "topology.json").read_text("utf-8"))
    return {
        int(k): _Fit(
            tuple(int(k) - 1 + i for i, share in enumerate(fit["edges"]) for _ in range(share)),
            fit["near"],
            fit["late"],
        )
        for k, fit in data["sizes"].items()
    }


def _fit(k: int) -> _Fit:
    if k not in _fits():
        raise ValueError(f"No graphs with {k} nodes. Give {min(_fits())} … {max(_fits())}.")
    return _fits()[k]


def _drawn(k: int, edge_count: int, stream: Stream, least: int = 1) -> Draw:
    """Draw ranks and edges until the graph is connected; names are independent of ranks."""
    fit, unconnected = _fit(k), 0
    while True:
        ranked = stream.shuffled([v for v in range(k) if v != FREQUENCY])
        ranked.insert(k - 2 if stream.below(100) < fit.late else k - 1, FREQUENCY)
        deck = [
            (cause, ranked[j])
            for i, cause in enumerate(ranked)
            if cause != FREQUENCY
            for j in range(i + 1, k)
            for _ in range(fit.near if j - i <= _NEAR else 1)
        ]
        edges = list(dict.fromkeys(stream.shuffled(deck)))[:edge_count]
        causes = sum(effect == FREQUENCY for _, effect in edges)
        if len(edges) == edge_count and causes >= least and _connected(edges, k):
            return Draw(tuple(sorted(edges)), unconnected)
        unconnected += 1


def _connected(edges: Sequence[tuple[int, int]], k: int) -> bool:
    """Tell whether every node is connected to the frequency, ignoring directions."""
    reached, before = 1 << FREQUENCY, 0
    while reached != before:
        before = reached
        for a, b in edges:
            ends = 1 << a | 1 << b
            if reached & ends:
                reached |= ends
    return reached == (1 << k) - 1


def _stratum(k: int, edge_count: int, quota: int, stream: Stream, least: int) -> list[Draw]:
    """Draw graphs with one edge count, each shape once; repeat evenly when all are used."""
    graphs: list[Draw] = []
    seen: Counter[tuple[int, ...]] = Counter()
    refused = unconnected = repeated = 0
    while len(graphs) < quota:
        drawn = _drawn(k, edge_count, stream, least)
        unconnected += drawn.unconnected
        code = shape(drawn.edges, k)
        all_seen = refused > _PATIENCE * len(seen)
        if not seen[code] or (all_seen and seen[code] == min(seen.values())):
            seen[code] += 1
            graphs.append(Draw(drawn.edges, unconnected, repeated))
            unconnected = repeated = 0
        else:
            refused += 1
            repeated += 1
    return graphs
