"""Claims are true or false by simulation; beliefs are read; distance counts both kinds of error."""

import json
from dataclasses import asdict

import pytest
from tests.families.causalgame.judging.claim_experiments import (
    DRONES,
    NIL,
    effects,
    found,
    least,
    shown,
)

from whybench.causal.canonical import freeze
from whybench.families.causalgame.claims import (
    MOST,
    Belief,
    Claim,
    Distance,
    beliefs,
    claims,
    distance,
)
from whybench.families.causalgame.extras.judge.replies import (
    UnreadableError,
    answers_schema,
    distance_from,
    numbered,
    read_answers,
)
from whybench.families.causalgame.world.physics.catalogue import KINDS, physics

CLAIMS = [(name, claim) for name in KINDS for claim in claims(name)]


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=[f"{n}-{c.id}" for n, c in CLAIMS])
def test_golden_claims_are_true_and_distractors_false(name: str, claim: Claim) -> None:
    assert DRONES >= 50_000
    assert shown(claim, physics(name)) == ("true" if claim.golden else "false")


def test_every_physics_has_four_golden_claims_and_three_distractors() -> None:
    for name in KINDS:
        golden = [claim.golden for claim in claims(name)]
        assert golden == [True] * 4 + [False] * 3
        ids = [claim.id for claim in claims(name)]
        assert len(set(ids)) == len(ids)
    with pytest.raises(ValueError, match="no claims about physics 'moon'"):
        claims("moon")


def test_the_published_claim_that_storms_alone_make_the_antenna_harmful_is_false() -> None:
    """Stated as a claim of no harm in clear weather, simulation refutes it."""
    real = next(c for c in claims("antenna") if c.id == "antenna_harms_in_clear_weather")
    (harm,) = effects(real, physics("antenna")).values()
    harmless = Belief("antenna_def", "survival", "no_effect", "clear")
    assert found(harmless, harm, least(real)) == "false"


def test_a_check_can_fail() -> None:
    """The same contrast with the sign turned around."""
    emits = claims("antenna")[0]
    sides = {"from": emits.contrast["to"], "to": emits.contrast["from"]}
    turned = Claim(emits.id, True, "", emits.beliefs, emits.contrast | sides)
    assert shown(turned, physics("antenna"), 5_000) == "false"


@pytest.mark.parametrize(
    ("sign", "effect", "expected"),
    [
        ("raises", 0.05, "true"), ("raises", 0.015, "undecided"), ("raises", 0.005, "false"),
        ("raises", -0.3, "false"), ("lowers", -0.05, "true"), ("lowers", 0.05, "false"),
        ("no_effect", 0.009, "true"), ("no_effect", -0.015, "undecided"),
        ("no_effect", -0.02, "false"),
    ],
)  # fmt: skip
def test_what_an_effect_says_of_a_belief(sign: str, effect: float, expected: str) -> None:
    assert NIL == 0.01
    assert found(Belief("x", "survival", sign), effect, 0.02) == expected


# Beliefs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '[{"cause": "antenna_def", "effect": "survival", "sign": "lowers"}]',
        '{"beliefs": [{"cause": "antenna_def", "effect": "survival", "sign": "lowers"}]}',
        '{"cause": "Antenna DEF", "effect": "Survival Rate", "sign": "Decreases"}',
        '[{"cause": "antenna", "effect": "returned", "sign": "-", "when": "always"}]',
        '[{"cause": "antenna_def", "effect": "survival", "sign": "reduces", "confidence": 0.7}]',
        [{"cause": "antenna_def", "effect": "survival", "sign": "lowers", "when": None}],
        freeze({"beliefs": [{"cause": "antenna_def", "effect": "survival", "sign": "lowers"}]}),
    ],
)
def test_beliefs_are_read_leniently(text: object) -> None:
    assert beliefs(text) == (Belief("antenna_def", "survival", "lowers"),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("antenna is bad", "not JSON"),
        ("[" * 100_000, "longer than"),
        ("[" * 10_000, "not JSON"),
        ('"antenna"', "must be a list"),
        ("[1]", "belief 1 must be an object"),
        ('[{"cause": "antenna_def"}]', "lacks effect, sign"),
        ('[{"cause": "a", "effect": "mood", "sign": "raises"}]', "'mood': give detection, surv"),
        ('[{"cause": "a", "effect": "survival", "sign": "x"}]', "'x': give raises, lowers, no_eff"),
        ('[{"cause": " ", "effect": "survival", "sign": "raises"}]', "cause of belief 1 is empty"),
        (json.dumps([1] * (MOST + 1)), "too many"),
    ],
)
def test_bad_beliefs_are_errors_that_say_how_to_mend(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        beliefs(text)


def test_no_beliefs_are_no_beliefs() -> None:
    assert beliefs("") == beliefs("[]") == beliefs(None) == ()


@pytest.mark.parametrize("name", KINDS)
def test_distance_of_the_truth_of_nothing_and_of_all_errors(name: str) -> None:
    known = claims(name)
    golden = [c.beliefs[0] for c in known if c.golden]
    false = [c.beliefs[0] for c in known if not c.golden]
    assert distance(known, golden).total == 0
    assert distance(known, []).total == 4
    assert distance(known, false).total == 7
    assert distance(known, [*golden, *false]).total == 3
    told = json.dumps([asdict(belief) for belief in golden])
    assert distance(known, beliefs(told)).missing == ()


def test_every_belief_of_a_claim_makes_it_and_no_claim_of_the_other_kind() -> None:
    for _, claim in CLAIMS:
        for belief in claim.beliefs:
            assert claim.made_by(belief)
    for name in KINDS:
        for one in claims(name):
            others = [c for c in claims(name) if c.golden != one.golden]
            assert not any(o.made_by(b) for b in one.beliefs for o in others)


def test_a_condition_narrows_and_none_means_in_general() -> None:
    known = claims("antenna")
    harm = Belief("antenna_def", "survival", "lowers")
    clear = "antenna_harms_in_clear_weather"
    assert clear not in distance(known, [harm]).missing
    storm_only = beliefs(
        '[{"cause": "antenna_def", "effect": "survival", "sign": "lowers", "when": "in storms"}]'
    )
    assert clear in distance(known, storm_only).missing
    general = Belief("antenna_def", "survival", "raises")
    assert distance(known, [general]).asserted == ("antenna_protects",)


# A judge's reading of free text -------------------------------------------------------------------


def test_statements_are_listed_in_an_order_of_the_instance_that_tells_nothing() -> None:
    known = claims("zone")
    first = numbered("one", known)
    assert list(first) == [f"S{n}" for n in range(1, 8)]
    assert {c.id for c in first.values()} == {c.id for c in known}
    assert first == numbered("one", known)
    orders = {tuple(c.id for c in numbered(str(n), known).values()) for n in range(50)}
    assert len(orders) > 40
    places = [next(iter(numbered(str(n), known).values())).golden for n in range(400)]
    assert 0.45 < sum(places) / 400 < 0.7  # 4 of 7


def test_a_judges_reading_gives_the_distance() -> None:
    known = claims("zone")
    listed = numbered("one", known)

    def read(answers: dict[str, str]) -> Distance:
        entries = {key: answers.get(claim.id, "not_mentioned") for key, claim in listed.items()}
        text = json.dumps({"case": "abcd", "criteria": entries})
        return distance_from(known, read_answers(listed, "abcd", text))

    assert read({}).total == 4
    assert read({c.id: "asserted" for c in known}).total == 3
    truth = {c.id: "asserted" if c.golden else "denied" for c in known}
    assert read(truth).total == 0
    assert read({c.id: "denied" for c in known}).total == 4
    shape = answers_schema("abcd", listed)
    assert shape["properties"]["criteria"]["required"] == list(listed)


def test_an_odd_answer_is_an_error() -> None:
    listed = numbered("one", claims("zone"))
    entries = dict.fromkeys(listed, "asserted") | {"S3": "maybe"}
    with pytest.raises(UnreadableError, match="answer to S3 is 'maybe'"):
        read_answers(listed, "w", json.dumps({"case": "w", "criteria": entries}))
    del entries["S3"]
    with pytest.raises(UnreadableError, match="nothing on S3"):
        read_answers(listed, "w", json.dumps({"case": "w", "criteria": entries}))
