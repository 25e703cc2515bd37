"""The checker behind `whybench certify PATH`: silent on true certificates, and on no false one."""

from collections.abc import Callable

import pytest
from tests.twins.spoiled import changed, unnoticed

from whybench.causal.seeds import Stream
from whybench.episode.certificate import STATUSES, Certificate
from whybench.episode.instance import Instance
from whybench.episode.registry import families
from whybench.families.causalgame.proof.checker.check import (
    UNVERIFIED_CLAIMS,
    best_known,
    flaws,
)
from whybench.families.causalgame.proof.checker.scalar_simulator import fleet_rows, returns
from whybench.families.causalgame.world.design import Design

FAMILY = families()["causalgame"]
PLAYED = ("exact_steps", "facts.fleet_exact", "facts.recommended_by_records")
"""What only a second run of the exact experimenter could show: see UNVERIFIED_CLAIMS."""
PUBLISHED = (
    "antenna_trap",
    "deployment_zone_trap_categorical",
    "deployment_zone_trap_env_shift",
    "weather_noise",
    "deployment_zone_trap_categorical_no_selection_bias",
)


def checker(instance: Instance) -> Callable[[Certificate], list[str]]:
    return lambda certificate: flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize(
    ("suite", "index"), [("antenna", 4), ("zone_no_history", 0), ("env_shift", 2), ("weather", 3)]
)
def test_true_certificates_have_no_flaw(suite: str, index: int) -> None:
    instance = FAMILY.suite(suite)[index]
    assert checker(instance)(FAMILY.certify(instance)) == []


def test_published_bars_and_turned_parameters_have_no_flaw_either() -> None:
    for suite, profile, parameters in (
        ("weather_noise", "published", {}),
        ("weather", "certified", {"threshold": 0.5, "deploys": 3, "drones": 30}),
    ):
        instance = FAMILY.suite(suite, profile=profile, parameters=parameters)[1]
        assert checker(instance)(FAMILY.certify(instance)) == []


@pytest.mark.parametrize(
    ("suite", "profile", "index"),
    [
        ("env_shift", "certified", 10),
        ("weather_noise", "published", 0),
    ],
)
def test_every_spoiled_certificate_is_noticed(suite: str, profile: str, index: int) -> None:
    instance = FAMILY.suite(suite, profile=profile)[index]
    certificate = FAMILY.certify(instance)
    assert unnoticed(certificate, checker(instance), PLAYED) == []
    assert set(PLAYED) <= UNVERIFIED_CLAIMS.keys()
    for status in STATUSES:
        flawed = checker(instance)(changed(certificate.to_json(), status=status)) != []
        assert flawed == (status != certificate.status)


def test_impossible_figures_of_the_exact_experimenter_are_noticed() -> None:
    instance = FAMILY.suite("weather")[0]
    data = FAMILY.certify(instance).to_json()
    for steps in (-1, 21, None, 2.5):
        assert checker(instance)(changed(data, exact_steps=steps))
    for rate in (0.8925, 1.001, None, -0.1):
        facts = {**data["facts"], "fleet_exact": rate}
        assert checker(instance)(changed(data, facts=facts)), rate


def test_the_certificate_of_another_instance_is_noticed_even_under_this_ones_name() -> None:
    here, there = FAMILY.suite("weather")[0], FAMILY.suite("weather")[1]
    other = FAMILY.certify(there).to_json()
    assert checker(here)(Certificate.from_json(other))
    assert checker(here)(changed(other, instance=here.id))


@pytest.mark.parametrize("suite", PUBLISHED)
def test_single_flights_end_as_those_of_the_fleet(suite: str) -> None:
    instance = FAMILY.suite(suite, profile="published")[8]
    world, luck = FAMILY.world(instance), Stream("check", "designs", suite)
    sheet = world.physics.sheet
    rows = fleet_rows(world)[:250]
    designs = [best_known(world)]
    for _ in range(3):
        slots = [(name, luck.choice(tuple(slot.options))) for name, slot in sheet.slots.items()]
        defs = tuple(luck.below(25) for _ in sheet.components)
        designs.append(Design(defs, tuple(slots) if luck.below(3) else ()))
    for design in designs:
        back = returns(world.physics, design, rows)
        assert back == world.final(design).returned[: len(rows)].tolist()
