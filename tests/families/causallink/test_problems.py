"""How many worlds and questions there are up to renaming, and that renaming changes none."""

from functools import cache

import pytest

from whybench.causal.graph import Graph, canonical_form
from whybench.causal.seeds import Stream
from whybench.episode.registry import families
from whybench.families.causallink.world.generate import _kinds
from whybench.families.causallink.world.world import View, World

FAMILY = families()["causallink"]


def all_moving(below: tuple[int, ...], x: int, y: int) -> World:
    n = len(below)
    view = View("shapes", tuple("abcdefghijkl"[:n]), (1 << n) - 1, x, y, 2 * n)
    return World.of(view, "order", Graph(below))


@cache
def orders_up_to_renaming(n: int) -> tuple[tuple[int, ...], ...]:
    """One order of each kind: a new last entity may go below any set that holds its own causes."""
    if n == 0:
        return ((),)
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    for below in orders_up_to_renaming(n - 1):
        for causes in range(1 << n - 1):
            if all(causes >> u & 1 or not below[u] & causes for u in range(n - 1)):
                rows = [b | (causes >> v & 1) << n - 1 for v, b in enumerate(below)]
                found.setdefault(canonical_form([*rows, 0]), (*rows, 0))
    return tuple(found.values())


def problems(n: int) -> tuple[int, int]:
    """Count the systems and questions, all moving, that are in matched pairs."""
    labels: dict[object, set[str]] = {}
    systems: dict[object, set[object]] = {}
    for below in orders_up_to_renaming(n):
        sources = n - sum(any(b >> v & 1 for b in below) for v in range(n))
        for label, pairs in _kinds(Graph(below)).items() if sources <= 4 else ():
            systems.setdefault(label, set()).add(below)
            found = labels.setdefault(label, set())
            found |= {repr(FAMILY.problem(all_moving(below, x, y))) for x, y in pairs}
    both = [(kind, truth) for kind, truth in labels if (kind, not truth) in labels]
    asked = set().union(*(labels[label] for label in both))
    return len(set().union(*(systems[label] for label in both))), len(asked)


@pytest.mark.parametrize(("n", "systems", "asked"), [(4, 13, 30), (5, 60, 260), (6, 310, 2405)])
def test_small_worlds_are_few(n: int, systems: int, asked: int) -> None:
    assert problems(n) == (systems, asked)


def test_large_worlds_seldom_repeat() -> None:
    suite = FAMILY.suite("large", parameters={"graphs": 15})
    worlds = [FAMILY.world(instance) for instance in suite]
    assert len({repr(FAMILY.problem(world)) for world in worlds}) > 0.98 * len(worlds)
    assert len({repr(FAMILY.system(world)) for world in worlds}) > 42


def test_renaming_changes_neither_the_system_nor_the_problem_and_asking_otherwise_does() -> None:
    stream = Stream("renaming")
    for index in range(0, 900, 45):
        world = FAMILY.world(FAMILY.suite("large")[index])
        view, to = world.view, stream.shuffled(range(world.view.n))
        names = tuple(stream.shuffled(view.names))
        renamed, turned, poorer = (
            World.of(View("workshop", names, view.start, to[x], to[y], budget), "r", moved)
            for moved in [world.graph.relabelled(to)]
            for x, y, budget in [
                (view.x, view.y, view.budget),
                (view.y, view.x, view.budget),
                (view.x, view.y, 3),
            ]
        )
        assert FAMILY.system(renamed) == FAMILY.system(world)
        assert FAMILY.problem(renamed) == FAMILY.problem(world)
        if world.truth:
            assert FAMILY.problem(turned) != FAMILY.problem(world)
        assert FAMILY.problem(poorer) != FAMILY.problem(world)


def test_edges_that_a_path_implies_change_nothing() -> None:
    view = View("shapes", ("a", "b", "c"), 0b111, 0, 2, 6)
    chain = World.of(view, "chain", Graph.from_edges(3, [(0, 1), (1, 2)]))
    closed = World.of(view, "closed", Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)]))
    assert FAMILY.problem(chain) == FAMILY.problem(closed)


def test_blocks_are_further_worlds_of_the_same_kind() -> None:
    suite = FAMILY.suite("large", parameters={"graphs": 2})
    rows = [suite.row(number) for number in range(2 * len(suite))]
    worlds = [FAMILY.world(row) for row in rows]
    assert [world.view.n for world in worlds[:36]] == [world.view.n for world in worlds[36:]]
    assert not {repr(FAMILY.problem(world)) for world in worlds[:36]} & {
        repr(FAMILY.problem(world)) for world in worlds[36:]
    }
