"""Questions of `small`: few entities, and a start that leaves the question open.

A question must not tell its system's answer, and a system not the answer. Questions are therefore
matched: the same view, and the same system up to renaming, has every answer equally often.

Two or three entities have few systems. With four or five, some are out of reach, so that what can
be found out stays within 6 bits.
"""

from __future__ import annotations

from functools import cache

from whybench.causal.graph import Graph, canonical_form
from whybench.causal.seeds import Stream
from whybench.families.causallink.proof.plan import plan_for
from whybench.families.causallink.world.limited import ANSWERS
from whybench.families.causallink.world.world import State, View, World

VIEWS = {
    2: ("00 00", "11 00"),
    3: ("000 000", "001 000", "010 000", "011 000", "110 000", "111 000"),
    4: (
        *("0101 0101", "0110 0011", "0110 0111", "0111 0011", "0111 0101", "0111 0111"),
        *("1101 0101", "1101 1001", "1110 0011", "1110 1001", "1110 1100"),
        *("1111 0011", "1111 0101", "1111 1001"),
    ),
    5: ("01100 00111", "01110 01111", "11100 00111", "11110 00111", "11110 01011"),
}
"""Number of entities → views: which entities are on, and which are out of reach. The first two are
x and y. In each view at least one system has every answer, and some plan settles the question."""

Orders = list[tuple[int, ...]]


def answers(n: int) -> tuple[str, ...]:
    """Return the answers of questions with n entities."""
    return ANSWERS if n > 3 else ANSWERS[:2]


def small_question(n: int, path: tuple[str | int, ...], answer: int) -> World:
    """Draw a question by its answer; those with another answer have the same view. No names."""
    stream = Stream(*path)
    start, fixed = map(_state, stream.choice(VIEWS[n]).split())
    system = stream.choice(matched(n, start, fixed))
    below = Stream(*path, answer).choice(system[answers(n)[answer]])
    links = [(u, v) for u, down in enumerate(below) for v in range(n) if down >> v & 1]
    view = View("", ("",) * n, start, 0, 1, 2 * n, fixed)
    return World.of(view, "order", Graph.from_edges(n, links))


def _state(text: str) -> State:
    return sum(1 << v for v, one in enumerate(text) if one == "1")


@cache
def matched(n: int, start: State, fixed: State) -> list[dict[str, Orders]]:
    """Return for each system that has all answers its orders with each of them."""
    found: dict[object, dict[str, Orders]] = {}
    for below, answer in plan_for(n, start, fixed).possible():
        found.setdefault(canonical_form(below), {}).setdefault(answer, []).append(below)
    return [some for some in found.values() if len(some) == len(answers(n))]
