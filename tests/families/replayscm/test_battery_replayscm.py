"""The battery of guessers: legal, deterministic, blind to the truth, and not good enough."""

from dataclasses import replace
from typing import Any

import pytest

from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.guesser import Guesser
from whybench.episode.instance import Instance
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.agents.battery import BATTERY
from whybench.families.replayscm.world.world import World

SUITES = ("hid_cert", "roots_cert", "block", "ord_match", "alt_ord", "lab")


def actions(guesser: Guesser, suite: str, index: int) -> list[Action]:
    """Let a guesser that was fitted on the public seed play one of its instances."""
    there = FAMILY.suite(suite)
    instance = there[index]
    trace = play(FAMILY.open(instance), guesser.fit(there)(instance))
    assert trace.outcome == "answered"
    return list(trace.actions)


def test_the_family_declares_it_with_limits() -> None:
    assert FAMILY.capability("battery") is BATTERY
    names = [guesser.name for guesser in BATTERY]
    assert len(set(names)) == len(names)
    assert {"constant", "prior_only", "random", "lookup0", "memory", "all_roots"} <= set(names)
    assert all(guesser.counts or guesser.reason for guesser in BATTERY)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("guesser", BATTERY, ids=lambda guesser: guesser.name)
def test_every_guesser_gives_a_valid_answer_the_same_each_time(
    guesser: Guesser, suite: str
) -> None:
    first = actions(guesser, suite, 7)
    assert first == actions(guesser, suite, 7)
    made = len(first) - 1
    most = FAMILY.suite(suite)[7].parameters.get("budget", 24)
    assert made <= (most if guesser.experiments is None else guesser.experiments)
    assert made == 0 or suite == "lab"


@pytest.mark.parametrize("guesser", BATTERY, ids=lambda guesser: guesser.name)
def test_no_guesser_sees_the_truth_of_the_instance_that_it_plays(
    guesser: Guesser, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = FAMILY.suite("hid_cert")
    instance = suite[40]  # beyond those that are learned from
    player = guesser.fit(suite)
    before = play(FAMILY.open(instance), player(instance)).actions
    world = FAMILY.world(instance)
    first = next(
        name for name, text in zip(world.view.names, world.formulas, strict=True) if not text
    )
    other = replace(
        world, formulas=tuple(first if text else "" for text in world.formulas), heldout=()
    )

    def swapped(_: Any, asked: Instance) -> World:
        assert asked == instance
        return other

    monkeypatch.setattr(type(FAMILY), "world", swapped)
    assert play(FAMILY.open(instance), player(instance)).actions == before


def test_guessers_that_count_stay_below_the_limit() -> None:
    suite = FAMILY.suite("hid_cert")
    for guesser in BATTERY:
        if guesser.counts:
            player = guesser.fit(suite)
            solved = [
                FAMILY.score(suite[i], play(FAMILY.open(suite[i]), player(suite[i]))).values[
                    "solved"
                ]
                for i in range(40, 80)
            ]
            assert sum(solved) / len(solved) <= 0.1, guesser.name
