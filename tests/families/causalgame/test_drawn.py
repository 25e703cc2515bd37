"""Drawn systems: their law, draws, records, certificates and exact agent."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.tables import sampled

from whybench.causal.canonical import Record
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.episode import play
from whybench.families.causalgame.agents import particles
from whybench.families.causalgame.agents.agent_state import AgentState, Trial, rows_of
from whybench.families.causalgame.agents.particles import Belief
from whybench.families.causalgame.family import CausalGame
from whybench.families.causalgame.proof import statistical
from whybench.families.causalgame.proof.checker import check
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.draw import names, numbers, stories, world
from whybench.families.causalgame.world.drawn.hazards import Hazards, best_design
from whybench.families.causalgame.world.fleet import fleet

FAMILY = CausalGame()
MAIN = ("antenna", "zone", "env_shift", "weather")


def physics_of(story: str, index: int, seed: str = "test") -> Hazards:
    found = world(story, seed, index).physics
    assert isinstance(found, Hazards)
    return found


def any_design(physics: Hazards, rng: Stream) -> Design:
    low, high = physics.sheet.def_range
    defs = tuple(low + rng.below(high - low + 1) for _ in physics.sheet.names)
    slot, offer = next(iter(physics.sheet.slots.items()))
    return Design(defs, ((slot, rng.choice(tuple(offer.options))),))


# The law.


def returns(physics: Hazards, design: Design, u: list[float], rough: float) -> tuple[bool, bool]:
    """Fly one drone, hazard by hazard; return whether it came back and whether it was active."""
    stratum = 0 if u[0] < rough else 1
    defs = dict(zip(physics.sheet.names, design.defs, strict=True))
    shares = {name: value / physics.sheet.def_range[1] for name, value in defs.items()}
    moody = next(name for name, role in physics.roles.items() if role == "moody")
    active = u[2] < shares[moody]
    chance = physics.survives[stratum] * (1 - physics.options[design.equipment[0][1]][stratum])
    for name, pair in physics.parts.items():
        own = pair[stratum]
        if name == moody:
            if own > 0 and active and u[3] < own:
                return False, active
            if own < 0 and not active and u[3] < -own:
                return False, active
        else:
            chance *= 1 - (own * shares[name] if own > 0 else -own * (1 - shares[name]))
    return u[4] < chance, active


@pytest.mark.parametrize("story", MAIN)
def test_every_drone_flies_as_in_the_twin(story: str) -> None:
    for index in range(5):
        physics, rng = physics_of(story, index), Stream("twin", story, index)
        design = any_design(physics, rng)
        drones = fleet(physics.layout, Stream("twin", index), 400)
        flown = physics.fly(drones, design, 0.6)
        rows = Stream("twin", index).uniforms(400 * 6).reshape(400, 6).tolist()
        alone = [returns(physics, design, row, 0.6) for row in rows]
        assert flown.returned.tolist() == [back for back, _ in alone]
        assert flown.hidden["active"].tolist() == [active for _, active in alone]


@pytest.mark.parametrize("drones", [20_000, pytest.param(400_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("story", MAIN)
def test_survival_is_what_the_formula_says(story: str, drones: int) -> None:
    physics, rng = physics_of(story, 3), Stream("formula", story)
    flying = fleet(physics.layout, Stream("formula"), drones)
    for design in (best_design(physics), any_design(physics, rng)):
        for stage in ("stage1", "stage2"):
            rate = physics.fly(flying, design, physics.rough[stage]).survival_rate
            off = 5 * math.sqrt(0.25 / drones) if drones < 400_000 else 0.005
            assert abs(rate - physics.survival(design, stage)) < off


@pytest.mark.parametrize("story", MAIN)
def test_no_design_is_better_than_the_best(story: str) -> None:
    for index in range(10):
        physics, rng = physics_of(story, index), Stream("best", story, index)
        best = best_design(physics)
        assert best.total <= physics.sheet.total_def_budget
        most = physics.survival(best, "stage2")
        slot = next(iter(physics.sheet.slots))
        high = physics.sheet.def_range[1]
        for ends in product((0, high), repeat=len(physics.sheet.names)):
            for option in physics.options:
                assert physics.survival(Design(ends, ((slot, option),)), "stage2") <= most + 1e-12
        for _ in range(200):
            assert physics.survival(any_design(physics, rng), "stage2") <= most + 1e-12


# Draws.


@pytest.mark.parametrize("story", MAIN)
def test_strengths_and_roles_are_as_stated(story: str) -> None:
    told, known = stories()[story], numbers()
    for index in range(100):
        here = world(story, "test", index)
        physics = physics_of(story, index)
        assert Counter(physics.roles.values()) == told.roles
        for name, (rough, calm) in physics.parts.items():
            low, high = known.moody if physics.roles[name] == "moody" else known.steady
            assert low <= abs(rough) <= high
            if physics.roles[name] != "moody":
                assert known.steady_calm[0] <= calm / rough <= known.steady_calm[1]
        assert here.best is not None
        above = physics.survival(here.best, "stage2") - here.rules.threshold
        assert known.margin - 1e-9 <= above <= known.margin + 0.01 + 1e-9
        for design in here.history.designs:
            assert physics.survival(design, "stage2") < here.rules.threshold - known.below
            assert design.total <= physics.sheet.total_def_budget


def test_names_places_and_defaults_tell_nothing_of_roles() -> None:
    """Every part, place and default is in every role about as often as chance says."""
    seen: dict[str, Counter[object]] = {"name": Counter(), "place": Counter(), "default": Counter()}
    for index in range(400):
        physics = physics_of("antenna", index)
        for place, (name, role) in enumerate(physics.roles.items()):
            if role == "protects":
                default = physics.sheet.components[name].default_def
                seen["name"][name] += 1
                seen["place"][place] += 1
                seen["default"][default >= 9] += 1
    for counts in seen.values():
        mean = 800 / len(counts)
        assert all(abs(n - mean) < 5 * math.sqrt(mean) for n in counts.values()), counts
    assert len(seen["name"]) == len(names().parts) >= 16


def test_controls_share_the_systems_of_their_story() -> None:
    for kind in ("antenna", "zone"):
        for other in ("no_history", "no_selection_bias"):
            assert physics_of(kind, 4) == physics_of(f"{kind}_{other}", 4)
    assert physics_of("antenna", 4).parts != physics_of("zone", 4).parts


def test_a_remembered_arrangement_never_occurs_on_the_other_side_of_a_split() -> None:
    here, there = world("antenna", "a", 0), world("antenna", "b", 0)
    assert FAMILY.system(here) != FAMILY.system(there)
    renamed = replace(here, call_sign="other")
    assert FAMILY.system(renamed) == FAMILY.system(here)


# Records.


@pytest.mark.parametrize("count", sampled([40, 1000]))
@pytest.mark.parametrize("story", MAIN)
def test_the_records_recommend_a_design_that_loses(story: str, count: int) -> None:
    worlds = [world(story, "signs", index) for index in range(count)]
    assert statistical.misled(worlds)["records_mislead"] >= 0.95


def test_records_are_counted_and_nothing_is_lost() -> None:
    suite = FAMILY.suite("antenna")
    episode = FAMILY.open(suite[0])
    data = episode.step(Action.of("get_history")).data
    rows = rows_of(data["records"])
    past = FAMILY.world(suite[0]).history
    assert len(rows) == int(past.kept.sum()) == episode.view.history
    assert sum(row["status"] == "RETURNED" for row in rows) == int(past.flights.returned.sum())
    assert {row["flown"] for row in rows} == {"earlier"}


def test_the_mediator_becomes_a_column_and_the_zone_never_does() -> None:
    episode = FAMILY.open(FAMILY.suite("zone")[0])
    for question in ("Which zone was it?", "Was it loud or quiet?"):
        assert (
            episode.step(Action.of("query_environment", question=question)).data["variable"] is None
        )
    found = episode.step(Action.of("query_environment", question="Was the link in use?")).data
    assert found["variable"] == "link"
    assert episode.step(Action.of("get_history")).data["records"]["columns"] == (
        "flown", "design", "link", "returned", "lost",
    )  # fmt: skip


# Certificates.


@pytest.mark.slow
@pytest.mark.parametrize("suite", sampled(stories(), 1))
def test_true_certificates_have_no_flaw_and_spoiled_ones_have(suite: str) -> None:
    instance = FAMILY.suite(suite, seed="test")[1]
    here, certificate = FAMILY.world(instance), FAMILY.certify(instance)
    assert check.flaws(instance, here, certificate) == []
    assert certificate.defects() == []
    for name, value in certificate.facts:
        if isinstance(value, float):
            facts = Record((n, v + 0.0105 if n == name else v) for n, v in certificate.facts)
            spoiled = Certificate.from_json(certificate.to_json() | {"facts": dict(facts)})
            assert check.flaws(instance, here, spoiled), name


@pytest.mark.parametrize("story", MAIN)
def test_no_design_wins_in_a_system_and_in_its_alternative(story: str) -> None:
    """Brute force over corners and over random designs."""
    for index in range(2):
        here, rng = world(story, "alternatives", index), Stream("alternatives", story, index)
        physics = physics_of(story, index, "alternatives")
        assert here.best is not None
        found = statistical.alternatives(here, physics, here.best)
        assert len(found) >= 4
        tried = [any_design(physics, rng) for _ in range(300)]
        tried += [here.best, *(best_design(alternative) for alternative in found.values())]
        for alternative in found.values():
            assert Counter(alternative.roles.values()) == stories()[story].roles
            for design in tried:
                both = [one.survival(design, "stage2") for one in (physics, alternative)]
                assert min(both) < here.rules.threshold


@pytest.mark.parametrize("story", MAIN)
def test_corners_tell_most(story: str) -> None:
    """The divergence is convex in each DEF, so no design tells more than the best corner."""
    here, physics = world(story, "alternatives", 1), physics_of(story, 1, "alternatives")
    assert here.best is not None
    rng = Stream("convex", story)
    for alternative in statistical.alternatives(here, physics, here.best).values():

        def told(design: Design, alternative: Hazards = alternative) -> float:
            return statistical.divergence(
                statistical.results(here, physics, design),
                statistical.results(here, alternative, design),
            )

        most = max(map(told, statistical.live_corners(physics)))
        assert all(told(any_design(physics, rng)) <= most + 1e-12 for _ in range(50))


def test_chances_of_a_fleet_are_those_of_coins() -> None:
    exact = sum(math.comb(20, k) * 0.8**k * 0.2 ** (20 - k) for k in range(15, 21))
    assert math.isclose(statistical.p_win(0.8, 0.75, 20), exact)
    assert statistical.p_win(0.3, 0.0, 10) == 1.0


# The exact agent.


def likelihood(told: View, trial: Trial, guess: tuple[list[int], int, int], drawn, one) -> float:
    """Return the probability of a deployment's records, drone by drone, by one set of strengths."""
    story = stories()[told.law]
    places, sign, right = guess
    full = [value == told.def_range[1] for value in trial.design.defs]
    roles = [role for role in ("protects", "harms", "moody") for _ in range(story.roles[role])]
    chosen = told.slots[0][2].index(dict(trial.design.equipment)[told.slots[0][0]])
    chances = []
    for stratum in (0, 1):
        chance = float(drawn.survives[one, stratum])
        for number, (role, place) in enumerate(zip(roles, places, strict=True)):
            harmful = role == "harms"
            if role == "moody":
                harmful = (sign > 0) != (stratum == 1 and story.moody_calm[0] < 0)
            if full[place] == harmful:
                chance *= 1 - float(drawn.parts[one, number, stratum])
        if chosen != right:
            wrong = [option for option in range(story.choices) if option != right]
            chance *= 1 - float(drawn.options[one, wrong.index(chosen), stratum])
        chances.append(chance)
    rough = float(drawn.rough[one, 0])
    met = (rough, 1 - rough)
    found = 1.0
    for row in trial.records:
        back, lit = row["status"] == "RETURNED", row.get("emission", row.get("link"))
        if lit is not None and lit != full[places[-1]]:
            return 0.0
        p = 0.0
        for stratum in (0, 1):
            same = not story.shown or row[story.column] == story.strata[stratum]
            read = 1.0 if not story.shown else 1 - story.misread if same else story.misread
            p += met[stratum] * read * (chances[stratum] if back else 1 - chances[stratum])
        found *= p if back else p * (told.keep_failed if story.shown else 1.0)
    unseen = trial.count - len(trial.records)
    lost = sum(share * (1 - chance) for share, chance in zip(met, chances, strict=True))
    return found * (lost * (1 - told.keep_failed if story.shown else 1.0)) ** unseen


@pytest.mark.parametrize("story", ["antenna", "zone", "weather"])
def test_beliefs_are_those_of_a_plain_sum(story: str) -> None:
    """Compare the posterior with one that is computed drone by drone, for the same strengths."""
    instance = FAMILY.suite(story, seed="test")[0]
    state = AgentState(view(FAMILY.world(instance)))
    episode, told = FAMILY.open(instance), state.view
    episode.step(Action.of("query_environment", question=particles.QUESTION))
    deploy = state.deploy(Belief(told).most_informative(), 20)
    observation = episode.step(next(deploy))
    with pytest.raises(StopIteration) as end:
        deploy.send(observation)
    trial = end.value.value
    belief = Belief(told, trials=(trial,))
    assert math.isclose(belief.chance.sum(), 1)
    known, strengths = belief.known, Stream("causalgame", "particles", 1, *told.components)
    drawn = particles._strengths(told, stories()[story], strengths, particles.FEWEST)
    order = Stream("plain sum", story).sample(range(len(known.signs)), 40)
    plain = []
    for place in order:
        guess = known.places[place].tolist(), int(known.signs[place]), int(known.options[place])
        each = [likelihood(told, trial, guess, drawn, one) for one in range(particles.FEWEST)]
        plain.append(sum(each))
    assert 0 < plain.count(0.0) < len(plain), "the mediator rules some out"
    shares = belief.chance[order] / belief.chance[order].sum()
    assert shares == pytest.approx([one / sum(plain) for one in plain], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("count", "least"), sampled([(4, 1), (100, 72)], 1))
@pytest.mark.parametrize("story", sampled(MAIN))
def test_it_wins(story: str, count: int, least: int) -> None:
    """At a rate of 0.8, it wins fewer than 72 of 100 with probability 0.02."""
    suite, won = FAMILY.suite(story, seed="played"), 0
    for index in range(count):
        episode = FAMILY.open(suite[index])
        play(episode, FAMILY.agent("exact", suite[index]))
        won += episode.won
    assert won >= least


@pytest.mark.parametrize(
    "parameters", [{"counts": False}, {"threshold": 0.5}, {"drones": 7, "deploys": 3}]
)
def test_other_rules_are_coped_with(parameters: dict) -> None:
    instance = FAMILY.suite("antenna", parameters=parameters)[0]
    episode = FAMILY.open(instance)
    trace = play(episode, FAMILY.agent("exact", instance))
    assert not any(step.observation.is_error for step in trace.steps)
    assert episode.submitted is not None


def test_many_drones_fly_in_a_second() -> None:
    physics = physics_of("weather", 0)
    drones, design = fleet(physics.layout, Stream("speed"), 100_000), best_design(physics)
    assert len(physics.fly(drones, design, 0.5)) == 100_000
    assert np.mean(physics.fly(drones, design, 1.0).returned) > 0
