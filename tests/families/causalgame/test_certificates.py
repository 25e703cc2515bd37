"""What is shown of published scenarios; `whybench certify` does it over 200 seeds."""

import json

import pytest

from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.proof import certify as proofs
from whybench.families.causalgame.proof.certify import Estimate, Proof, Wins
from whybench.families.causalgame.world.scenario import scenarios
from whybench.interfaces import solve as interface

UNWINNABLE = {
    "deployment_zone_trap_categorical_no_selection_bias",
    "deployment_zone_trap_env_shift",
    "weather_noise",
}
"""As published, by the specification."""


def test_an_instance_whose_fleet_no_design_brings_home_is_not_proven() -> None:
    instance = FAMILY.suite("antenna", parameters={"threshold": 0.99})[0]
    assert not FAMILY.certify(instance).solvable
    assert FAMILY.certify(instance).defects()


@pytest.mark.parametrize("name", list(scenarios()))
def test_exactly_three_published_scenarios_cannot_be_won(name: str) -> None:
    rules = scenarios()[name].published
    best = proofs.estimate(rules.physics, proofs.best_design(rules.physics), 100_000)
    assert (best.rate < rules.threshold) == (name in UNWINNABLE)
    assert abs(best.rate - rules.threshold) > 5 * best.error


def test_one_published_scenario_is_won_by_its_own_history() -> None:
    winning = set()
    for name, scenario in scenarios().items():
        rules = scenario.published
        world = FAMILY.world(FAMILY.suite(name, profile="published")[0])
        for design in world.history.designs:
            if proofs.estimate(rules.physics, design, 50_000).rate >= rules.threshold:
                winning.add(name)
    assert winning == {"antenna_trap_local_optima"}


def made(**changes: object) -> Proof:
    good = {
        "bar": 0.7,
        "best_known": Estimate(0.8, 400_000),
        "default": Estimate(0.5, 50_000),
        "trap": Estimate(0.4, 50_000),
        "intended": Estimate(0.79, 50_000),
        "history": (Estimate(0.6, 50_000),),
        "random": Estimate(0.4, 1000),
        "exact": Wins(0.9, 0.75, -5.0),
        "correlational": Wins(0.01, 0.5, -50.0),
    }
    return Proof(**(good | changes))


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        ({}, None),
        ({"bar": 0.81}, "not winnable"),
        ({"default": Estimate(0.71, 50_000)}, "not trapped"),
        ({"history": (Estimate(0.6, 50_000), Estimate(0.7, 50_000))}, "not trapped"),
        ({"correlational": Wins(0.21, 0.6, -9.0)}, "not trapped"),
        ({"correlational": Wins(0.1, 0.72, -9.0)}, "not trapped"),
        ({"exact": Wins(0.79, 0.75, -5.0)}, "not affordable"),
        ({"exact": Wins(0.9, 0.83, 3.1)}, "beats the best known"),
        ({"intended": Estimate(0.81, 50_000)}, "beats the best known"),
    ],
)
def test_every_flaw_is_found(changes: dict, flaw: str | None) -> None:
    found = made(**changes).flaws()
    assert len(found) == (flaw is not None)
    assert all(flaw in text for text in found)


def test_the_report_of_a_suite_names_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "SEEDS", 2)
    monkeypatch.setattr(proofs, "proof", lambda *_: made(bar=0.81))
    suite = FAMILY.suite("all", profile="published")
    whole = FAMILY.prove(suite)
    report = interface.certified(suite, [], whole)
    assert {entry["id"] for entry in report["failed"]} == set(scenarios())
    assert report["figures"]["winnable"] == 0
    assert report["figures"]["scenarios"]["antenna_trap"]["best_known"] == 0.8
    json.dumps(report, allow_nan=False)
