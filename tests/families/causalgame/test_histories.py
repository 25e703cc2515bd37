"""Records: what the correlational agent makes of them, and the best known published designs."""

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import numpy as np
import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.agents.agent_state import AgentState, Trial
from whybench.families.causalgame.agents.correlational import (
    correlational,
    recommended,
    sample,
    trend,
)
from whybench.families.causalgame.proof import statistical
from whybench.families.causalgame.view import view
from whybench.families.causalgame.world.design import SUFFIX, Design, design
from whybench.families.causalgame.world.drawn.draw import stories
from whybench.families.causalgame.world.drawn.draw import world as drawn
from whybench.families.causalgame.world.generate import built
from whybench.families.causalgame.world.physics.catalogue import KINDS, physics
from whybench.families.causalgame.world.physics.flight import STATUS, survival
from whybench.families.causalgame.world.scenario import scenarios

DRONES = 50_000


@cache
def estimated(name: str, flown: Design, drones: int = DRONES) -> float:
    return survival(physics(name), flown, "stage2", Stream("test", "histories", name), drones)


def test_the_trend_is_pearsons():
    from scipy.stats import pearsonr

    luck = Stream("trend")
    for _ in range(20):
        doses = np.array([luck.below(20) for _ in range(40)])
        returned = np.array([bool(luck.below(2)) for _ in range(40)])
        assert trend(doses, returned) == pytest.approx(40**0.5 * pearsonr(doses, returned)[0])
    assert trend(np.array([5, 5]), np.array([True, False])) == 0.0


@pytest.mark.parametrize("name", stories())
def test_the_correlational_agent_hands_in_what_the_records_recommend(name: str):
    instance = FAMILY.suite(name)[3]
    found, episode = FAMILY.world(instance), FAMILY.open(instance)
    trace = play(episode, hand_in(AgentState(episode.view)))
    assert trace.outcome == "answered"
    assert [step.action.name for step in trace.steps] == [
        "get_history",
        "deploy",
        "submit",
        "report",
    ]
    assert episode.submitted == recommended(view(found), statistical.past(found))
    sheet = found.physics.sheet
    defs = {n + SUFFIX: v for n, v in zip(sheet.names, episode.submitted.defs, strict=True)}
    assert design(sheet, defs, dict(episode.submitted.equipment)) == episode.submitted


def hand_in(state: AgentState) -> Iterator[Action]:
    chosen = yield from correlational(state, Stream("luck"))
    why = dict.fromkeys(("success", "determinants", "failures", "conclusion"), "it looked good")
    yield from state.submit(chosen, why)


def test_the_correlational_agent_fits_evidence_that_is_laid_before_it():
    found = drawn("antenna", "public", 0)
    state = AgentState(view(found), given=())
    first = found.physics.sheet.names[0] + SUFFIX
    low, high = (design(found.physics.sheet, {first: value}) for value in (0, 8))
    state.trials += [trial(low, 10, 0), trial(high, 0, 10)]
    acting = correlational(state, Stream("luck"))
    with pytest.raises(StopIteration) as stopped:
        acting.send(None)
    assert stopped.value.value.defs == low.defs


def trial(flown: Design, returned: int, lost: int) -> Trial:
    rows = [{"status": STATUS[1]}] * returned + [{"status": STATUS[0]}] * lost
    return Trial(flown, len(rows), returned, tuple(rows))


def test_a_sample_pairs_records_with_designs():
    first = statistical.past(drawn("antenna", "public", 0))
    read = sample(first)
    assert read.defs.shape == (len(first.records), 7)
    assert read.designs[0] == first.designs[str(first.records[0]["design"])]


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
    "weather": 0.338,
}
"""The best that the spec measured (§9, table of survival)."""


@pytest.mark.parametrize("name", KINDS)
def test_the_best_known_design_is_the_best_we_know(name: str):
    rate = estimated(name, best(name))
    noise = 4 * (rate * (1 - rate) / DRONES) ** 0.5
    assert rate >= SPECIFIED[name] - noise
    for scenario in scenarios().values():
        if scenario.published.physics == name:
            tried = (design(physics(name).sheet), _within(name, scenario.published.intended))
            assert all(rate >= estimated(name, one) - noise / 2 for one in tried if one)


def _within(name, plan):
    """Return an intended design if it keeps to the limits; the released ones often do not."""
    found, sheet = built(physics(name), plan), physics(name).sheet
    low, high = sheet.def_range
    fits = found.total <= sheet.total_def_budget and all(low <= d <= high for d in found.defs)
    return found if fits else None
