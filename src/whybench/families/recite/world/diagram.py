"""Causal loop diagrams: graphs like the published ones.

Most published graphs have feedback: about two thirds of their nodes are on cycles. So a diagram is
grown from a core that is strongly connected (a cycle, then ears: Robbins 1939), feeders into it and
ends out of it, and edges at random until there are as many as wanted.
"""

from __future__ import annotations

import math
from itertools import pairwise

from whybench.causal.seeds import Stream

FEWEST_NODES, MOST_NODES = 5, 140
FEWEST_EDGES, MOST_EDGES = 6, 205
LARGEST_CORE = 42
"""Nodes of the largest published core."""
EAR = 4
"""New nodes that an ear may run through."""

Pair = tuple[int, int]


def normal(stream: Stream) -> float:
    """Draw from the standard normal distribution (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - stream.uniform()))
    return radius * math.cos(2.0 * math.pi * stream.uniform())


def edge_count(n: int, degree: float) -> int:
    """Return how many edges n nodes have at a mean degree, within what a diagram may have."""
    most = min(MOST_EDGES, n * (n - 1))
    return max(FEWEST_EDGES, n - 1, min(most, round(n * degree / 2)))


def diagram(stream: Stream, n: int, m: int, looped: float) -> frozenset[Pair]:
    """Return the edges of a connected diagram; about the share `looped` of its nodes on cycles."""
    if not FEWEST_EDGES <= m <= n * (n - 1) or m < n - 1:
        raise ValueError(f"{n} nodes cannot have {m} edges: give {n - 1} … {n * (n - 1)}")
    core = 0 if looped <= 0 or m < n else min(n, LARGEST_CORE, max(2, round(looped * n)))
    while _room(n, core) < m:
        core += 1
    edges, core = _core(stream, core, m - n)
    upstream = max(1, core)
    places = list(range(upstream))  # in an order in which outer edges may point: feeders come first
    for node in range(upstream, n):
        feeds = stream.uniform() < 0.75
        other = stream.choice(places)
        edges.add((node, other) if feeds else (other, node))
        places.insert(0 if feeds else len(places), node)
    _fill(stream, edges, places, core, m)
    return frozenset(edges)


def _core(stream: Stream, size: int, spare: int) -> tuple[set[Pair], int]:
    """Return a strongly connected graph on 0, 1 …, and its size: a cycle, then ears.

    An ear that runs through k new nodes has k + 1 edges, so each costs one more edge than nodes;
    with no edge to spare the core stays smaller than asked, rather than becoming one long ring.
    """
    if size == 0:
        return set(), 0
    first = min(size, 2 + stream.below(5))
    edges = {(v, (v + 1) % first) for v in range(first)}
    at = first
    while at < size and spare > 0:
        spare -= 1
        length = min(size - at, 1 + stream.below(EAR))
        path = [stream.below(at), *range(at, at + length), stream.below(at)]
        edges |= set(pairwise(path))
        at += length
    return edges, at


def _room(n: int, core: int) -> int:
    """Return how many edges fit: both ways between core nodes, one way between others."""
    return (n * (n - 1) + core * (core - 1)) // 2


def _fill(stream: Stream, edges: set[Pair], places: list[int], core: int, m: int) -> None:
    """Add edges until there are m: any way inside the core, along the order elsewhere."""
    rank = {node: place for place, node in enumerate(places)}
    effects = [effect for _, effect in edges]
    while len(edges) < m:
        a = stream.below(len(places))
        busy = stream.uniform() < 0.35  # what has causes already attracts more
        b = stream.choice(effects) if busy else stream.below(len(places))
        inside = a < core and b < core
        if a == b or (not inside and rank[a] > rank[b]):
            a, b = b, a
        if a != b and (a, b) not in edges:
            edges.add((a, b))
            effects.append(b)
