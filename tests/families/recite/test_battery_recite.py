"""The battery of guessers: legal, deterministic, and blind to the truth."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from whybench.episode.episode import play
from whybench.episode.guesser import Guesser
from whybench.families.recite import FAMILY
from whybench.families.recite.agents import battery, correlations, learned, words
from whybench.families.recite.agents.battery import BATTERY
from whybench.families.recite.world.knowledge import field_named
from whybench.families.recite.world.world import View, World


@pytest.fixture(autouse=True)
def few_documents(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Learn from few documents."""
    learned.training.cache_clear()
    monkeypatch.setattr(learned, "DOCUMENTS", 24)
    yield
    learned.training.cache_clear()


def test_the_family_declares_it() -> None:
    assert FAMILY.capability("battery") is BATTERY
    names = [guesser.name for guesser in BATTERY]
    assert len(set(names)) == len(names)
    assert {"constant", "prior_only", "co_mention", "correlation", "bag_of_words"} <= set(names)
    assert all(guesser.experiments == 0 for guesser in BATTERY)
    assert {guesser.name for guesser in BATTERY if not guesser.counts} == {"knowledge"}
    assert all(guesser.reason for guesser in BATTERY if not guesser.counts)


@pytest.mark.slow
@pytest.mark.parametrize("names", ["free", "told"])
def test_every_guesser_gives_one_valid_answer_the_same_each_time_and_without_the_truth(
    names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, suite = (
        FAMILY.suite("short", seed=seed, parameters={"names": names})
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
    world = FAMILY.world(FAMILY.suite("ladder")[4])
    read = words.read(world.view)
    assert set(read.names) >= {node.name for node in world.nodes}
    assert [read.words[place] for place in read.at] == [words.NAME] * len(read.names)
    told = tuple(node.name for node in world.nodes)[:3]
    assert set(words.read(replace(world.view, nodes=told)).names) == set(told)


def sentence(*given: str) -> words.Read:
    at = tuple(place for place, word in enumerate(given) if word.isupper())
    shown = tuple(words.NAME if word.isupper() else word for word in given)
    return words.Read(shown, at, tuple(given[place] for place in at), {})


def test_rules_of_the_guessers_that_do_not_learn() -> None:
    view = View("", 3)
    read = sentence("A", "raises", "B", ".", "C", "is", "raised", "by", "A", ".", "C", "and", "B")
    assert set(battery.together(view, read)) == {
        ("A", "B"), ("B", "A"), ("C", "A"), ("A", "C"), ("C", "B"), ("B", "C"),
    }  # fmt: skip
    assert set(battery.forward(view, read)) == {("A", "B"), ("C", "A"), ("C", "B")}
    assert set(battery.backward(view, read)) == {("B", "A"), ("A", "C"), ("B", "C")}
    assert set(battery.verbs(view, read)) == {("A", "B"), ("A", "C")}
    assert list(battery.next_name(view, read)) == [
        ("A", "B"), ("B", "C"), ("C", "A"), ("A", "C"), ("C", "B"),
    ]  # fmt: skip


def test_the_knowledge_guesser_draws_admissible_pairs_and_no_other() -> None:
    drawn, right = 0, 0
    for index in range(6):
        instance = FAMILY.suite("short", parameters={"names": "told"})[index]
        world = FAMILY.world(instance)
        found = set(battery.knowledge(world.view, words.read(world.view)))
        named = zip(world.named(), world.edges, strict=True)
        assert all((pair in found) == bool(edge.plausible) for pair, edge in named)
        drawn += len(found)
        right += sum(bool(edge.plausible) for edge in world.edges)
    assert drawn > 1.5 * right


def test_printed_figures_are_found_in_words_and_tables() -> None:
    one, two, three = (concept.name for concept in field_named("economy").concepts[:3])
    text = f"""The {one} and {two} are correlated (r = −0.31, p < 0.001).

Table 4 reports the regression of {three} (R² = 0.41).

Table 4. Regression

| Regressor | Coefficient | SE | p |
|---|---|---|---|
| own value, lagged | 0.40 | 0.04 | < 0.001 |
| {one} | −0.30 | 0.10 | 0.003 |
| {two} | 0.02 | 0.04 | 0.610 |

Table 5. Correlations

| Quantity | (1) | (2) |
|---|---|---|
| (1) {two} |  |  |
| (2) {three} | 0.55 |  |
"""
    view = View(text, 3, "told", tuple(sorted((one, two, three))))
    found = correlations.printed_correlations(view)
    assert found == {(one, two): 0.31, (two, three): 0.55}
    ratios = correlations.printed_regressions(view)
    assert ratios == {(one, three): pytest.approx(3.0), (two, three): pytest.approx(0.5)}


@pytest.mark.parametrize("fitted", [learned.remembered, learned.ridge])
def test_what_is_learned_is_the_direction_that_words_stood_for(fitted: Any) -> None:
    view = View("", 2)
    known = [
        (view, sentence("A", "raises", "B", "."), {("A", "B")}),
        (view, sentence("A", "is", "due", "to", "B", "."), {("B", "A")}),
        (view, sentence("A", "and", "B", "are", "alike", "."), set()),
    ] * 20
    weights = fitted(known)
    found = weights(sentence("X", "raises", "Y", "."))
    assert found["X", "Y"] > 0.5 > 0.2 > found["Y", "X"]
    found = weights(sentence("X", "is", "due", "to", "Y", "."))
    assert found["Y", "X"] > 0.5 > 0.2 > found["X", "Y"]
    assert max(weights(sentence("X", "and", "Y", "are", "alike", ".")).values()) < 0.3
