"""The battery of guessers: legal, deterministic, and blind to the truth."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from whybench.episode.episode import play
from whybench.episode.guesser import Guesser
from whybench.families.recite import FAMILY
from whybench.families.recite.agents import battery
from whybench.families.recite.agents.battery import BATTERY
from whybench.families.recite.world.world import View, World


@pytest.fixture(autouse=True)
def few_documents(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Learn from few documents."""
    battery._training.cache_clear()
    monkeypatch.setattr(battery, "DOCUMENTS", 24)
    yield
    battery._training.cache_clear()


def test_the_family_declares_it() -> None:
    assert FAMILY.capability("battery") is BATTERY
    names = [guesser.name for guesser in BATTERY]
    assert len(set(names)) == len(names)
    assert {"constant", "prior_only", "co_mention", "memory", "bag_of_words"} <= set(names)
    assert all(guesser.counts and guesser.experiments == 0 for guesser in BATTERY)


@pytest.mark.parametrize("names", ["free", "told"])
def test_every_guesser_gives_one_valid_answer_the_same_each_time_and_without_the_truth(
    names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, suite = (
        FAMILY.suite("made_short", seed=seed, parameters={"names": names})
        for seed in ("battery", "public")
    )
    instance = suite[3]
    world = FAMILY.world(instance)
    first = world.edges[0]
    other = replace(
        world,
        nodes=tuple(replace(node, mention="absent", aliases=()) for node in world.nodes),
        edges=(replace(first, cause=first.effect, effect=first.cause),),
        denied=frozenset(),
    )

    def played(guesser: Guesser) -> Any:
        trace = play(FAMILY.open(instance), guesser.fit(train)(instance))
        assert trace.outcome == "answered", guesser.name
        return trace.actions

    before = [played(guesser) for guesser in BATTERY]
    assert all(len(actions) == 1 for actions in before)
    true = type(FAMILY).world

    def swapped(family: Any, asked: Any) -> World:
        found: World = other if asked == instance else true(family, asked)
        return found

    monkeypatch.setattr(type(FAMILY), "world", swapped)
    assert [played(guesser) for guesser in BATTERY] == before


def test_names_are_found_in_the_text_and_only_given_ones_if_names_are_given() -> None:
    world = FAMILY.world(FAMILY.suite("made_ladder")[4])  # every node is named, stated by one frame
    read = battery._read(world.view)
    assert set(read.names) >= {node.name for node in world.nodes}
    assert [read.words[place] for place in read.at] == [battery.NAME] * len(read.names)
    told = tuple(node.name for node in world.nodes)[:3]
    assert set(battery._read(replace(world.view, nodes=told)).names) == set(told)


def sentence(*words: str) -> battery.Read:
    at = tuple(place for place, word in enumerate(words) if word.isupper())
    shown = tuple(battery.NAME if word.isupper() else word for word in words)
    return battery.Read(shown, at, tuple(words[place] for place in at))


def test_rules_of_the_guessers_that_do_not_learn() -> None:
    view = View("", 3)
    read = sentence("A", "raises", "B", ".", "C", "is", "raised", "by", "A", ".", "C", "and", "B")
    assert set(battery._together(view, read)) == {
        ("A", "B"), ("B", "A"), ("C", "A"), ("A", "C"), ("C", "B"), ("B", "C"),
    }  # fmt: skip
    assert set(battery._forward(view, read)) == {("A", "B"), ("C", "A"), ("C", "B")}
    assert set(battery._backward(view, read)) == {("B", "A"), ("A", "C"), ("B", "C")}
    assert set(battery._verbs(view, read)) == {("A", "B"), ("A", "C")}
    assert list(battery._next_name(view, read)) == [
        ("A", "B"), ("B", "C"), ("C", "A"), ("A", "C"), ("C", "B"),
    ]  # fmt: skip


@pytest.mark.parametrize("fitted", [battery._remembered, battery._ridge])
def test_what_is_learned_is_the_direction_that_words_stood_for(fitted: Any) -> None:
    view = View("", 2)
    known = [
        (view, sentence("A", "raises", "B", "."), {("A", "B")}),
        (view, sentence("A", "is", "due", "to", "B", "."), {("B", "A")}),
        (view, sentence("A", "and", "B", "are", "alike", "."), set()),
    ] * 20
    weigh = fitted(known)
    there, back = weigh(sentence("X", "raises", "Y", "."), 0, 2)
    assert there > 0.5 > 0.2 > back
    there, back = weigh(sentence("X", "is", "due", "to", "Y", "."), 0, 4)
    assert back > 0.5 > 0.2 > there
    assert max(weigh(sentence("X", "and", "Y", "are", "alike", "."), 0, 2)) < 0.3
