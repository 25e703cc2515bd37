"""Certified histories: what they seem to say, who falls for it, and what would win instead."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from tests.tables import sampled

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.families.causalgame.agents.agent_state import AgentState, Past, Trial
from whybench.families.causalgame.agents.correlational import (
    correlational,
    recommended,
    sample,
    trend,
)
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import Parameters
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world.design import SUFFIX, Design, design
from whybench.families.causalgame.world.fleet import Bools, Ints
from whybench.families.causalgame.world.generate import built, world
from whybench.families.causalgame.world.physics.catalogue import KINDS, physics
from whybench.families.causalgame.world.physics.flight import STATUS, survival
from whybench.families.causalgame.world.records import measured, visible
from whybench.families.causalgame.world.scenario import Rules, scenarios
from whybench.families.causalgame.world.world import World

SEEDS = 200
FLEETS = 100
"""Seeds whose fleet is flown."""

DRONES = 50_000
MARGIN = 0.015
"""So far below the bar is everything that the history leads to."""

RULES = {name: scenario.certified for name, scenario in scenarios().items()}
WITH_HISTORY = [name for name, rules in RULES.items() if rules.history.size]
ADVERTISED = [name for name, rules in RULES.items() if rules.spurious is not None]
PARADOXES = [name for name in RULES if name.endswith("simpsons_paradox")]


@dataclass(frozen=True, slots=True)
class Records:
    """The visible records of one seed."""

    past: Past
    dose: Ints
    """The advertised lever."""
    returned: Bools
    strata: tuple[str, ...]
    chosen: Design
    """What the correlational agent makes of them."""
    won: bool | None
    """Whether its fleet came back, where it was flown."""


@cache
def records(name: str) -> tuple[Records, ...]:
    return tuple(
        seen(world(name, RULES[name], "public", index), index < FLEETS) for index in range(SEEDS)
    )


def seen(found: World, flown: bool) -> Records:
    batch, spurious = found.history, found.rules.spurious
    read = measured(found, batch, ())
    drones = visible(found, batch, read)
    designs = {str(place): built for place, built in enumerate(batch.designs)}
    rows = tuple(
        {"design": str(batch.which[drone]), "status": STATUS[int(read.returned[drone])]}
        for drone in drones
    )
    assert spurious is not None
    stratum = batch.flights.environment.column(spurious.strata) if spurious.strata else None
    past = Past(designs, rows)
    chosen = recommended(view(found), past)
    return Records(
        past,
        np.array([dose(found.rules, batch.designs[batch.which[drone]]) for drone in drones]),
        read.returned[drones],
        tuple(str(stratum[drone]) if stratum is not None else "" for drone in drones),
        chosen,
        found.final(chosen).survival_rate >= found.rules.threshold if flown else None,
    )


def dose(rules: Rules, flown: Design) -> int:
    assert rules.spurious is not None
    lever, _, option = rules.spurious.lever.partition("=")
    if option:
        return int(dict(flown.equipment).get(lever) == option)
    return flown.defs[physics(rules.physics).sheet.index[lever.removesuffix(SUFFIX)]]


@cache
def estimated(name: str, flown: Design, drones: int = DRONES) -> float:
    return survival(physics(name), flown, "stage2", Stream("test", "histories", name), drones)


# What the records seem to say --------------------------------------------------------------------


def test_every_certified_history_advertises_a_sign():
    assert ADVERTISED == WITH_HISTORY
    assert [name for name in RULES if name not in WITH_HISTORY] == [
        "antenna_trap_no_history",
        "deployment_zone_trap_categorical_no_history",
    ]
    assert {name: rules.spurious.strata for name, rules in RULES.items() if rules.spurious} == {
        **dict.fromkeys(ADVERTISED),
        "antenna_trap_simpsons_paradox": "is_storm",
        "deployment_zone_trap_categorical_simpsons_paradox": "mission_zone",
    }


def test_the_trend_is_pearsons():
    from scipy.stats import pearsonr

    luck = Stream("trend")
    for _ in range(20):
        doses = np.array([luck.below(20) for _ in range(40)])
        returned = np.array([bool(luck.below(2)) for _ in range(40)])
        assert trend(doses, returned) == pytest.approx(40**0.5 * pearsonr(doses, returned)[0])
    assert trend(np.array([5, 5]), np.array([True, False])) == 0.0


@pytest.mark.parametrize("name", sampled(ADVERTISED, 0))
def test_visible_records_show_the_advertised_sign(name: str):
    sign = RULES[name].spurious.sign
    shown = [sign * trend(found.dose, found.returned) > 0 for found in records(name)]
    assert np.mean(shown) >= 0.9


@pytest.mark.parametrize("name", sampled(PARADOXES))
def test_the_paradox_is_in_the_records(name: str):
    """Cochran-Armitage trends, |z| ≥ 2: one sign overall, the other wherever the lever varied."""
    sign = RULES[name].spurious.sign
    held, varied = [], set()
    for found in records(name):
        trends = {}
        for stratum in set(found.strata):
            inside = np.array(found.strata) == stratum
            if len(set(found.dose[inside].tolist())) > 1:
                trends[stratum] = sign * trend(found.dose[inside], found.returned[inside])
        varied.add(frozenset(trends))
        overall = sign * trend(found.dose, found.returned)
        held.append(overall >= 2 and max(trends.values()) <= -2)
    assert np.mean(held) >= 0.9
    assert varied in ({frozenset({"True", "False"})}, {frozenset({"gamma", "epsilon"})})


@pytest.mark.parametrize("name", WITH_HISTORY)
def test_histories_vary_and_could_be_flown_today(name: str):
    rules = RULES[name]
    sheet = physics(rules.physics).sheet
    designs = [built(physics(rules.physics), cohort) for cohort in rules.history.cohorts]
    assert 4 <= len(set(designs)) == len(designs) <= 10
    assert set(rules.history.pattern) == set(range(len(designs)))
    assert len({dose(rules, flown) for flown in designs}) >= 4
    assert not any(cohort.forced for cohort in rules.history.cohorts)
    for flown in designs:
        again = design(sheet, named(sheet.names, flown), dict(flown.equipment))
        assert again == flown


def named(names: tuple[str, ...], flown: Design) -> dict[str, int]:
    return {name + SUFFIX: value for name, value in zip(names, flown.defs, strict=True)}


@pytest.mark.parametrize("name", sampled(WITH_HISTORY))
def test_histories_can_be_read(name: str):
    most = 800 if name in PARADOXES else 320
    counts = [len(found.past.records) for found in records(name)]
    assert 30 <= min(counts) <= max(counts) <= most


# Who falls for it --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sampled(RULES, 2))
def test_default_trap_and_history_designs_lose(name: str):
    rules = RULES[name]
    world_physics = physics(rules.physics)
    plans = [*rules.history.cohorts, rules.trap]
    losers = {design(world_physics.sheet), *(built(world_physics, plan) for plan in plans)}
    for loser in losers:
        assert estimated(rules.physics, loser) <= rules.threshold - MARGIN, loser


@pytest.mark.parametrize("name", RULES)
def test_the_intended_design_wins(name: str):
    rules = RULES[name]
    sheet = physics(rules.physics).sheet
    intended = built(physics(rules.physics), rules.intended)
    assert design(sheet, named(sheet.names, intended), dict(intended.equipment)) == intended
    assert estimated(rules.physics, intended) >= rules.threshold + MARGIN


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_HISTORY)
def test_the_correlational_design_loses(name: str):
    rules, some = RULES[name], records(name)[:FLEETS]
    assert sum(found.won for found in some) <= FLEETS // 20
    expected = [estimated(rules.physics, found.chosen, 1000) for found in some]
    assert np.mean(expected) <= rules.threshold - MARGIN


@pytest.mark.parametrize("name", RULES)
def test_the_correlational_agent_hands_in_what_the_records_recommend(name: str):
    found = world(name, RULES[name], "public", 3)
    episode = DroneEpisode(
        Instance("causalgame", "1", name, "certified", "public", 3), found, Parameters()
    )
    trace = play(episode, hand_in(AgentState(episode.view)))
    assert trace.outcome == "answered"
    assert [step.action.name for step in trace.steps] == [
        "get_history",
        "deploy",
        "submit",
        "report",
    ]
    plain = design(found.physics.sheet)
    assert episode.submitted == (records(name)[3].chosen if name in WITH_HISTORY else plain)


def hand_in(state: AgentState) -> Iterator[Action]:
    chosen = yield from correlational(state, Stream("luck"))
    why = dict.fromkeys(("success", "determinants", "failures", "conclusion"), "it looked good")
    yield from state.submit(chosen, why)


def test_the_correlational_agent_fits_evidence_that_is_laid_before_it():
    found = world("antenna_trap", RULES["antenna_trap"], "public", 0)
    state = AgentState(view(found), given=())
    low, high = (design(found.physics.sheet, {"antenna_def": value}) for value in (0, 8))
    state.trials += [trial(low, 10, 0), trial(high, 0, 10)]
    acting = correlational(state, Stream("luck"))
    with pytest.raises(StopIteration) as stopped:
        acting.send(None)
    assert stopped.value.value.defs == low.defs


def trial(flown: Design, returned: int, lost: int) -> Trial:
    rows = [{"status": STATUS[1]}] * returned + [{"status": STATUS[0]}] * lost
    return Trial(flown, len(rows), returned, tuple(rows))


@pytest.mark.slow
def test_recommendations_keep_to_range_and_budget():
    for name in WITH_HISTORY:
        sheet = physics(RULES[name].physics).sheet
        for chosen in {found.chosen for found in records(name)}:
            assert design(sheet, named(sheet.names, chosen), dict(chosen.equipment)) == chosen


def test_a_sample_pairs_records_with_designs():
    first = records("antenna_trap")[0].past
    read = sample(first)
    assert read.defs.shape == (len(first.records), 7)
    assert read.designs[0] == first.designs[str(first.records[0]["design"])]


# What would win ----------------------------------------------------------------------------------


@cache
def best(name: str) -> Design:
    raw = json.loads(
        (files("whybench.families.causalgame.proof") / "best_known.json").read_text("utf-8")
    )
    entry = raw["designs"][name]
    defs = {key + SUFFIX: value for key, value in entry["defs"].items()}
    return design(physics(name).sheet, defs, entry["equipment"])


SPECIFIED = {
    "antenna": 0.949,
    "zone": 0.801,
    "default": 0.717,
    "env_shift": 0.325,
    "env_shift_repaired": 0.812,
    "weather": 0.338,
}
"""The best that the spec measured (§9, table of survival)."""


@pytest.mark.parametrize("name", KINDS)
def test_the_best_known_design_is_the_best_we_know(name: str):
    rate = estimated(name, best(name))
    noise = 4 * (rate * (1 - rate) / DRONES) ** 0.5
    assert rate >= SPECIFIED.get(name, 0.0) - noise
    for rules in RULES.values():
        if rules.physics == name:
            rivals = (design(physics(name).sheet), built(physics(name), rules.intended))
            assert all(rate >= estimated(name, rival) - noise / 2 for rival in rivals)


@pytest.mark.parametrize("name", RULES)
def test_the_bar_leaves_the_best_known_design_room(name: str):
    rules = RULES[name]
    rate = estimated(rules.physics, best(rules.physics))
    error = (rate * (1 - rate) / rules.fleet_size) ** 0.5
    assert max(0.05, 5 * error) - 0.003 <= rate - rules.threshold
