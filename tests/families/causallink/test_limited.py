"""Questions with entities out of reach, whose answer may be `cannot`."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import log2

import pytest
from tests.families.causallink.test_check_causallink import Below, drives, result

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.families.causallink import FAMILY
from whybench.families.causallink.agents.battery import BATTERY
from whybench.families.causallink.prompts.theme import read_theme
from whybench.families.causallink.world.world import View

SUITE = FAMILY.suite("limited")


def alike(one: Below, other: Below, view: View) -> bool:
    """Whether no sequence of interventions within reach tells two orders apart."""
    waiting, known = [view.start], {view.start}
    while waiting:
        state = waiting.pop()
        for v in range(view.n):
            if not view.fixed >> v & 1:
                after = result(one, state, v)
                if result(other, state, v) != after:
                    return False
                if after not in known:
                    known.add(after)
                    waiting.append(after)
    return True


@cache
def gold(order: Below, view: View) -> str:
    """The right answer by comparing the order with every other one."""
    truth = order[view.x] >> view.y & 1
    rivals = (rival for rival in drives(view.n) if rival[view.x] >> view.y & 1 != truth)
    if any(alike(order, rival, view) for rival in rivals):
        return "cannot"
    return "yes" if truth else "no"


def check_answers(count: int) -> None:
    for instance in (SUITE[i] for i in range(count)):
        world = FAMILY.world(instance)
        assert FAMILY.truth(instance)["answer"] == gold(world.below, world.view)


def test_a_few_answers_agree_with_a_comparison_of_all_pairs_of_orders() -> None:
    check_answers(8)


@pytest.mark.slow
def test_answers_agree_with_a_comparison_of_all_pairs_of_orders() -> None:
    check_answers(100)


def test_answers_are_equally_frequent_for_every_reach() -> None:
    counts = Counter(
        (view.fixed.bit_count(), view.fixed >> view.x & 1, FAMILY.truth(instance)["answer"])
        for instance in SUITE
        for view in [FAMILY.world(instance).view]
    )
    kinds = {kind[:2] for kind in counts}
    assert len(kinds) == 5
    for kind in kinds:
        assert counts[*kind, "yes"] == counts[*kind, "no"] == counts[*kind, "cannot"] > 0


@pytest.mark.slow
def test_one_intervention_tells_nothing() -> None:
    """Learned guessers with at most one intervention stay at chance on another seed."""
    other = FAMILY.suite("limited", seed="other")
    for guesser in BATTERY:
        if guesser.name in ("lookup0", "hold_x", "best_1"):
            player = guesser.fit(SUITE)
            right = 0.0
            for instance in other:
                episode = FAMILY.open(instance)
                play(episode, player(instance))
                right += FAMILY.score(instance, episode.trace).values["accuracy"]
            assert abs(right / len(other) - 1 / 3) < 0.09, guesser.name


def possible(instance: Instance, moves: list[tuple[int, int]]) -> set[str]:
    """The right answers of all orders that fit: pairs of entity and state after acting on it."""
    view, fitting = FAMILY.world(instance).view, []
    for order in drives(view.n):
        state, fits = view.start, True
        for v, after in moves:
            fits = fits and result(order, state, v) == after
            state = after
        fitting += [order] if fits else []
    return {gold(order, view) for order in fitting}


@pytest.mark.slow
def test_labels_agree_with_all_orders_that_fit() -> None:
    luck, seen = Stream("labels of limited"), Counter[str]()
    for number in range(60):
        instance = SUITE[number * 5]
        episode, view = FAMILY.open(instance), FAMILY.world(instance).view
        theme, moves = read_theme(view.theme), []
        for _ in range(2 + luck.below(7)):
            v = view.names.index(luck.choice(view.movable))
            verb = theme.stop if episode.state >> v & 1 else theme.start
            episode.step(Action.of(verb, **{theme.noun: view.names[v]}))
            moves.append((v, episode.state))
        said = luck.choice(view.answers)
        episode.step(Action.of("answer", answer=said))
        open_answers = possible(instance, moves)
        right = said == FAMILY.truth(instance)["answer"]
        if right:
            label = "understood" if len(open_answers) == 1 else "lucky"
        else:
            label = "premature" if said in open_answers else "contradicted"
        seen[label] += 1
        assert FAMILY.score(instance, episode.trace).labels["proof"] == label
    assert len(seen) == 4


def test_entities_out_of_reach_cannot_be_moved() -> None:
    instance = SUITE[0]
    episode, view = FAMILY.open(instance), FAMILY.world(instance).view
    theme = read_theme(view.theme)
    name = next(name for name in view.names if name not in view.movable)
    refused = episode.step(Action.of(theme.stop, **{theme.noun: name}))
    assert refused.is_error
    assert episode.applied == 0
    assert "out of reach" in refused.data["reason"]


def test_bits_count_orders_that_interventions_can_tell_apart() -> None:
    small = FAMILY.suite("small")
    seen = set()
    for instance in (small[4 * i + 2] for i in range(30)):
        view = FAMILY.world(instance).view
        off = [v for v in range(view.n) if not view.start >> v & 1]
        kinds: list[Below] = []
        for order in drives(view.n):
            if any(order[u] >> v & 1 for u in range(view.n) if u not in off for v in off):
                continue
            if not any(alike(order, other, view) for other in kinds):
                kinds.append(order)
        assert FAMILY.bits_left(FAMILY.open(instance)) == pytest.approx(log2(len(kinds)))
        assert FAMILY.truth(instance)["answer"] == gold(FAMILY.world(instance).below, view)
        seen.add(len(kinds))
    assert len(seen) >= 4


@pytest.mark.slow
def test_claims_are_told_apart() -> None:
    found = set()
    for instance in (SUITE[i] for i in range(12)):
        for said in ("yes", "no", "cannot"):
            episode = FAMILY.open(instance)
            episode.step(Action.of("answer", answer=said))
            values = FAMILY.score(instance, episode.trace).values
            names = [n for n in ("over_claim", "under_claim", "wrong_claim") if values[n]]
            answer = FAMILY.truth(instance)["answer"]
            assert bool(names) == (said != answer)
            found.add((answer, said, *names))
    assert ("cannot", "yes", "over_claim") in found
    assert ("no", "cannot", "under_claim") in found
    assert ("yes", "no", "wrong_claim") in found


def test_elsewhere_cannot_is_no_answer() -> None:
    instance = FAMILY.suite("advanced")[0]
    episode = FAMILY.open(instance)
    assert episode.step(Action.of("answer", answer="cannot")).is_error
    assert FAMILY.score(instance, episode.trace).values["over_claim"] is None
