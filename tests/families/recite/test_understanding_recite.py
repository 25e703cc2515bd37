"""Labels of answers: recomputed from what the checker's parser reads in the text."""

import json
from collections import Counter

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.recite import FAMILY
from whybench.families.recite.proof.checker.verification_parser import reread
from whybench.families.recite.score import PROOF
from whybench.families.recite.world.knowledge import FIELDS, field_named

ANSWERS = 1_000
PER_DOCUMENT = 20
SUITES = ("short", "name_assisted", "ladder")
Arrows = set[tuple[str, str]]


def label_of(given: Arrows, denied: Arrows, said: Arrows) -> str:
    """Return the label from its definition."""
    if said == given:
        return "understood"
    wrong = said - given
    turned = any((b, a) in given - said for a, b in wrong)
    return "contradicted" if turned or wrong & denied else "premature"


def field_titled(title: str) -> str:
    return next(name for name in FIELDS if field_named(name).title == title)


@pytest.mark.slow
def test_labels_of_random_answers_are_those_of_an_independent_reader() -> None:
    seen: Counter[str] = Counter()
    number = 0
    while seen.total() < ANSWERS:
        suite = SUITES[number % len(SUITES)]
        parameters = {"nodes": 6 + number % 5, "length": 4_000}
        instance = FAMILY.suite(suite, seed="labels", parameters=parameters)[number]
        number += 1
        world = FAMILY.world(instance)
        told = world.view.names == "told"
        reading = reread(world.view.text, field_titled(world.domains[0]))
        ends = sorted(node.name for node in world.nodes)
        denied = {pair for pair in reading.denied if set(pair) <= set(ends)}
        given = {pair for pair in reading.given if pair not in denied}
        for turn in range(PER_DOCUMENT):
            luck = Stream("labels", number, turn)
            said = set(given)
            for _ in range(luck.choice((0, 0, 1, 1, 2))):
                arrow = luck.choice(sorted(said))
                match luck.below(5):
                    case 0:
                        said -= {arrow}
                    case 1:
                        said = said - {arrow} | {arrow[::-1]}
                    case 2 if denied:
                        said |= {luck.choice(sorted(denied))}
                    case 3 if not told:
                        said |= {(arrow[0], "zinc futures of the moon")}
                    case _:
                        said |= {tuple(luck.sample(ends, 2))}
            if not said:
                continue
            expected = label_of(given, denied, said)
            ids = {node.name: at for at, node in enumerate(world.nodes, 1)}
            edges = [
                {"source": ids[a], "sink": ids[b]} if told else {"source": a, "sink": b}
                for a, b in sorted(said)
            ]
            episode = FAMILY.open(instance)
            episode.step(Action.of("submit", answer=json.dumps({"relationships": edges})))
            score = FAMILY.score_episode(episode)
            assert score.labels["proof"] == expected, (instance.id, turn)
            assert [name for name in PROOF if score.values[name]] == [expected]
            assert FAMILY.understood(score.values) == float(expected == "understood")
            assert (score.values["edge_f1"] == 1) == (expected == "understood")
            seen[expected] += 1
    assert not seen["lucky"]
    assert min(seen[name] for name in PROOF if name != "lucky") > 50


@pytest.mark.parametrize(
    ("suite", "agent", "label"),
    [
        ("short", "exact", "understood"),
        ("short", "oracle", "understood"),
        ("short", "null", "premature"),
        ("short", "random", "contradicted"),
        ("name_assisted", "exact", "understood"),
        ("name_assisted", "null", "premature"),
    ],
)
def test_labels_of_agents(suite: str, agent: str, label: str) -> None:
    instance = FAMILY.suite(suite)[3]
    score = FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance)))
    assert score.labels["proof"] == label


def test_the_published_profile_and_missing_answers_have_no_label() -> None:
    instance = FAMILY.suite("short", profile="published")[3]
    score = FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent("exact", instance)))
    assert [score.values[name] for name in PROOF] == [None] * 4
    assert score.labels["proof"] is None
    instance = FAMILY.suite("short")[3]
    score = FAMILY.score(instance, FAMILY.open(instance).trace)
    assert [score.values[name] for name in PROOF] == [0.0] * 4
