"""Suites without experiments: which edges the records force, exclude and leave open."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.twins.causalab_twin import consistent_graphs

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.score import CLAIMS
from whybench.families.causalab import FAMILY
from whybench.families.causalab.parameters import Plan
from whybench.families.causalab.proof.ambiguity import Verdicts, answers, verdicts
from whybench.families.causalab.proof.checker.check import flaws
from whybench.families.causalab.proof.evidence import Evidence
from whybench.families.causalab.world import generate, observed
from whybench.families.causalab.world.world import Law, Reading, Readings, View, World

SUITE = FAMILY.suite("observed_5")

WORDS = {"all": "yes", "none": "no", "some": "cannot"}
"""A verdict of the slow implementation → the answer."""


def by_brute_force(view: View) -> dict[tuple[int, int], str]:
    """The answers by enumeration of all graphs; only one crystal may have settings."""
    readings = (*view.records, view.baseline)
    touched = {r.crystal for r in readings if not r.passive}
    assert len(touched) == 1
    own = [r for r in readings if r.crystal in touched]
    others = [r.values for r in readings if r.crystal not in touched]
    steps = [(r.target, r.setting, r.values) for r in own[1:]]
    found = consistent_graphs(view.k, others, own[0].values, steps, view.semantics, view.sink)
    return {pair: WORDS[found.edges[pair]] for pair in answers(view, Verdicts(*[frozenset()] * 2))}


def drawn(k: int, number: int, semantics: str) -> tuple[World, View]:
    """A system of k quantities with records in which one crystal has settings."""
    stream = Stream("observed twin", k, number)
    world = FAMILY.world(FAMILY.suite(f"main_{k}", seed="twin")[number % 50])
    terms = [[replace(t, linear=stream.choice((-1.0, -0.5, 0.5, 1.0))) for t in own]
             for own in world.law.terms]  # fmt: skip
    law = Law(tuple(map(tuple, terms)), 20.0)
    bases = [tuple(4.0 * stream.below(26) for _ in range(k)) for _ in range(k)]
    view = replace(world.view, rounded=False, semantics=semantics)
    targets = stream.sample(range(1, k), 1 + stream.below(k - 2))
    count = stream.below(k)
    records = [*observed._measured(view, law, 0, bases[0], targets, stream)]
    records += [Reading(i, law.readings(bases[i])) for i in range(1, 1 + count)]
    baseline = Reading(1 + count, law.readings(bases[-1]))
    return replace(world, law=law), replace(view, records=tuple(records), baseline=baseline)


def check_verdicts(k: int, count: int) -> None:
    seen = Counter[str]()
    for number in range(count):
        _, view = drawn(k, number, "set" if number % 4 == 3 else "shift")
        evidence = Evidence(view, (*view.records, view.baseline))
        found = answers(view, verdicts(evidence))
        assert found == by_brute_force(view), number
        seen.update(found.values())
    assert min(seen[word] for word in WORDS.values()) > count / 10


@pytest.mark.parametrize("k", [3, 4])
def test_verdicts_agree_with_an_enumeration_of_all_graphs(k: int) -> None:
    check_verdicts(k, 40)


@pytest.mark.slow
def test_verdicts_of_five_quantities_agree_with_an_enumeration_of_all_graphs() -> None:
    check_verdicts(5, 30)


def gold(instance: Instance) -> dict[tuple[int, int], str]:
    view = FAMILY.world(instance).view
    return answers(view, verdicts(Evidence(view, (*view.records, view.baseline))))


def exact_values(law: Law, bases: Readings) -> list[Fraction]:
    values = [Fraction(0)] * law.k
    for v in law.order():
        base = law.base if v == 0 else bases[v]
        values[v] = Fraction(base) + sum(Fraction(t.linear) * values[t.cause] for t in law.terms[v])
    return values


@pytest.mark.slow
def test_readings_are_exact_and_the_truth_fits_them() -> None:
    for instance in SUITE:
        world = FAMILY.world(instance)
        view, truth = world.view, frozenset(world.law.graph.edges())
        for reading in (*view.records, view.baseline):
            bases = [100 * (x - sum(t.linear * reading.values[t.cause] for t in terms))
                     for x, terms in zip(reading.values, world.law.terms, strict=True)]  # fmt: skip
            assert all(base == 100 * round(base / 100) for base in bases)
            assert exact_values(world.law, [b / 100 for b in bases]) == [*reading.values]
        for pair, word in gold(instance).items():
            assert word == "cannot" or (word == "yes") == (pair in truth)


def test_each_verdict_has_about_a_third_of_the_pairs() -> None:
    counts = Counter(word for instance in SUITE for word in gold(instance).values())
    assert sum(counts.values()) == 50 * 16
    assert all(0.28 < count / 800 < 0.4 for count in counts.values())
    for instance in SUITE:
        words = Counter(gold(instance).values())
        assert min(words.values()) >= 2
        assert all(gold(instance)[v, 0] != "cannot" for v in range(1, 5))


def test_certificates_pass_the_independent_check_and_spoiled_ones_do_not() -> None:
    for instance in (SUITE[i] for i in range(0, 50, 5)):
        world, certificate = FAMILY.world(instance), FAMILY.certify(instance)
        assert flaws(instance, world, certificate) == []
        for name in ("forced_edges", "open_edges"):
            facts = certificate.facts.asdict()
            facts[name] = facts[name].partition(" ")[2]
            spoiled = replace(certificate, facts=type(certificate.facts)(facts.items()))
            assert any(name in flaw for flaw in flaws(instance, world, spoiled))


def played(instance: Instance, agent: str) -> dict[str, float | None]:
    episode = FAMILY.open(instance)
    play(episode, FAMILY.agent(agent, instance))
    return FAMILY.score(instance, episode.trace).values.asdict()


def test_the_exact_agent_has_every_verdict() -> None:
    for instance in (SUITE[i] for i in range(0, 50, 5)):
        values = played(instance, "exact")
        assert [values[name] for name in ("edge_verdicts", *CLAIMS)] == [1, 0, 0, 0]
        assert values["accuracy"] == values["understood"] == values["whole_graph"] == 1


def test_claims_are_told_apart() -> None:
    instance = SUITE[0]
    words = Counter(gold(instance).values())
    settled = words["yes"] + words["no"]
    silent, shy = played(instance, "null"), played(instance, "undetermined")
    assert silent["edge_verdicts"] == words["no"] / 16
    assert [silent[name] for name in CLAIMS] == [1, 0, words["yes"] / settled]
    assert shy["edge_verdicts"] == words["cannot"] / 16
    assert [shy[name] for name in CLAIMS] == [0, 1, 0]


def test_without_an_answer_nothing_is_claimed() -> None:
    values = FAMILY.score(SUITE[0], FAMILY.open(SUITE[0]).trace).values
    assert [values[name] for name in ("edge_verdicts", *CLAIMS)] == [0, 0, 0, 0]


def test_an_edge_that_is_claimed_and_marked_counts_as_claimed() -> None:
    instance = SUITE[0]
    pair = next(pair for pair, word in gold(instance).items() if word == "cannot")
    episode, names = FAMILY.open(instance), FAMILY.world(instance).view.names
    edge = {"from": names[pair[0]], "to": names[pair[1]]}
    guess = {"edges": [edge, edge | {"undetermined": True}], "coefficients": {"base": 1}}
    episode.step(Action.of("open_reactor"))
    episode.step(Action.of("submit", frequency=1, hypothesis=json.dumps(guess)))
    assert FAMILY.score(instance, episode.trace).values["over_claim"] == 1


def test_elsewhere_verdicts_are_not_scored() -> None:
    values = played(FAMILY.suite("main_5")[0], "exact")
    assert [values[name] for name in ("edge_verdicts", *CLAIMS)] == [None] * 4


def test_the_prompt_states_the_rule_and_nothing_can_be_set() -> None:
    episode = FAMILY.open(SUITE[0])
    for template in FAMILY.templates:
        assert "have it and others do not" in episode.instructions(template)
        assert "only measured" not in episode.instructions(template)
    name = episode.view.names[1]
    assert episode.step(Action.of("intervene", property=name, value=5)).is_error


def test_a_regime_does_not_apply() -> None:
    with pytest.raises(ValueError, match="does not apply"):
        len(FAMILY.suite("observed_5", parameters={"regime": "3o0i"}))
    assert generate.size("observed_5", FAMILY.parameter_model()) == 50
    assert Plan(5, observed=True).whole
