"""Statements that give no edge: what moves together, is denied, conjectured, or true elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.causal.seeds import Stream
from whybench.families.recite.world.plan import Graph, Statement

ROLES = ("correlated", "denied", "hedged", "elsewhere")

QUIET = ("mention", "plain")
"""Roles that do not even seem to give an edge."""

TRIES = 40
"""Pairs looked at before a role is given up."""


class Distractors:
    """Draws statements on concepts that are spoken of, all of them true of the graph."""

    def __init__(self, stream: Stream, graph: Graph, cast: Sequence[int]) -> None:
        self._stream = stream
        self._graph = graph
        self._cast = cast
        self._reached = [graph.reached(node) for node in range(graph.n)]
        self._spoken_of: set[tuple[int, int]] = set()

    def draw(self, role: str) -> Statement | None:
        """Speak of two concepts, of one, or of none; None if no fitting pair turns up."""
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
        """Return two concepts, often such as tempt: a gold edge turned round."""
        stream, edges = self._stream, self._graph.edge_order
        if stream.uniform() < 0.4:
            cause, effect = stream.choice(edges)
            if cause in self._cast and effect in self._cast:
                return effect, cause
        return stream.choice(self._cast), stream.choice(self._cast)

    def _fits(self, role: str, first: int, second: int) -> bool:
        """Tell whether a pair may be spoken of so: nothing that a text says contradicts its graph.

        Whatever is denied, conjectured or true elsewhere does not happen here, be it through
        others; what moves together by chance has no common cause either. One thing is said of each
        pair.
        """
        if (first, second) in self._spoken_of or self._acts(first, second):
            return False
        return role != "correlated" or not (
            self._acts(second, first) or self._share_a_cause(first, second)
        )

    def _share_a_cause(self, first: int, second: int) -> bool:
        return any({first, second} <= reached for reached in self._reached)

    def _acts(self, cause: int, effect: int) -> bool:
        """Tell whether a concept acts on another, be it through others."""
        return cause < self._graph.n and effect in self._reached[cause]
