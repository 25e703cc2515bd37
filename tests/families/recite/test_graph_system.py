"""The gold graph up to renaming: against plain search, on made documents, and as it grows."""

from dataclasses import replace
from itertools import permutations

import pytest

from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.registry import families
from whybench.families.recite.world.sizes import MOST_EDGES, MOST_NODES
from whybench.families.recite.world.world import Edge, Node, View, World

FAMILY = families()["recite"]
Pairs = set[tuple[int, int]]


def world_of(n: int, pairs: Pairs) -> World:
    nodes = tuple(Node(f"thing {v:03d}", "explicit") for v in range(n))
    return World(View("", n), nodes, tuple(Edge(*pair) for pair in sorted(pairs)), "")


def moved(pairs: Pairs, to: list[int] | tuple[int, ...]) -> Pairs:
    return {(to[a], to[b]) for a, b in pairs}


def first_of_all_renamings(n: int, pairs: Pairs) -> list[tuple[int, int]]:
    return min(sorted(moved(pairs, to)) for to in permutations(range(n)))


def test_systems_are_equal_exactly_if_some_renaming_maps_the_graphs() -> None:
    stream = Stream("system", "small")
    slow: dict[str, str] = {}
    fast: dict[str, str] = {}
    for _ in range(500):
        n = 3 + stream.below(3)
        places = list(permutations(range(n), 2))
        pairs = set(stream.sample(places, 2 + stream.below(n + 1)))
        by_search = canonical_json([n, first_of_all_renamings(n, pairs)])
        system = canonical_json(FAMILY.system(world_of(n, pairs)))
        assert slow.setdefault(by_search, system) == system
        assert fast.setdefault(system, by_search) == by_search
    assert 60 < len(slow) < 450


def test_the_largest_graphs_have_systems_too() -> None:
    for number in range(3):
        stream = Stream("system", "large", number)
        every = [(a, b) for a in range(MOST_NODES) for b in range(MOST_NODES) if a != b]
        for edges in (MOST_NODES, MOST_EDGES):
            pairs = set(stream.sample(every, edges))
            renamed = moved(pairs, stream.shuffled(range(MOST_NODES)))
            system = FAMILY.system(world_of(MOST_NODES, pairs))
            assert FAMILY.system(world_of(MOST_NODES, renamed)) == system
            turned = {(b, a) for a, b in pairs}
            assert FAMILY.system(world_of(MOST_NODES, turned)) != system


def test_how_a_text_gives_an_edge_is_of_the_problem_not_of_the_system() -> None:
    world = FAMILY.world(FAMILY.suite("short")[0])
    other = replace(world, edges=tuple(replace(e, status="unknown") for e in world.edges))
    retitled = replace(world, view=replace(world.view, text=world.view.text + "."))
    for changed in (other, retitled):
        assert FAMILY.system(changed) == FAMILY.system(world)
        assert canonical_json(FAMILY.problem(changed)) != canonical_json(FAMILY.problem(world))


@pytest.mark.parametrize("suite", ["short", "ladder"])
def test_documents_on_one_graph_share_its_system_and_no_problem(suite: str) -> None:
    instances = [FAMILY.suite(suite)[index] for index in range(4)]
    worlds = [FAMILY.world(instance) for instance in instances]
    shared = len({instance.cluster for instance in instances}) == 1
    assert shared == (suite == "ladder")
    assert len({canonical_json(FAMILY.system(world)) for world in worlds}) == (1 if shared else 4)
    assert len({canonical_json(FAMILY.problem(world)) for world in worlds}) == 4


def test_blocks_hold_other_documents() -> None:
    suite = FAMILY.suite("short")
    here, there = suite[0], replace(suite, block=1)[0]
    assert FAMILY.world(here).view.text != FAMILY.world(there).view.text
    assert here.cluster != there.cluster
