"""Profile `published`: the release as it was measured, with its declared defects."""

import json

import numpy as np
import pytest
from tests.tables import sampled

from whybench.causal.canonical import thaw
from whybench.episode.action import Action
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.agents.agent_state import rows_of
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.world.design import SUFFIX
from whybench.families.causalgame.world.scenario import scenarios

VISIBLE = {
    "antenna_trap": 27.2,
    "antenna_trap_high_def": 18.6,
    "antenna_trap_local_optima": 40.2,
    "antenna_trap_no_history": 0,
    "antenna_trap_no_selection_bias": 50,
    "antenna_trap_simpsons_paradox": 17.3,
    "deployment_zone_trap_categorical": 25.1,
    "deployment_zone_trap_categorical_high_def": 25.3,
    "deployment_zone_trap_categorical_local_optima": 36.2,
    "deployment_zone_trap_categorical_no_history": 0,
    "deployment_zone_trap_categorical_no_selection_bias": 50,
    "deployment_zone_trap_categorical_simpsons_paradox": 32,
    "deployment_zone_trap_env_shift": 35.9,
    "weather_noise": 50,
}
"""Expected visible records, by the specification."""


def opened(name: str, index: int = 0) -> DroneEpisode:
    return FAMILY.open(FAMILY.suite(name, profile="published")[index])


def look(episode: DroneEpisode, name: str) -> dict:
    return thaw(episode.step(Action.of(name)).data)


@pytest.mark.parametrize("name", sampled(scenarios(), 4))
def test_as_many_records_can_be_seen_as_measured(name: str) -> None:
    suite = FAMILY.suite(name, profile="published")
    kept = [int(FAMILY.world(instance).history.kept.sum()) for instance in suite]
    assert np.mean(kept) == pytest.approx(VISIBLE[name], abs=4 * 3.6 / 10)


@pytest.mark.parametrize("name", list(scenarios()))
def test_budgets_and_bars_are_the_published_ones(name: str) -> None:
    rules = scenarios()[name].published
    budgets = rules.drones, rules.deploys, rules.most_per_deploy, rules.fleet_size
    assert budgets == (200, 10, 50, 1000)
    bars = {"weather": 0.55, "env_shift": 0.70}
    assert rules.threshold == bars.get(rules.physics, 0.75)


def test_the_first_message_announces_perfect_survival_and_the_status_betrays_it() -> None:
    episode = opened("antenna_trap")
    assert "Survival over the records so far: 100 %" in episode.instructions("plain")
    status = look(episode, "get_status")
    assert status["history_count"] == 50 > status["records"]
    names = [row["id"] for row in rows_of(episode.records().frozen)]
    assert names != [f"INIT-{n + 1:03d}" for n in range(len(names))]
    assert "Survival over the records so far: 0 %" in opened(
        "antenna_trap_no_history"
    ).instructions("plain")


def test_results_show_less_of_the_environment_than_records() -> None:
    episode = opened("deployment_zone_trap_categorical")
    seen = thaw(episode.step(Action.of("deploy", design="{}", count="9")).data)
    shown = set(seen["results"]["columns"])
    assert "temperature" in shown
    assert not {"altitude_band", "wind_resistance", "signal_strength"} & shown
    assert "altitude_band" in look(episode, "get_history")["records"]["columns"]


def test_noise_can_be_seen_through_the_history() -> None:
    episode = opened("weather_noise")
    results = thaw(episode.step(Action.of("deploy", design="{}", count="30")).data)["results"]
    noisy = [row["wind_speed"] for row in rows_of(results)]
    exact = [
        row["wind_speed"]
        for row in rows_of(episode.records().frozen)
        if str(row["id"]).startswith("SESSION")
    ]
    truth = episode.batches[0].flights.environment["wind_speed"]
    assert exact == [round(float(wind), 2) for wind in truth]
    assert noisy != exact


def test_the_change_of_weather_is_not_told_and_nothing_is_hidden_there() -> None:
    episode = opened("weather_noise")
    assert "Be warned" not in episode.instructions("plain")
    drawn = FAMILY.open(FAMILY.suite("weather")[0])
    assert "Conditions will change" in drawn.instructions("plain")
    assert "will change" not in episode.instructions("plain")
    assert episode.world.history.kept.all()


def test_the_history_of_a_local_optimum_wins_when_it_is_handed_in_again() -> None:
    won = 0
    for index in range(20):
        episode = opened("antenna_trap_local_optima", index)
        (old,) = look(episode, "get_history")["designs"]
        design = json.dumps(old["defs"])
        episode.step(Action.of("deploy", design=design, count="1"))
        episode.step(Action.of("submit", design=design))
        won += episode.won
    assert won == 20


def test_the_zone_paradox_forces_variables_that_do_not_fit_the_others() -> None:
    where = opened("deployment_zone_trap_categorical_simpsons_paradox").world.history.flights
    zone = where.environment.column("mission_zone")
    band = where.environment.column("altitude_band")
    assert set(zip(zone.tolist(), band.tolist(), strict=True)) == {
        ("epsilon", "high"),
        ("delta", "low"),
    }
    resistance = where.environment["wind_resistance"]
    expected = np.where(band == "high", 0.8, 0.2)
    assert (np.abs(resistance - expected) > 0.11).any()


def test_the_antenna_paradox_is_not_in_the_data() -> None:
    returned: dict[int, list[bool]] = {20: [], 25: []}
    for instance in FAMILY.suite("antenna_trap_simpsons_paradox", profile="published"):
        batch = FAMILY.world(instance).history
        place = FAMILY.world(instance).physics.sheet.index["antenna"]
        for which, back in zip(batch.which, batch.flights.returned, strict=True):
            returned[batch.designs[which].defs[place]].append(bool(back))
    low, high = (np.mean(returned[key]) for key in (20, 25))
    error = (0.345 * 0.655 * (1 / len(returned[20]) + 1 / len(returned[25]))) ** 0.5
    assert abs(low - high) < 3 * error


def test_every_lever_of_the_published_shift_is_inert() -> None:
    episode = opened("deployment_zone_trap_env_shift")
    world = episode.world
    names = [name + SUFFIX for name in world.physics.sheet.names]
    strong = {"shield_def": 50, "engine_def": 0}
    assert set(strong) <= set(names)
    plain = episode._read_design(Action.of("deploy", design="{}").args)
    armed = episode._read_design(
        Action.of(
            "deploy", design=json.dumps(strong), equipment='{"signal_filter": "adaptive"}'
        ).args
    )
    rates = [world.final(design).survival_rate for design in (plain, armed)]
    assert abs(rates[0] - rates[1]) < 0.02
