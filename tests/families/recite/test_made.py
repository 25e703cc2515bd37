"""Made documents: pure functions of their coordinates, told at five levels of explicitness."""

import os
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from whybench.causal.canonical import digest
from whybench.families.recite.family import ReCITE
from whybench.families.recite.parameters import COLLECTIONS, levels, matched
from whybench.families.recite.world.frames import Frame, frames
from whybench.families.recite.world.generate import Order, made
from whybench.families.recite.world.language import language, sentences
from whybench.families.recite.world.vocabulary import FIELDS, field_named
from whybench.families.recite.world.world import World

FRAMES: dict[str, Frame] = {frame.id: frame for role in frames().values() for frame in role}
MADE = ("made_short", "made_long", "made_ladder")
LEVELS = 5


@cache
def rungs(graph: int) -> tuple[World, ...]:
    """Return one graph at all levels, through the family's face."""
    family = ReCITE()
    suite = family.suite("made_ladder", seed="rungs")
    return tuple(family.world(suite[LEVELS * graph + level]) for level in range(LEVELS))


every_ladder = pytest.mark.parametrize("graph", range(12))


@every_ladder
def test_a_ladder_has_one_graph_with_the_same_names(graph: int) -> None:
    worlds = rungs(graph)
    assert [world.level for world in worlds] == [1, 2, 3, 4, 5]
    assert len({world.pairs for world in worlds}) == 1
    assert len({tuple(node.name for node in world.nodes) for world in worlds}) == 1
    assert len({world.cluster for world in worlds}) == 1
    assert len({world.domains for world in worlds}) == 1


@every_ladder
def test_signs_are_the_same_at_every_level(graph: int) -> None:
    told: dict[tuple[int, int], set[str]] = defaultdict(set)
    for world in rungs(graph):
        for edge in world.edges:
            told[edge.cause, edge.effect] |= {FRAMES[key].sign for key in edge.frames} - {"0"}
    assert all(len(signs) <= 1 for signs in told.values())
    assert sum(len(signs) for signs in told.values()) > len(told) / 2


@every_ladder
def test_each_level_has_its_own_text(graph: int) -> None:
    texts = [world.view.text for world in rungs(graph)]
    assert len(set(texts)) == LEVELS
    bodies = [set(text.split("\n")) for text in texts]
    for one in range(LEVELS):
        for other in range(one):
            common = {line for line in bodies[one] & bodies[other] if len(line) > 80}
            assert common == set()


@every_ladder
def test_documents_grow_more_explicit_level_by_level(graph: int) -> None:
    worlds = rungs(graph)
    order = ("absent", "implicit", "explicit")
    for place in range(len(worlds[0].nodes)):
        heights = [order.index(world.nodes[place].mention) for world in worlds]
        assert heights == sorted(heights)
    stated = [sum(edge.status == "stated" for edge in world.edges) for world in worlds]
    assert stated == sorted(stated)
    assert stated[0] < stated[-1]
    assert {edge.status for edge in worlds[-1].edges} == {"stated"}
    assert {node.mention for node in worlds[-1].nodes} == {"explicit"}


def test_levels_have_their_shares_over_many_documents() -> None:
    """Edges at absent nodes are derivable; the others have the shares of their level."""
    for level, shares in enumerate(levels(), start=1):
        edges = [
            (world, edge)
            for graph in range(12)
            for world in rungs(graph)[level - 1 : level]
            for edge in world.edges
        ]
        spoken = [
            edge.status
            for world, edge in edges
            if "absent" not in (world.nodes[edge.cause].mention, world.nodes[edge.effect].mention)
        ]
        assert spoken.count("stated") / len(spoken) == pytest.approx(shares.stated, abs=0.02)
        assert spoken.count("implied") / len(spoken) == pytest.approx(shares.implied, abs=0.02)
        nodes = [n.mention for graph in range(12) for n in rungs(graph)[level - 1].nodes]
        assert nodes.count("explicit") / len(nodes) == pytest.approx(shares.explicit, abs=0.03)
        assert nodes.count("implicit") / len(nodes) == pytest.approx(shares.implicit, abs=0.03)


def test_the_ladder_suite_has_five_levels_of_each_graph() -> None:
    family = ReCITE()
    suite = family.suite("made_ladder")
    assert len(suite) == 200
    clusters = [suite[index].cluster for index in range(15)]
    assert [clusters.count(cluster) for cluster in dict.fromkeys(clusters)] == [5, 5, 5]
    assert len({suite[index].id for index in range(15)}) == 15


@pytest.mark.parametrize("name", MADE)
def test_made_suites_keep_to_what_they_announce(name: str) -> None:
    bounds = {"made_short": (5, 14), "made_long": (20, 140), "made_ladder": (8, 30)}
    family = ReCITE()
    suite = family.suite(name, seed="kept")
    assert len(suite) == COLLECTIONS[name].size
    for index in range(0, 40, 4):
        world = family.world(suite[index])
        low, high = bounds[name]
        assert low <= world.view.count == len(world.nodes) <= high
        assert world.view.nodes == ()
        assert (world.level > 0) == (name == "made_ladder")


def test_told_names_are_all_that_differs_in_the_name_assisted_suite() -> None:
    family = ReCITE()
    free, told = family.suite("standard"), family.suite("name_assisted")
    for index in range(4):
        one, other = family.world(free[index]), family.world(told[index])
        assert one.view.text == other.view.text
        assert one.edges == other.edges
        assert one.view.nodes == ()
        assert other.view.nodes == tuple(sorted(node.name for node in other.nodes))


@pytest.mark.parametrize("field", FIELDS)
def test_parameters_are_followed(field: str) -> None:
    family = ReCITE()
    parameters = {"field": field, "nodes": 18, "length": 9_000, "explicit": 1.0, "implicit": 0.0}
    world = family.world(family.suite("made_short", parameters=parameters)[1])
    assert world.domains == (field_named(field).title,)
    assert len(world.nodes) == 18
    assert 8_500 <= len(world.view.text) <= 9_700
    assert {node.mention for node in world.nodes} == {"explicit"}


@pytest.mark.parametrize(
    ("share", "barred"),
    [(0.0, {"correlated", "denied", "hedged", "elsewhere"}), (1.0, {"mention", "plain"})],
)
def test_the_share_of_distractors_is_followed(share: float, barred: set[str]) -> None:
    for number in range(6):
        world = made(Order("short", "share", number, matched(), length=6_000, distractors=share))
        field = next(name for name in FIELDS if (field_named(name).title,) == world.domains)
        read = [language(field).read(sentence) for sentence in sentences(world.view.text)]
        roles = [found[0].frame.role for found in read if found]
        assert len(roles) == len(read)
        assert barred.isdisjoint(roles)
        assert len(roles) > len(world.edges)


def fingerprint(seed: str, count: int = 3) -> list[str]:
    """Return hashes of documents of every source and level."""
    family = ReCITE()
    orders = [
        Order(source, seed, number, matched())
        for source in ("short", "matched", "long")
        for number in range(count)
    ] + [Order("ladder", seed, 0, shares, level) for level, shares in enumerate(levels(), start=1)]
    return [digest(family.fingerprint(made(order)).content).hex() for order in orders]


@pytest.mark.slow
def test_documents_depend_on_their_coordinates_alone() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r});"
        "from test_made import fingerprint; print(fingerprint('same'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "4242"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str(fingerprint("same"))


def test_another_seed_makes_other_documents() -> None:
    assert set(fingerprint("one", 1)).isdisjoint(fingerprint("other", 1))


def test_graphs_do_not_repeat_in_a_suite() -> None:
    worlds = [made(Order("short", "repeat", number, matched())) for number in range(60)]
    assert len({world.view.text for world in worlds}) == 60
    assert len({tuple(node.name for node in world.nodes) for world in worlds}) == 60
