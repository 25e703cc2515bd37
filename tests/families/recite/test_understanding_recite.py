"""Labels of answers: recomputed from the text by the checker's parser and by enumeration."""

import json
from collections import Counter
from itertools import permutations

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.recite import FAMILY
from whybench.families.recite.proof.checker.verification_parser import (
    UNNAMED,
    field_titled,
    reread,
)
from whybench.families.recite.score import PROOF

ANSWERS = 1_000
PER_DOCUMENT = 20
SUITES = ("made_short", "name_assisted", "made_ladder")
Arrows = set[tuple[str, str]]


def label_of(given: Arrows, denied: Arrows, said: Arrows, unnamed: list[str]) -> str:
    """Return the label from its definition: try every way to place unnamed factors.

    An unnamed factor is written behind `UNNAMED` in the text, and behind `?` in the answer.
    """
    guessed = sorted({end for arrow in said for end in arrow if end.startswith("?")})
    for placed in permutations(unnamed, len(guessed)):
        at = dict(zip(guessed, placed, strict=True))
        moved = {(at.get(a, a), at.get(b, b)) for a, b in said}
        left_out = {arrow for arrow in given if set(arrow) & (set(unnamed) - set(placed))}
        if moved == given - left_out:
            return "understood"
    wrong = said - given
    turned = any((b, a) in given - said for a, b in wrong)
    return "contradicted" if turned or wrong & denied else "premature"


@pytest.mark.slow
def test_labels_of_random_answers_are_those_of_an_independent_reader() -> None:
    seen: Counter[str] = Counter()
    number = 0
    while seen.total() < ANSWERS:
        suite = SUITES[number % len(SUITES)]
        parameters = {"nodes": 6 + number % 5, "length": 2500}
        instance = FAMILY.suite(suite, seed="labels", parameters=parameters)[number]
        number += 1
        world = FAMILY.world(instance)
        told = world.view.names == "told"
        reading = reread(world.view.text, field_titled(world.domains[0]))
        names = {name for arrow in reading.arrows for name in arrow}
        unnamed = sorted(name for name in names if name.startswith(UNNAMED))
        known = {f"{UNNAMED}{node.kind}": node.name for node in world.nodes}
        alias = {name: known[name] if told else f"?{at}" for at, name in enumerate(unnamed)}
        given = {(alias.get(a, a), alias.get(b, b)) for a, b in reading.arrows}
        ends = sorted({end for arrow in given for end in arrow})
        for turn in range(PER_DOCUMENT):
            luck = Stream("labels", number, turn)
            said = set(given)
            if not told and luck.below(2):
                gone = luck.choice([*alias.values(), ""])
                said = {arrow for arrow in said if gone not in arrow}
            for _ in range(luck.choice((0, 0, 1, 1, 2))):
                arrow = luck.choice(sorted(said))
                match luck.below(5):
                    case 0:
                        said -= {arrow}
                    case 1:
                        said = said - {arrow} | {arrow[::-1]}
                    case 2 if turns := sorted(
                        pair for pair in reading.denied if set(pair) <= set(ends)
                    ):
                        said |= {luck.choice(turns)}
                    case 3 if not told:
                        said |= {(arrow[0], "?zinc futures of the moon")}
                    case _:
                        said |= {tuple(luck.sample(ends, 2))}
            if not said:
                continue
            if told:
                expected = label_of(given, reading.denied, said, [])
            else:
                original = {(a, b) for a, b in reading.arrows}
                expected = label_of(original, reading.denied, said, unnamed)
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
            assert expected == "understood" or score.values["edge_f1"] < 1
            seen[expected] += 1
    assert not seen["lucky"]
    assert min(seen[name] for name in PROOF if name != "lucky") > 50


@pytest.mark.parametrize(
    ("suite", "agent", "label"),
    [
        ("made_short", "exact", "understood"),
        ("made_short", "oracle", "understood"),
        ("made_short", "null", "premature"),
        ("made_short", "random", "contradicted"),
        ("name_assisted", "exact", "understood"),
        ("name_assisted", "null", "premature"),
    ],
)
def test_labels_of_agents(suite: str, agent: str, label: str) -> None:
    instance = FAMILY.suite(suite)[3]
    score = FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance)))
    assert score.labels["proof"] == label


def test_the_published_profile_and_missing_answers_have_no_label() -> None:
    instance = FAMILY.suite("made_short", profile="published")[3]
    score = FAMILY.score(instance, play(FAMILY.open(instance), FAMILY.agent("exact", instance)))
    assert [score.values[name] for name in PROOF] == [None] * 4
    assert score.labels["proof"] is None
    instance = FAMILY.suite("made_short")[3]
    score = FAMILY.score(instance, FAMILY.open(instance).trace)
    assert [score.values[name] for name in PROOF] == [0.0] * 4
