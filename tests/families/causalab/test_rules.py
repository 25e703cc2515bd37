"""The episode: what an intervention does, what is refused, and what is told when."""

import json
import math
import re
from dataclasses import replace

import pytest
from tests.tables import together

from whybench.episode.action import Action
from whybench.episode.registry import families
from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.family import can_be_won
from whybench.families.causalab.hypothesis import read
from whybench.families.causalab.numbers import shown
from whybench.families.causalab.rules import CEILING, MOST_HYPOTHESES
from whybench.families.causalab.world.world import FREQUENCY, Disturbance, Law, Reading, Term, World

FAMILY = families()["causalab"]

CHAIN = Law(((Term(2, 3.0),), (), (Term(1, 1.0),)), 20.0)
"""density (1) → size (2) → frequency (0)."""
CHAIN_BASES = (0.0, 77.0, 5.0)
NAMES = ("frequency", "density", "size")

HYPOTHESIS = '{"edges": [], "coefficients": {"base": 20}}'


def opened(suite: str = "main_4", index: int = 0, profile: str = "certified", **parameters: object):
    instance = FAMILY.suite(suite, profile=profile, parameters=parameters)[index]
    return instance, FAMILY.open(instance)


def lab(
    law: Law = CHAIN,
    bases: tuple[float, ...] = CHAIN_BASES,
    *,
    profile: str = "certified",
    parameters: dict[str, object] | None = None,
    disturbance: Disturbance | None = None,
    reactor: tuple[float, ...] = (0.0, 10.0, 1.0),
    **told: object,
) -> LabEpisode:
    """Open an episode on a law made by hand."""
    instance = FAMILY.suite("main_3", profile=profile, parameters=parameters)[0]
    view = FAMILY.world(instance).view
    names = NAMES if len(bases) == 3 else view.names
    records = tuple(Reading(i, law.readings((0.0, 3.0 + i, 4.0))) for i in range(2))
    baseline = Reading(2, law.readings(bases))
    view = replace(view, names=names, display=(1, 2), records=records, baseline=baseline)
    world = World(replace(view, **told), law, bases, reactor, disturbance)
    return FAMILY.open_world(instance, world)


def put(episode: LabEpisode, name: str, value: object, **more: object):
    return episode.step(Action.of("intervene", property=name, value=value, **more))


def finish(episode: LabEpisode, frequency: object = "0"):
    return episode.step(Action.of("submit", frequency=frequency, hypothesis=HYPOTHESIS))


# Interventions.


def test_shift_replaces_the_base_and_causes_still_add() -> None:
    episode = lab(semantics="shift")
    assert episode.now == (266.0, 77.0, 82.0)
    assert put(episode, "size", "1").data.asdict() == {
        "frequency": 20 + 3 * 78,
        "density": 77,
        "size": 78,
    }
    assert put(episode, "density", 12).data["size"] == 13
    assert episode.now == (59.0, 12.0, 13.0)


def test_set_reads_the_value_now_and_parents_stay_connected() -> None:
    """The released example 4nodes_0: size reads 1, then density goes from 77 to 12."""
    episode = lab(semantics="set")
    assert put(episode, "size", 1).data["size"] == 1.0
    assert put(episode, "density", 12).data["size"] == -64.0
    assert episode.now[FREQUENCY] == 20 - 3 * 64
    assert put(episode, "size", 50).data["size"] == 50.0
    assert episode.now == (170.0, 12.0, 50.0)


def test_every_quantity_is_rounded_before_others_use_it() -> None:
    law = Law(((Term(2, 100.0),), (), (Term(1, 0.0, 0.001),)), 0.0)
    episode = lab(law, (0.0, 3.0, 0.0), quadratic=True, semantics="shift")
    assert episode.now == (1.0, 3.0, 0.01)  # 0.009 is rounded; unrounded 100 * 0.009 = 0.9
    assert put(episode, "density", 2).data.asdict() == {"frequency": 0, "density": 2, "size": 0}


def test_settings_are_taken_to_two_decimals_and_inference_knows() -> None:
    episode = lab(semantics="shift")
    assert put(episode, "density", "33.333").data["density"] == 33.33
    assert episode.bases[1] == 33.33
    for index in range(8):
        instance, episode = opened("main_4", index)
        for v in episode.view.targets():
            put(episode, episode.view.names[v], "33.333")
        assert FAMILY.score(instance, episode.trace).values["inferable_edge_f1"] == 1.0


def test_a_disturbance_follows_interventions_only_hits_its_nodes_and_propagates() -> None:
    hidden = Disturbance(1 << 2, (7.0,), ("test",))
    episode = lab(disturbance=hidden)
    assert episode.now == (266.0, 77.0, 82.0)
    assert put(episode, "density", 10).data.asdict() == {
        "frequency": 20 + 3 * 22,
        "density": 10,
        "size": 10 + 5 + 7,
    }
    assert episode.bases == (0.0, 10.0, 5.0)
    opened = episode.step(Action.of("open_reactor")).data["reactor"]
    assert opened.asdict() == {"density": 10, "size": 11}
    assert episode.world.target == 53.0


def test_the_disturbance_hangs_on_the_number_of_the_intervention_alone() -> None:
    instance, episode = opened("hidden_count_1")
    hidden = episode.world.disturbance
    assert {hidden.after(i) for i in range(1, 40)} == {-5.0, 0.0, 5.0}
    law, view = episode.world.law, episode.view
    assert view.baseline.values == law.readings(episode.world.bases)
    targets = view.targets()
    other = FAMILY.open(instance)
    for i in range(1, 5):
        put(episode, view.names[targets[0]], 10 * i)
        put(other, view.names[targets[i % 3]], i)
        for lab_ in (episode, other):
            assert lab_.now == law.readings(lab_.bases, hidden.affected, hidden.after(i))
    fresh = FAMILY.suite("hidden_count_1", seed="other")[0]
    elsewhere = FAMILY.world(fresh).disturbance
    assert [hidden.after(i) for i in range(30)] != [elsewhere.after(i) for i in range(30)]


@pytest.mark.parametrize("suite", ["hidden_count_2", "hidden_freq_1", "hidden_range_50"])
def test_records_and_baseline_are_undisturbed(suite: str) -> None:
    _, episode = opened(suite, 3)
    law, view = episode.world.law, episode.view
    base = {r.values[FREQUENCY] - _terms(law, r.values) for r in (*view.records, view.baseline)}
    assert base == {law.base}


def _terms(law: Law, values: tuple[float, ...]) -> float:
    return sum(term.linear * values[term.cause] for term in law.terms[FREQUENCY])


# What is refused, and that it costs nothing.


def test_only_controllable_properties_can_be_set_and_frequency_never() -> None:
    for index in (0, 1):
        _, episode = opened("partial_4", index, max_errors=100)
        view = episode.view
        held = [v for v in view.display if not view.controllable >> v & 1]
        assert len(held) == 1 + index
        for v in range(view.k):
            refused = put(episode, view.names[v], 50).is_error
            assert refused == (v == FREQUENCY or v in held)
        for name in ("frequency", "Resonance Frequency (Hz)", "freq"):
            assert "cannot be set" in put(episode, name, 50).data["reason"]
        assert f"cannot be set, only measured: {view.names[held[0]]}" in episode.instructions(
            "plain"
        )


@pytest.mark.parametrize("bad", ["-0.01", "100.01", "nan", "inf", "1e400", "", "ten", None, True])
def test_settings_outside_the_limits_are_refused(bad: object) -> None:
    episode = lab()
    before = (episode.now, episode.left)
    assert put(episode, "density", bad).code == "invalid_action"
    assert (episode.now, episode.left) == before


def test_limits_are_inclusive_and_a_parameter() -> None:
    for limit in (100.0, 7.0):
        _, episode = opened(limit=limit)
        name = episode.view.names[episode.view.targets()[0]]
        assert not put(episode, name, 0).is_error
        assert not put(episode, name, str(limit)).is_error
        assert put(episode, name, limit + 1).is_error
        assert f"0-{limit:g}" in episode.instructions("plain")


def test_no_number_is_cut_short() -> None:
    """A number too long to be read is no number, not the one that its first digits make."""
    assert put(lab(), "density", "0" * 39 + "55").is_error
    assert put(lab(), "density", "0" * 38 + "55").data["density"] == 55


def test_bad_actions_cost_nothing_and_the_budget_binds() -> None:
    episode = lab(budget=2, parameters={"max_errors": 100})
    for bad in (
        Action.of("intervene", property="colour", value=1),
        Action.of("intervene", property="density"),
        Action.of("intervene"),
        Action.of("propose"),
        Action.of("submit", frequency=53),
        Action.of("dance"),
        Action.malformed("?"),
    ):
        assert episode.step(bad).is_error
    assert (episode.used, episode.left, episode.now) == (0, 2, episode.view.baseline.values)
    put(episode, "density", 1)
    put(episode, "density", 1)
    assert "used up" in put(episode, "density", 1).data["reason"]
    assert episode.used == 2
    assert not episode.step(Action.of("open_reactor")).is_error


def test_patience_ends_in_the_mode_of_the_last_error() -> None:
    episode = lab(parameters={"max_errors": 2})
    put(episode, "colour", 1)
    assert not episode.done
    episode.step(Action.malformed("?"))
    assert episode.outcome == "invalid_format"


def test_budgets_and_regimes() -> None:
    for k in (3, 7):
        _, episode = opened(f"main_{k}")
        assert (len(episode.view.records), episode.left) == (1, 4 * (k - 1))
    _, episode = opened("scaling_4", 50 * 11)
    assert (episode.world.regime, len(episode.view.records), episode.left) == ("3o24i", 3, 24)
    _, episode = opened("main_4", regime="5o0i")
    assert put(episode, episode.view.names[1], 5).is_error
    with pytest.raises(ValueError, match="starts from a record"):
        opened("golden_4", regime="0o0i")


# The reactor.


def test_the_phase_change_goes_one_way() -> None:
    episode = lab()
    assert "open the reactor first" in finish(episode).data["reason"]
    episode.step(Action.of("open_reactor"))
    assert "locked" in put(episode, "density", 5).data["reason"]
    episode.errors = 0
    assert "already" in episode.step(Action.of("open_reactor")).data["reason"]
    assert not finish(episode, "53").is_error
    assert (episode.outcome, episode.right) == ("answered", True)
    assert put(episode, "density", 5).code == "over"


def test_the_check_is_asked_for_once_and_leaves_the_manipulator_open() -> None:
    episode = lab(parameters={"verify": True})
    first = episode.step(Action.of("open_reactor"))
    assert first.data.asdict() == {"check": True}
    assert "One check" in episode.describe(first, "plain")
    assert not episode.in_reactor
    assert not put(episode, "density", 5).is_error
    assert "reactor" in episode.step(Action.of("open_reactor")).data
    assert episode.in_reactor
    told = "asked once to check"
    assert told in episode.instructions("plain")
    assert told not in lab().instructions("plain")


@pytest.mark.parametrize(
    ("tolerance", "said", "right"),
    [
        (5, "57.99", True),
        (5, "58", False),
        (5, "48.01", True),
        (5, "48", False),
        (0, "53", True),
        (0, "53.004", True),
        (0, "53.01", False),
        (0.5, "53.5", False),
    ],
)
def test_the_tolerance_is_strict_and_zero_means_exact(
    tolerance: float, said: str, right: bool
) -> None:
    episode = lab(tolerance=tolerance)
    episode.step(Action.of("open_reactor"))
    finish(episode, said)
    assert episode.done
    assert episode.right == right


@pytest.mark.parametrize("bad", ["", "53 Hz", None, math.nan, [53], 10**400])
def test_a_prediction_is_a_number(bad: object) -> None:
    episode = lab()
    episode.step(Action.of("open_reactor"))
    assert finish(episode, bad).code == "invalid_answer"
    assert not episode.done


def test_no_ceiling_in_certified_and_one_in_published() -> None:
    law = Law(((Term(2, 3000.0),), (), (Term(1, 1.0),)), 20.0)
    for profile, right in (("certified", True), ("published", False)):
        released = profile == "published"
        episode = lab(law, profile=profile, released=released, limit=None)
        assert episode.world.target == 33020.0
        episode.step(Action.of("open_reactor"))
        finish(episode, "33020")
        assert episode.right == right
        assert episode.done == right


def test_the_released_reactor_truncates_and_takes_two_tries() -> None:
    law = Law(((Term(2, 3.0),), (), (Term(1, 1.0),)), 20.9)
    for said, truly, released in (("58.95", False, True), ("48.99", True, False)):
        for episode, right in (
            (lab(law, tolerance=5.0), truly),
            (lab(law, profile="published", released=True, limit=None), released),
        ):
            assert episode.world.target == 53.9
            episode.step(Action.of("open_reactor"))
            finish(episode, said)
            assert episode.right == right
    first = lab(law, profile="published", released=True, limit=None)
    first.step(Action.of("open_reactor"))
    assert finish(first, "1").data.asdict() == {"activated": False}
    assert not first.done
    finish(first, "2")
    assert (first.outcome, first.right, first.tries) == ("answered", False, 2)
    strict = lab(law)
    strict.step(Action.of("open_reactor"))
    finish(strict, "1")
    assert strict.done


def test_released_settings_have_no_limit_but_never_overflow() -> None:
    for suite in ("quad_hard", "main_4"):
        instance, episode = opened(suite, profile="published", max_errors=100)
        names = [episode.view.names[v] for v in episode.view.targets()]
        assert not put(episode, names[0], "-5e6").is_error
        for name in names:
            assert not put(episode, name, "1e12").is_error
            assert put(episode, name, "1e200").is_error
        assert all(map(math.isfinite, episode.now))
        episode.step(Action.of("open_reactor"))
        for _ in range(2):
            finish(episode, "1")
        assert FAMILY.score(instance, episode.trace).outcome == "answered"


# What is told.


def test_how_a_number_looks_hangs_on_the_number_alone() -> None:
    for value, text in ((50.0, "50"), (-0.0, "0"), (100.0, "100"), (-0.5, "-0.5"), (3.10, "3.1")):
        assert shown(value) == text
    for index in range(4):
        _, episode = opened("main_5", index)
        name = episode.view.names[episode.view.targets()[index]]
        told = episode.describe(put(episode, name, "50.0"), "plain")
        cells = re.findall(r"[a-z]+ (-?\d+(?:\.\d+)?)", told.splitlines()[0])
        assert cells == [f"{episode.now[v]:.2f}" for v in (*episode.view.display, FREQUENCY)]


def test_the_released_rules_leak_what_was_moved() -> None:
    law = Law(((Term(2, 3.0),), (), ()), 20.0)
    episode = lab(law, profile="published", released=True, limit=None)
    told = episode.describe(put(episode, "size", 50), "plain")
    assert "density 77, size 50.0, frequency 170.0" in told
    plain = lab(law)
    told = plain.describe(put(plain, "size", 50), "plain")
    assert "density 77.00, size 50.00, frequency 170.00." in told


def test_display_order_is_independent_of_causal_order() -> None:
    """In each world the share of edges that point down the list; 0.5 if the order says nothing."""
    means = {}
    for profile, graphs in (("certified", 300), ("published", 20)):
        suite = FAMILY.suite("fresh", profile=profile, parameters={"k": 5, "graphs": graphs})
        shares = []
        for instance in suite:
            world = FAMILY.world(instance)
            place = {v: i for i, v in enumerate(world.view.display)}
            inner = [e for e in world.law.graph.edges() if FREQUENCY not in e]
            if inner:
                shares.append(sum(place[a] < place[b] for a, b in inner) / len(inner))
        means[profile] = sum(shares) / len(shares)
    assert abs(means["certified"] - 0.5) < 3 * 0.5 / math.sqrt(300)
    assert means["published"] == 1.0


def test_places_and_names_say_nothing_of_the_causes_of_frequency() -> None:
    places, names = [0] * 4, {}
    for instance in FAMILY.suite("fresh", parameters={"k": 5, "graphs": 300}):
        world = FAMILY.world(instance)
        for i, v in enumerate(world.view.display):
            is_cause = any(term.cause == v for term in world.law.terms[FREQUENCY])
            places[i] += is_cause
            hits, seen = names.get(world.view.names[v], (0, 0))
            names[world.view.names[v]] = (hits + is_cause, seen + 1)
    share = sum(places) / 1200
    for hits, seen in [(place, 300) for place in places] + list(names.values()):
        assert abs(hits / seen - share) < 3.5 * math.sqrt(share * (1 - share) / seen)


@together("suite", FAMILY.suites)
def test_that_frequency_causes_nothing_is_said_wherever_it_holds(suite: str) -> None:
    sentence, other = "The frequency causes nothing", "Properties may depend on the frequency."
    effects = 0
    for index in (0, 20, 40):
        _, episode = opened(suite, index)
        for template in FAMILY.templates:
            told = episode.instructions(template)
            talk = FAMILY.conversation(episode, template)
            free = suite.startswith("freqparent")
            wanted = (not free, free) if template != "paper" else (False, False)
            assert (sentence in told, other in told) == wanted
            assert (sentence in talk.system, other in talk.system) == wanted
        effects += bool(episode.world.law.graph.children[FREQUENCY])
    assert bool(effects) == suite.startswith("freqparent")


def test_nothing_of_law_or_reactor_is_told_before_its_time() -> None:
    law = Law(((Term(2, 3.0625),), (), (Term(1, 1.4375),)), 8191.37)
    reactor = (0.0, 77123.21, 5.0)
    for parameters in ({}, {"verify": True}, {"context": "full", "candidates": True}):
        episode = lab(law, reactor=reactor, parameters=parameters)
        crystal = [shown(x) for x in law.readings(reactor)]
        secrets = ["3.0625", "1.4375", "8191.37", *crystal]
        talk = FAMILY.conversation(episode, "plain")
        told = [
            episode.instructions("plain"),
            talk.system,
            talk.turn().prompt,
            str(talk.turn().schema),
        ]
        told.append(episode.describe(put(episode, "density", 5), "plain"))
        if "verify" in parameters:
            told.append(episode.describe(episode.step(Action.of("open_reactor")), "plain"))
        assert not any(secret in text for secret in secrets for text in told)
        after = episode.describe(episode.step(Action.of("open_reactor")), "plain")
        assert all(value in after for value in crystal[1:])
        assert not any(secret in after for secret in secrets[:4])


def test_given_evidence_opens_the_reactor_and_asks_for_no_check() -> None:
    instance, _ = opened("main_4", 2, verify=True)
    episode = FAMILY.open(instance, evidence="optimal")
    assert [spec.name for spec in episode.actions] == ["submit"]
    told = episode.instructions("plain")
    assert "The reactor is open" in told
    assert "asked once" not in told
    assert told.count("was set to") == episode.trace.given
    assert put(episode, episode.view.names[1], 5).is_error


@pytest.mark.parametrize("suite", ["main_4", "quad_hard", "partial_4"])
def test_the_rules_are_the_same_in_a_suite_and_their_example_is_legal(suite: str) -> None:
    systems = {FAMILY.conversation(opened(suite, i)[1], "plain").system for i in range(5)}
    assert len(systems) == 1
    view = replace(opened(suite)[1].view, names=("frequency", "a", "b", "c"))
    example = re.search(r"frequency: (\{.*\})\.", systems.pop())[1]
    assert read(view, example, final=True).edges == {(1, 2), (2, FREQUENCY)}


def test_parameters_that_cannot_be_kept_are_refused() -> None:
    with pytest.raises(ValueError, match="Tolerance 0"):
        FAMILY.suite("quad_hard", parameters={"tolerance": 0})
    with pytest.raises(ValueError, match="only to profile `certified`"):
        FAMILY.suite("main_4", profile="published", parameters={"limit": 50})
    with pytest.raises(ValueError, match="only to causalab/fresh"):
        FAMILY.suite("main_4", parameters={"k": 5})


def test_proposals_come_to_an_end() -> None:
    episode = FAMILY.open(FAMILY.suite("main_3")[0])
    empty = json.dumps({"edges": [], "coefficients": {"base": None}})
    for _ in range(MOST_HYPOTHESES):
        assert not episode.step(Action.of("propose", hypothesis=empty)).is_error
    assert "too many" in episode.step(Action.of("propose", hypothesis=empty)).data["reason"]


def test_a_frequency_beyond_either_end_of_the_dial_cannot_be_won() -> None:
    world = FAMILY.world(FAMILY.suite("main_3", profile="published")[0])
    for tolerance in (0.0, 5.0):
        for target in (-5.0, -4.0, -1.0, 0.0, CEILING, CEILING + 4.0, CEILING + 5.0):
            base = world.law.base + target - world.target
            other = replace(
                world,
                law=replace(world.law, base=base),
                view=replace(world.view, tolerance=tolerance),
            )
            off = max(0.0, -target, target - CEILING)
            assert other.target == target
            assert can_be_won(other) == (off < tolerance or off == 0)
