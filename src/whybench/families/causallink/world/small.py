"""Questions of `small`: few entities, and any start that leaves the question open.

There are few systems, so a question must not tell its system's answer. Questions are therefore
matched: the same view, and the same system up to renaming, has the answer yes and the answer no.
"""

from __future__ import annotations

from functools import cache

from whybench.causal.graph import Graph, canonical_form
from whybench.causal.seeds import Stream
from whybench.families.causallink.proof.plan import orders
from whybench.families.causallink.world.world import State, View, World

Orders = list[tuple[int, ...]]


def small_question(n: int, path: tuple[str | int, ...], answer: int) -> World:
    """Draw one of two questions with the same view, by its answer: no or yes. Names are empty."""
    start, *found = Stream(*path).choice(_matched(n))
    below = Stream(*path, answer).choice(found[answer])
    links = [(u, v) for u, down in enumerate(below) for v in range(n) if down >> v & 1]
    view = View("", ("",) * n, start, 0, 1, 2 * n)
    return World.of(view, "order", Graph.from_edges(n, links))


@cache
def _matched(n: int) -> list[tuple[State, Orders, Orders]]:
    """Return starts with the orders of one system: those with the answer no, those with yes."""
    found = []
    for start in range(1 << n):
        systems: dict[object, tuple[Orders, Orders]] = {}
        for below in orders(n):
            if all(not below[v] & ~start for v in range(n) if start >> v & 1):
                both = systems.setdefault(canonical_form(below), ([], []))
                both[below[0] >> 1 & 1].append(below)
        found += [(start, no, yes) for no, yes in systems.values() if no and yes]
    return found
