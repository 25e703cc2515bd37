"""Statements that give no edge: what moves together, is denied, conjectured, or true elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.core.seeds import Stream
from whybench.families.recite.plan import Graph, Statement

ROLES = ("correlated", "denied", "hedged", "elsewhere")

TRIES = 8
"""Pairs looked at before a role is given up."""


class Distractors:
    """Draws statements on concepts that are spoken of, all of them true of the graph."""

    def __init__(self, stream: Stream, graph: Graph, cast: Sequence[int]) -> None:
        self._stream = stream
        self._graph = graph
        self._cast = cast
        self._reached = [graph.reached(node) for node in range(graph.n)]

    def mention(self) -> Statement:
        """Speak of one concept."""
        return Statement("mention", {"a": (self._stream.choice(self._cast),)})

    def draw(self, role: str) -> Statement | None:
        """Speak of two concepts; None if no fitting pair turns up."""
        for _ in range(TRIES):
            first, second = self._pair()
            if first == second or not self._fits(role, first, second):
                continue
            slots = ("a", "b") if role == "correlated" else ("cause", "effect")
            return Statement(role, {slots[0]: (first,), slots[1]: (second,)})
        return None

    def _pair(self) -> tuple[int, int]:
        """Return two concepts, often such as tempt: a gold edge turned round, or two in a row."""
        stream, edges = self._stream, self._graph.edge_order
        if stream.uniform() < 0.4:
            cause, effect = stream.choice(edges)
            ahead = [b for a, b in edges if a == effect and b != cause]
            pair = (cause, stream.choice(ahead)) if ahead and stream.below(2) else (effect, cause)
            if pair[0] in self._cast and pair[1] in self._cast:
                return pair
        return stream.choice(self._cast), stream.choice(self._cast)

    def _fits(self, role: str, first: int, second: int) -> bool:
        if role == "correlated":
            return not self._acts(first, second) and not self._acts(second, first)
        if role in ("denied", "elsewhere"):  # what happens elsewhere is said not to happen here
            return not self._acts(first, second)
        return (first, second) not in self._graph.edges

    def _acts(self, cause: int, effect: int) -> bool:
        """Tell whether a concept acts on another, be it through others."""
        return cause < self._graph.n and effect in self._reached[cause]
