"""Bits left open: against updates drone by drone, and on worlds where nothing has an effect."""

import json
import math

import numpy as np
import pytest
from tests.twins.lockstep import lockstep

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.proof.bits import ERROR, SPREAD
from whybench.families.causalgame.view import View

SUITES = ("antenna", "zone", "weather")

Parts = dict[str, int]
Kit = dict[str, str | bool]


def opened(name: str, index: int = 0, **parameters: object) -> DroneEpisode:
    episode = FAMILY.open(FAMILY.suite(name, parameters=parameters)[index])
    assert isinstance(episode, DroneEpisode)
    return episode


def random_flight(view: View, stream: Stream) -> tuple[Parts, Kit, int]:
    """Return a legal design, and how many drones fly it."""
    low, high = view.def_range
    left, parts = view.total_def_budget - low * len(view.components), {}
    for name in stream.shuffled(view.components):
        more = stream.below(min(left, high - low) // (1 + stream.below(4)) + 1)
        parts[name], left = low + more, left - more
    kit: Kit = {}
    for slot, _, options in view.slots:
        if stream.below(2):
            kit[slot] = stream.choice(options)
    for switch in view.switches:
        if stream.below(2):
            kit[switch] = stream.below(2) == 1
    return parts, kit, 1 + stream.below(view.most_per_deploy)


def deployed(parts: Parts, kit: Kit, count: int) -> Action:
    defs = {f"{name}_def": value for name, value in parts.items()}
    return Action.of("deploy", design=json.dumps(defs), equipment=json.dumps(kit), count=str(count))


def by_single_drones(view: View, flights: list[tuple[Parts, Kit, int]]) -> float:
    """Return the bits left by the covariance itself, made smaller drone after drone."""
    options = [(s, o) for s, default, every in view.slots for o in every if o != default]
    size = 1 + len(view.components) + len(options) + len(view.switches)
    share = view.total_def_budget / len(view.components)
    covariance = SPREAD**2 * np.eye(size)
    for parts, kit, count in flights:
        row = [1.0]
        row += [parts[name] / (parts[name] + share) - 0.5 for name in view.components]
        row += [float(kit.get(slot) == option) for slot, option in options]
        row += [float(kit.get(switch) is True) for switch in view.switches]
        for _ in range(count):
            along = covariance @ row
            covariance -= np.outer(along, along) / (4 + along @ row)
    return sum(math.log2(1 + value / ERROR**2) for value in np.linalg.eigvalsh(covariance)) / 2


@pytest.mark.parametrize("name", SUITES)
def test_bits_are_those_of_single_drones(name: str) -> None:
    stream = Stream("bits", "causalgame", name)
    for index in range(4):
        episode = opened(name, index)
        flights: list[tuple[Parts, Kit, int]] = []
        for _ in range(8):
            assert FAMILY.bits_left(episode) == pytest.approx(
                by_single_drones(episode.view, flights), abs=1e-6
            )
            flight = random_flight(episode.view, stream)
            if not episode.step(deployed(*flight)).is_error:
                flights.append(flight)
        assert len(flights) >= 4


@pytest.mark.parametrize("name", SUITES)
def test_worlds_without_effects_leave_the_same_open(name: str) -> None:
    stream = Stream("bits", "causalgame", "alternatives", name)
    suite = FAMILY.suite(name)
    for index in (3, 30):
        instance = suite[index]
        episodes = [FAMILY.open(instance), *FAMILY.look_alikes(instance)]
        view = opened(name, index).view
        flights = [random_flight(view, stream) for _ in range(5)]
        actions = [deployed(*flight) for flight in flights]
        looks = [Action.of("get_history"), Action.of("query_environment", question="Any storm?")]
        bad = deployed({"nobody": 3}, {}, 1)
        lockstep(FAMILY, episodes, [*looks, *actions[:3], bad, *actions[3:]])
        left = {FAMILY.bits_left(episode) for episode in episodes}
        assert len(left) == 1, "what flights show does not matter, only which were flown"
        submit = Action("submit", actions[0].args)
        lockstep(FAMILY, episodes, [submit])
        assert {FAMILY.bits_left(episode) for episode in episodes} == left


def test_more_drones_and_other_designs_leave_less_open() -> None:
    def left(*flights: tuple[Parts, Kit, int]) -> float:
        episode = opened("antenna")
        for flight in flights:
            assert not episode.step(deployed(*flight)).is_error
        return FAMILY.bits_left(episode)

    view = opened("antenna").view
    stream = Stream("bits", "causalgame", "designs")
    one, other = (random_flight(view, stream)[:2] for _ in range(2))
    assert 0 < left((*one, 20), (*other, 20)) < left((*one, 20), (*one, 20)) < left((*one, 20))
    assert left((*one, 20)) < left((*one, 2)) < left()
    assert left((*one, 20), (*one, 20)) == left((*one, 40))


def test_the_exact_agent_leaves_less_than_half_open() -> None:
    for name in SUITES:
        instance = FAMILY.suite(name)[1]
        episode = FAMILY.open(instance)
        start = FAMILY.bits_left(episode)
        for action in FAMILY.experiments(FAMILY.exact_run(instance)):
            episode.step(action)
        assert 0 < FAMILY.bits_left(episode) < start / 2


def test_where_survivors_are_not_counted_only_the_records_shown_count() -> None:
    stream = Stream("bits", "causalgame", "counts")
    uncounted, counted = opened("antenna", counts=False), opened("antenna")
    parts, kit, _ = random_flight(counted.view, stream)
    uncounted.step(deployed(parts, kit, 30))
    counted.step(deployed(parts, kit, 5))
    assert FAMILY.bits_left(uncounted) == FAMILY.bits_left(counted)


def test_no_design_that_the_released_rules_allow_breaks_it() -> None:
    episode = FAMILY.open(FAMILY.suite("antenna_trap", profile="published")[0])
    before = FAMILY.bits_left(episode)
    assert not episode.step(deployed({"engine": 10**40}, {"antenna_mode": "nonsense"}, 5)).is_error
    assert 0 < FAMILY.bits_left(episode) < before
