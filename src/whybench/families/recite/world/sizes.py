"""Sizes of documents and graphs, drawn to match the published statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass

from whybench.causal.seeds import Stream

FEWEST_NODES, MOST_NODES = 5, 140
FEWEST_EDGES, MOST_EDGES = 6, 205
SHORTEST, LONGEST = 700, 170_000
"""Approximate length of a generated document; it is longer if its edges need more text."""

CYCLIC = 0.904
"""Share of the published graphs that have a cycle."""


@dataclass(frozen=True, slots=True)
class Size:
    """The requested size of a document."""

    nodes: int
    edges: int
    looped: float
    """Share of nodes on cycles; 0: none."""
    length: int


def normal(stream: Stream) -> float:
    """Draw from the standard normal distribution (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - stream.uniform()))
    return radius * math.cos(2.0 * math.pi * stream.uniform())


def edge_count(n: int, degree: float) -> int:
    """Return how many edges n nodes have at a mean degree, within the published range."""
    most = min(MOST_EDGES, n * (n - 1))
    return max(FEWEST_EDGES, n - 1, min(most, round(n * degree / 2)))


def lognormal(stream: Stream, mean: float, deviation: float) -> float:
    """Draw from the log-normal distribution with this mean and standard deviation."""
    spread = math.log(1 + (deviation / mean) ** 2)
    return math.exp(math.log(mean) - spread / 2 + math.sqrt(spread) * normal(stream))


def log_uniform(stream: Stream, low: float, high: float) -> float:
    """Draw so that equal ratios are equally likely."""
    return low * math.exp(math.log(high / low) * stream.uniform())


def sized(
    stream: Stream, source: str, *, nodes: int | None = None, length: int | None = None
) -> Size:
    """Draw the size of a document of a source; nodes and length may be given."""
    if source == "short":
        n = 5 + stream.below(10)
        size = log_uniform(stream, SHORTEST, 6_000)
    elif source == "ladder":
        n = 8 + stream.below(23)
        size = log_uniform(stream, 5_000, 15_000)
    else:
        n = round(lognormal(stream, 25.0, 15.8))
        size = lognormal(stream, 40_541, 17_722)
    n = nodes or max(FEWEST_NODES, min(MOST_NODES, n))
    cyclic = stream.uniform() < CYCLIC
    looped = min(1.0, max(0.15, 0.8 + 0.3 * normal(stream))) if cyclic else 0.0
    m = edge_count(n, min(6.0, max(2.0, 3.0 + 0.75 * normal(stream))))
    m = max(m, n) if cyclic else min(m, n * (n - 1) // 2)
    return Size(n, m, looped, length or round(max(SHORTEST, min(LONGEST, size))))
