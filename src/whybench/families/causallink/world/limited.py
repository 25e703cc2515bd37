"""Questions of `limited`: some entities are out of reach, and the answer may be `cannot`."""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from whybench.causal.graph import Graph
from whybench.causal.seeds import Stream
from whybench.families.causallink.proof.plan import orders, right_answer
from whybench.families.causallink.world.world import View, World

ANSWERS = ("no", "yes", "cannot")

SIZE = 5
"""Entities. With four there are almost no matched questions; with six, too many orders to search.
"""

REACH = ((0, 1, 1), (0, 1, 2), (0, 0, 1), (1, 0, 0), (1, 0, 1))
"""Whether x is out of reach, whether y is, and how many others are. In other cases there are no
three questions with different answers that every single intervention leaves alike."""

Kind: TypeAlias = tuple[tuple[int, ...], ...]
"""What each single intervention shows, sorted: is it on x, is it on y, does it turn off x, does it
turn off y, and how many others it turns off, within reach and in all."""


def matched_question(path: tuple[str | int, ...], answer: int) -> World:
    """Draw one of three questions that no single intervention distinguishes, by its answer.

    The names are empty. Everything is on at the start, so only stops show something at first.
    """
    stream = Stream(*path)
    groups = _groups(stream.choice(REACH))
    return Stream(*path, answer).choice(stream.choice(groups)[ANSWERS[answer]])


@cache
def _groups(reach: tuple[int, int, int]) -> list[dict[str, list[World]]]:
    """Return all worlds with x = 0 and y = 1 by kind and answer, if a kind has all answers."""
    x_fixed, y_fixed, others = reach
    fixed = x_fixed | y_fixed << 1 | ((1 << others) - 1) << SIZE - others
    view = View("", ("",) * SIZE, (1 << SIZE) - 1, 0, 1, 2 * SIZE, fixed)
    groups: dict[Kind, dict[str, list[World]]] = {}
    for below in orders(SIZE):
        links = [(u, v) for u, down in enumerate(below) for v in range(SIZE) if down >> v & 1]
        world = World.of(view, "order", Graph.from_edges(SIZE, links))
        groups.setdefault(_kind(world), {}).setdefault(right_answer(world), []).append(world)
    return [groups[kind] for kind in sorted(groups) if len(groups[kind]) == len(ANSWERS)]


def _kind(world: World) -> Kind:
    view, shown = world.view, []
    for v in range(view.n):
        if not view.fixed >> v & 1:
            off = view.start & ~world.after_stop(view.start, v)
            others = off & ~(1 << view.x | 1 << view.y)
            counts = (others & ~view.fixed).bit_count(), others.bit_count()
            shown.append((v == view.x, v == view.y, off >> view.x & 1, off >> view.y & 1, *counts))
    return tuple(sorted(shown))
