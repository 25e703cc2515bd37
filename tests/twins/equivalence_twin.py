"""Slow, independent twin of `core.equivalence`: all DAGs, compared straight by the definition.

A DAG is the set of its (cause, effect) pairs. Nothing here is shared with the package, so agreement
is evidence.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, product

Dag = frozenset[tuple[int, int]]
Skeleton = frozenset[frozenset[int]]
Colliders = frozenset[tuple[frozenset[int], int]]
Look = tuple[Skeleton, Colliders]


def acyclic(graph: Dag) -> bool:
    """Whether taking away nodes without an incoming edge, again and again, takes all edges."""
    while graph:
        effects = {b for _, b in graph}
        rest = frozenset((a, b) for a, b in graph if a in effects)
        if rest == graph:
            return False
        graph = rest
    return True


def dags(n: int) -> Iterator[Dag]:
    """All DAGs on n labelled nodes: each pair is apart or joined one way or the other."""
    pairs = list(combinations(range(n), 2))
    for ways in product((None, False, True), repeat=len(pairs)):
        graph = frozenset(
            (b, a) if way else (a, b)
            for (a, b), way in zip(pairs, ways, strict=True)
            if way is not None
        )
        if acyclic(graph):
            yield graph


def orientations(graph: Dag) -> Iterator[Dag]:
    """All DAGs with the skeleton of this one."""
    edges = sorted(graph)
    for ways in product((False, True), repeat=len(edges)):
        turned = frozenset(
            (b, a) if way else (a, b) for (a, b), way in zip(edges, ways, strict=True)
        )
        if acyclic(turned):
            yield turned


def look(graph: Dag) -> Look:
    """Skeleton and v-structures: what data from a faithful model of the graph reveals."""
    skeleton = frozenset(frozenset(edge) for edge in graph)
    colliders = frozenset(
        (frozenset((a, c)), b)
        for (a, b), (c, d) in combinations(graph, 2)
        if b == d and frozenset((a, c)) not in skeleton
    )
    return skeleton, colliders


def looks(graph: Dag, targets: Iterable[int]) -> tuple[Look, ...]:
    """What observation and then each intervention reveal: edges into a target are cut."""
    cut = (frozenset((a, b) for a, b in graph if b != t) for t in targets)
    return (look(graph), *map(look, cut))


def shared(members: Collection[Dag]) -> Dag:
    """The edges that all of these DAGs have."""
    return frozenset.intersection(*members)
