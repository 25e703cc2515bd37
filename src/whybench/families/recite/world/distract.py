"""Statements without an edge: correlations, and causes denied, conjectured or true elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.causal.seeds import Stream
from whybench.families.recite.world.plan import Graph, Statement

ROLES = ("correlated", "denied", "hedged", "elsewhere")

QUIET = ("mention", "plain")
"""Roles that do not even seem to give an edge."""

TRIES = 40
"""Pairs that are tried before a role is given up."""


class Distractors:
    """Draws statements about mentioned concepts, all of them true of the graph."""

    def __init__(self, stream: Stream, graph: Graph, cast: Sequence[int]) -> None:
        self._stream = stream
        self._graph = graph
        self._cast = cast
        self._reached = [graph.reached(node) for node in range(graph.n)]
        self._spoken_of: set[tuple[int, int]] = set()

    def draw(self, role: str) -> Statement | None:
        """Return a statement about two, one or no concepts; None if no pair fits."""
        if role in QUIET:
            fills = {"a": (self._stream.choice(self._cast),)} if role == "mention" else {}
            return Statement(role, fills)
        for _ in range(TRIES):
            first, second = self._pair()
            if first == second or not self._fits(role, first, second):
                continue
            self._spoken_of |= {(first, second), (second, first)}
            slots = ("a", "b") if role == "correlated" else ("cause", "effect")
            return Statement(role, {slots[0]: (first,), slots[1]: (second,)})
        return None

    def _pair(self) -> tuple[int, int]:
        """Return two concepts, often the ends of a reversed gold edge, because these tempt most."""
        stream, edges = self._stream, self._graph.edge_order
        if stream.uniform() < 0.4:
            cause, effect = stream.choice(edges)
            if cause in self._cast and effect in self._cast:
                return effect, cause
        return stream.choice(self._cast), stream.choice(self._cast)

    def _fits(self, role: str, first: int, second: int) -> bool:
        """Return whether such a statement about a pair is true of the graph.

        A cause that is denied, conjectured or true elsewhere has no effect here, not even an
        indirect one. Quantities that merely correlate have no common cause. Each pair has at most
        one such statement.
        """
        if (first, second) in self._spoken_of or self._acts(first, second):
            return False
        return role != "correlated" or not (
            self._acts(second, first) or self._share_a_cause(first, second)
        )

    def _share_a_cause(self, first: int, second: int) -> bool:
        return any({first, second} <= reached for reached in self._reached)

    def _acts(self, cause: int, effect: int) -> bool:
        """Return whether a concept affects another, directly or indirectly."""
        return cause < self._graph.n and effect in self._reached[cause]
