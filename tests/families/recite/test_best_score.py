"""The best score: no answer is better, and a reader who follows the prompt reaches it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations, permutations

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.families.recite import FAMILY
from whybench.families.recite.agents.obedient import obedient_answer, said
from whybench.families.recite.answer import read
from whybench.families.recite.score import Handed, values
from whybench.families.recite.world.world import Edge, Node, View, World

SUITES = ("short", "ladder", "standard", "name_assisted")
Arrows = frozenset[tuple[str, str]]


def score(world: World, arrows: Arrows) -> float:
    """Return the headline of an answer; with given names, ends are numbers as texts."""
    told = world.view.names == "told"
    ends = [(int(a), int(b)) if told else (a, b) for a, b in sorted(arrows)]
    answer = read(world.view, {"relationships": [{"source": a, "sink": b} for a, b in ends]})
    found, _ = values(world, Handed("answered", answer, 0, False), "lexical")
    assert isinstance(found["edge_f1"], float)
    return found["edge_f1"]


def small(*pairs: tuple[int, int]) -> World:
    names = (("rainfall", "RF"), ("river level", "the level"), ("harvest",))
    nodes = tuple(Node(first, "explicit", (first, *rest)) for first, *rest in names)
    return World(View("", 3), nodes, tuple(Edge(a, b, "stated") for a, b in sorted(pairs)), "c")


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2)), ((0, 1), (1, 0), (2, 0)), ((2, 1),)])
def test_among_all_answers_on_three_nodes_only_the_gold_graph_has_the_best_score(
    pairs: tuple[tuple[int, int], ...],
) -> None:
    world = small(*pairs)
    for names in (("Rainfall", "the river level", "harvest"), ("RF", "river level", "moon phase")):
        every = list(permutations(names, 2))
        for number in range(len(every) + 1):
            for arrows in combinations(every, number):
                at = {name: place for place, name in enumerate(names) if name != "moon phase"}
                meant = {(at.get(a, a), at.get(b, b)) for a, b in arrows}
                reached = score(world, frozenset(arrows))
                assert reached <= 1.0
                assert (reached == 1.0) == (meant == set(pairs)), arrows


def documents(count: int, seed: str) -> Iterator[Instance]:
    """Yield as many documents of each suite; those of `standard` and its twin stay small."""
    for suite in SUITES:
        small = {} if suite in ("short", "ladder") else {"nodes": 12, "length": 9_000}
        rows = FAMILY.suite(suite, seed=seed, parameters=small)
        yield from (rows.row(number) for number in range(count))


def obedience(instance: Instance) -> None:
    world = FAMILY.world(instance)
    best = FAMILY.certify(instance).best_score
    assert best == 1.0
    for turn in range(3):
        episode = FAMILY.open(instance)
        answer = obedient_answer(world, Stream("obedience", instance.id, turn))
        episode.step(Action.of("submit", answer=answer))
        scored = FAMILY.score_episode(episode)
        assert scored.values["edge_f1"] == best, instance.id
        assert scored.labels["proof"] == "understood"
    trace = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
    assert FAMILY.score(instance, trace).values["edge_f1"] == best


def climb(instance: Instance, moves: int) -> float:
    """Return the best score that a local search finds: from gold, and from nothing."""
    world, luck = FAMILY.world(instance), Stream("climb", instance.id)
    told = world.view.names == "told"
    names = [
        [str(number)] if told else said(world.view.text, node)
        for number, node in enumerate(world.nodes, 1)
    ]
    gold = frozenset((names[e.cause][0], names[e.effect][0]) for e in world.edges)
    outside = [] if told else ["moon phase", "price of zinc", *world.outsiders[:3]]
    every = [name for own in names for name in own] + outside
    top = 0.0
    for start in (gold, frozenset[tuple[str, str]]()):
        here, value = start, score(world, start)
        top = max(top, value)
        for _ in range(moves):
            there = set(here)
            for _ in range(luck.choice((1, 1, 2))):
                a, b = luck.sample(every, 2)
                held = sorted(there)
                match luck.below(4):
                    case 0 if held:
                        there.discard(luck.choice(held))
                    case 1 if held:
                        arrow = luck.choice(held)
                        there = there - {arrow} | {arrow[::-1]}
                    case 2 if held:
                        there = {tuple(b if end == a else end for end in pair) for pair in there}
                    case _:
                        there.add((a, b))
            there = {pair for pair in there if pair[0] != pair[1]}
            other = score(world, frozenset(there))
            if other >= value:
                here, value = frozenset(there), other
            top = max(top, other)
    return top


def test_a_reader_who_follows_the_prompt_has_the_best_score() -> None:
    for instance in documents(2, "obedient"):
        obedience(instance)


@pytest.mark.slow
def test_a_reader_who_follows_the_prompt_has_the_best_score_on_400_documents() -> None:
    found = list(documents(100, "obedient-400"))
    assert len(found) == 400
    for instance in found:
        obedience(instance)


def test_a_local_search_over_answers_finds_nothing_better() -> None:
    for instance in documents(1, "climb"):
        assert climb(instance, 40) == 1.0


@pytest.mark.slow
def test_a_local_search_over_answers_finds_nothing_better_on_100_documents() -> None:
    found = list(documents(25, "climb-100"))
    assert [climb(instance, 300) for instance in found] == [1.0] * 100


@pytest.mark.parametrize("template", sorted({*FAMILY.templates} - {"paper"}))
def test_prompts_for_given_and_free_names_differ_in_the_names_alone(template: str) -> None:
    free, told = (
        FAMILY.open(FAMILY.suite("short", parameters={"names": names})[1])
        for names in ("free", "told")
    )
    listed = "\n".join(f"{at}: {name}" for at, name in enumerate(told.world.view.nodes, 1))
    prompts = [one.instructions(template) for one in (free, told)]
    assert listed in prompts[1]
    lines = [set(prompt.replace(listed, "").splitlines()) for prompt in prompts]
    only = [line for line in lines[0] ^ lines[1] if line.strip()]
    for line in only:  # how to name nodes, and the form of the answer
        assert any(word in line for word in ("Name", "number", "nodes", "relationships")), line
    assert len(only) == 7
    assert json.dumps(sorted(free.world.pairs)) == json.dumps(sorted(told.world.pairs))
