"""Graphs and causal orders, for the check of certificates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

from whybench.causal.graph import Graph, members
from whybench.families.causalab.proof.checker.algebra import Row, rank


def reached(graph: Graph, v: int) -> int:
    """Return everything that depends on v."""
    found, waiting = 0, [v]
    while waiting:
        new = graph.children[waiting.pop()] & ~found
        found |= new
        waiting += members(new)
    return found


def class_size(k: int, edges: Sequence[tuple[int, int]], touched: Sequence[int]) -> int:
    """Count graphs with the same adjacencies and open colliders, and the same arrows at targets."""
    joined = {frozenset(edge) for edge in edges}

    def opens(a: int, parents: Iterable[int]) -> list[int]:
        """Return those among an effect's parents with which a makes an open collider."""
        return [q for q in parents if q != a and frozenset((a, q)) not in joined]

    true = [[a for a, b in edges if b == v] for v in range(k)]
    fixed = {e for e in edges if set(e) & set(touched) or opens(e[0], true[e[1]])}

    def count(i: int, children: tuple[int, ...]) -> int:
        if i == len(edges):
            return 1
        total = 0
        for a, b in {edges[i], edges[i] if edges[i] in fixed else edges[i][::-1]}:
            parents = [q for q in range(k) if children[q] >> b & 1]
            wrong = any(not {q, a} <= set(true[b]) for q in opens(a, parents))
            if not wrong and not reached(Graph(children), b) >> a & 1:
                new = [row | 1 << b if v == a else row for v, row in enumerate(children)]
                total += count(i + 1, tuple(new))
        return total

    return count(0, (0,) * k)


def verdicts(k: int, spaces: Sequence[Sequence[Row]]) -> dict[tuple[int, int], set[str]]:
    """Return whether each edge is present or absent in acyclic laws that fit, over all orders.

    A space holds an equation that fits, followed by the changes that readings do not show.
    """
    everything = (1 << k) - 1

    @cache
    def freedom(v: int, before: int) -> int:
        """Return the dimension of v's equations with causes among `before`; −1 if there is none."""
        outside = [u for u in members(everything & ~before) if u != v]
        table = [tuple(vector[u] for vector in spaces[v]) for u in outside]
        width = len(spaces[v])
        changes = rank(table, range(1, width))
        return width - 1 - changes if changes == rank(table, range(width)) else -1

    @cache
    def before(done: int) -> bool:
        steps = ((v, done ^ 1 << v) for v in members(done))
        return not done or any(freedom(v, rest) >= 0 and before(rest) for v, rest in steps)

    @cache
    def after(done: int) -> bool:
        left = members(everything & ~done)
        return done == everything or any(
            freedom(v, done) >= 0 and after(done | 1 << v) for v in left
        )

    found = {}
    for p, v in product(range(k), repeat=2):
        seen = set()
        for done in range(1 << k):
            if p == v or done >> v & 1 or not (before(done) and after(done | 1 << v)):
                continue
            without = freedom(v, done & ~(1 << p))
            seen |= {"absent"} if without >= 0 else set()
            seen |= {"present"} if freedom(v, done) > without else set()
        found[p, v] = seen
    return found
