"""Slow, independent twin of the ReplaySCM family: plain enumeration and full replay, n <= 5.

A truth table lists a function's values for its sorted parents' values in the order of
`product((0, 1), repeat=m)`: the first (lowest) parent is the most significant bit. Nothing here is
shared with the package, so agreement is evidence.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, Literal

Row = tuple[int, ...]
World = tuple[frozenset[int], Sequence[Row]]
Disclosure = Literal["ordered", "block", "hidden", "roots"]
Mechanism = tuple[tuple[int, ...], tuple[int, ...]]
Graph = dict[int, tuple[int, ...]]


class TooManyError(Exception):
    """There are more consistent candidates than the caller's limit."""


@dataclass(frozen=True)
class Scm:
    """A candidate: its roots and, by rising variable, (variable, (sorted parents, truth table))."""

    roots: frozenset[int]
    items: tuple[tuple[int, Mechanism], ...]

    @property
    def mechanisms(self) -> dict[int, Mechanism]:
        """Each endogenous variable's essential parents and truth table."""
        return dict(self.items)


def entry(parents: Sequence[int], values: Sequence[int | None]) -> int:
    """Where a truth table holds its value for these parents' values; all must be known."""
    index = 0
    for p in parents:
        value = values[p]
        assert value is not None, "a parent is read before it was replayed"
        index = 2 * index + value
    return index


@cache
def essential_tables(m: int) -> list[tuple[int, ...]]:
    """All truth tables of m arguments in which the flip of each argument can change the value."""
    return [
        table
        for table in product((0, 1), repeat=2**m)
        if all(any(table[x] != table[x ^ (1 << i)] for x in range(2**m)) for i in range(m))
    ]


def topological_order(graph: Graph, roots: frozenset[int]) -> list[int] | None:
    """The endogenous variables, parents first; None if the graph has a cycle."""
    order: list[int] = []
    done = set(roots)
    while len(order) < len(graph):
        ready = [v for v in graph if v not in done and done.issuperset(graph[v])]
        if not ready:
            return None
        order += ready
        done.update(ready)
    return order


def allowed_parents(
    n: int,
    v: int,
    disclosure: Disclosure,
    order: Sequence[int] | None,
    blocks: Sequence[Sequence[int]] | None,
) -> list[int]:
    """The variables which the disclosure lets be parents of v."""
    others = [p for p in range(n) if p != v]
    if disclosure == "ordered":
        assert order is not None
        assert sorted(order) == list(range(n))
        return [p for p in others if order.index(p) < order.index(v)]
    if disclosure == "block":
        assert blocks is not None
        assert sorted(p for block in blocks for p in block) == list(range(n))
        block_of = {p: i for i, block in enumerate(blocks) for p in block}
        return [p for p in others if block_of[p] <= block_of[v]]
    return others


def graphs(
    n: int,
    k: int,
    disclosure: Disclosure,
    roots: frozenset[int],
    order: Sequence[int] | None,
    blocks: Sequence[Sequence[int]] | None,
) -> Iterator[tuple[Graph, list[int]]]:
    """Every acyclic choice of parent sets, with one of its topological orders."""
    endogenous = [v for v in range(n) if v not in roots]
    choices = [
        [c for m in range(k + 1) for c in combinations(allowed, m)]
        for allowed in (allowed_parents(n, v, disclosure, order, blocks) for v in endogenous)
    ]
    for chosen in product(*choices):
        graph = dict(zip(endogenous, chosen, strict=True))
        walk = topological_order(graph, roots)
        if walk is not None:
            yield graph, walk


def fill(
    graph: Graph, walk: list[int], roots: frozenset[int], data: Sequence[tuple[frozenset[int], Row]]
) -> Iterator[dict[int, Mechanism]]:
    """Every consistent choice of functions with exactly these essential parents.

    `replayed` starts with what a replay is given (targets and roots) and nothing else; each
    variable in turn is computed from it, and one wrong scored cell ends the branch.
    """
    replayed: list[list[int | None]] = [
        [x if v in targets or v in roots else None for v, x in enumerate(row)]
        for targets, row in data
    ]

    def replays(v: int, table: tuple[int, ...]) -> bool:
        for (targets, row), values in zip(data, replayed, strict=True):
            if v not in targets:
                values[v] = table[entry(graph[v], values)]
                if values[v] != row[v]:
                    return False
        return True

    def extend(depth: int) -> Iterator[dict[int, Mechanism]]:
        if depth == len(walk):
            yield {}
            return
        v = walk[depth]
        for table in essential_tables(len(graph[v])):
            if replays(v, table):
                for rest in extend(depth + 1):
                    yield {v: (graph[v], table), **rest}

    yield from extend(0)


def consistent(
    n: int,
    k: int,
    worlds: Sequence[World],
    disclosure: Disclosure,
    *,
    roots: frozenset[int] | None = None,
    root_count: int | None = None,
    order: Sequence[int] | None = None,
    blocks: Sequence[Sequence[int]] | None = None,
    limit: int | None = None,
) -> Iterator[Scm]:
    """Every candidate that replays all scored cells of all rows, once each."""
    if disclosure == "roots":
        assert root_count is not None
        root_sets = [frozenset(c) for c in combinations(range(n), root_count)]
    else:
        assert roots is not None
        root_sets = [frozenset(roots)]
    data = sorted(
        {(targets, tuple(row)) for targets, rows in worlds for row in rows},
        key=lambda pair: (sorted(pair[0]), pair[1]),
    )
    found = 0
    for root_set in root_sets:
        for graph, walk in graphs(n, k, disclosure, root_set, order, blocks):
            for mechanisms in fill(graph, walk, root_set, data):
                found += 1
                if limit is not None and found > limit:
                    raise TooManyError(f"more than {limit} consistent candidates")
                yield Scm(root_set, tuple(sorted(mechanisms.items())))


def count(n: int, k: int, worlds: Sequence[World], disclosure: Disclosure, **given: Any) -> int:
    """How many candidates are consistent."""
    return sum(1 for _ in consistent(n, k, worlds, disclosure, **given))


def replay(scm: Scm, n: int, targets: frozenset[int], row: Row) -> Row:
    """The row as the candidate replays it: only targets and roots are taken from the row."""
    mechanisms = scm.mechanisms

    def value(v: int) -> int:
        if v in targets or v in scm.roots:
            return row[v]
        parents, table = mechanisms[v]
        inputs = tuple(value(p) for p in parents)
        return table[list(product((0, 1), repeat=len(parents))).index(inputs)]

    return tuple(value(v) for v in range(n))


@cache
def all_orders(n: int, edges: frozenset[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Every order of all variables in which each edge's first end comes before its second."""
    return [
        order
        for order in permutations(range(n))
        if all(order.index(p) < order.index(v) for p, v in edges)
    ]


def first_differences(scm: Scm, n: int, targets: frozenset[int], row: Row) -> set[int]:
    """The first wrongly replayed variable in each topological order of the candidate's graph.

    The graph is the candidate's own: the intervention does not remove the targets' parents.
    """
    replayed = replay(scm, n, targets, row)
    different = {v for v in range(n) if replayed[v] != row[v]}
    if not different:
        return set()
    edges = frozenset((p, v) for v, (parents, _) in scm.items for p in parents)
    return {next(v for v in order if v in different) for order in all_orders(n, edges)}


def undetermined_cells(
    n: int,
    k: int,
    worlds: Sequence[World],
    disclosure: Disclosure,
    targets: frozenset[int],
    row: Row,
    **given: Any,
) -> set[int]:
    """The cells that are the first difference of some consistent candidate's replay."""
    cells: set[int] = set()
    for scm in consistent(n, k, worlds, disclosure, **given):
        cells |= first_differences(scm, n, targets, row)
    return cells


def is_determined(
    n: int,
    k: int,
    worlds: Sequence[World],
    disclosure: Disclosure,
    targets: frozenset[int],
    row: Row,
    **given: Any,
) -> bool:
    """Whether every consistent candidate replays the row exactly."""
    candidates = consistent(n, k, worlds, disclosure, **given)
    return all(replay(scm, n, targets, row) == tuple(row) for scm in candidates)


def smallest_total(
    n: int,
    k: int,
    worlds: Sequence[World],
    disclosure: Disclosure,
    size: Callable[[int, tuple[int, ...]], int],
    **given: Any,
) -> int:
    """The least sum of formula sizes over consistent candidates; there must be one."""
    return min(
        sum(size(len(parents), table) for _, (parents, table) in scm.items)
        for scm in consistent(n, k, worlds, disclosure, **given)
    )
