"""Annotated episodes: aligned with their traces, true to the score, and never at a loss."""

import json
from dataclasses import replace

import pytest
from tests.tables import together

from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.episode.trace import Trace
from whybench.families.causalab.covariates import covariates
from whybench.families.causalab.extras.annotated import FORCED, WRONG
from whybench.families.causalab.extras.verdict import held_since
from whybench.families.causalab.hypothesis import Guess, written
from whybench.families.causalab.world.world import FREQUENCY

FAMILY = families()["causalab"]
SUITES = (
    "main_3",
    "main_7",
    "quad_hard",
    "hidden_count_2",
    "freqparent_4",
    "partial_6",
    "golden_4",
)


def played(suite: str, agent: str, index: int = 0, **how):
    instance = FAMILY.suite(suite, **how)[index]
    return instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance))


def told(suite: str, agent: str, index: int = 0, **how):
    instance, trace = played(suite, agent, index, **how)
    return trace, FAMILY.score(instance, trace), FAMILY.annotate(instance, trace)


def believed(annotated) -> set[tuple[str, str]]:
    last = [moment.arrows for moment in annotated.moments if moment.arrows is not None][-1]
    return {(arrow.cause, arrow.effect) for arrow in last}


def true(annotated) -> set[tuple[str, str]]:
    return {(arrow.cause, arrow.effect) for arrow in annotated.truth}


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("agent", FAMILY.agents)
def test_moments_follow_the_trace_and_survive_json(suite: str, agent: str) -> None:
    for profile in ("certified", "published"):
        if profile == "published" and suite.startswith("partial"):
            continue
        trace, score, annotated = told(suite, agent, 2, profile=profile)
        assert len(annotated.moments) == len(trace.steps)
        assert [m.error for m in annotated.moments] == [
            step.observation.is_error for step in trace.steps
        ]
        data = annotated.to_json()
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        bits = [moment.bits for moment in annotated.moments]
        assert bits == sorted(bits, reverse=True)
        forced = [moment.figures[FORCED] for moment in annotated.moments]
        assert forced == sorted(forced)
        assert annotated.moments[-1].figures[WRONG] == score.values["shd"]


@pytest.mark.parametrize("suite", SUITES)
def test_the_oracle_ends_with_the_truth(suite: str) -> None:
    _, _, annotated = told(suite, "oracle", 1)
    assert believed(annotated) == true(annotated)


@pytest.mark.parametrize("suite", ["main_3", "main_5", "main_7", "quad_hard", "hidden_range_5"])
def test_the_exact_agent_knows_the_moment_the_evidence_suffices(suite: str) -> None:
    for index in range(3):
        trace, score, annotated = told(suite, "exact", index)
        after = score.values["sufficed_after"]
        assert after == score.values["interventions"] > 0
        assert annotated.sufficed == after <= len(trace.steps)
        assert annotated.moments[annotated.sufficed - 1].bits == 0
        assert all(moment.bits >= 1 for moment in annotated.moments[: annotated.sufficed - 1])
        assert believed(annotated) == true(annotated)
        assert annotated.verdict == "Right frequency and the right graph, forced by the evidence."


def test_doing_nothing_never_suffices_and_is_no_fault_of_inference() -> None:
    _, score, annotated = told("main_5", "null", 1)
    assert annotated.sufficed is None is score.values["sufficed_after"]
    assert "bad experiments" in annotated.verdict
    assert all(moment.bits >= 1 for moment in annotated.moments)


def test_a_golden_chain_suffices_from_the_start() -> None:
    _, _, annotated = told("golden_4", "null", 1)
    assert annotated.sufficed == 0
    assert "bad inference" in annotated.verdict
    assert "a chain of" in annotated.notes[0]


def test_prediction_without_mechanism_is_called_so() -> None:
    _, score, annotated = told("main_4", "regression", 1)
    assert score.values["without_mechanism"] == 1
    assert annotated.verdict.startswith("Right frequency without the mechanism: a graph with 2")


def test_labels_are_coefficients_of_truth_and_belief() -> None:
    instance, trace = played("main_5", "oracle", 4)
    law, names = FAMILY.world(instance).law, FAMILY.world(instance).view.names
    annotated = FAMILY.annotate(instance, trace)
    weights = {
        (names[t.cause], names[v]): f"{t.linear:g}"
        for v, terms in enumerate(law.terms)
        for t in terms
    }
    assert {(a.cause, a.effect): a.label for a in annotated.truth} == weights
    last = annotated.moments[-1].arrows
    assert last is not None
    for arrow in last:
        into = arrow.effect == names[FREQUENCY]
        assert arrow.label == (weights[arrow.cause, arrow.effect] if into else "")


def test_each_step_says_what_was_set_and_what_moved() -> None:
    instance, trace = played("main_4", "exact", 3)
    annotated, view = FAMILY.annotate(instance, trace), FAMILY.world(instance).view
    before = dict(zip(view.names, view.baseline.values, strict=True))
    for step, moment in zip(trace.steps, annotated.moments, strict=True):
        if step.action.name != "intervene":
            continue
        now = dict(step.observation.data)
        assert moment.did.startswith(f"set {step.action.args['property']} to ")
        assert moment.saw.count("→") == sum(now[name] != before[name] for name in now)
        assert set(moment.marks.asdict()) == set(now)
        before = now


def test_the_true_graph_shows_the_true_frequency_and_not_the_predicted_one() -> None:
    instance, trace = played("main_4", "null")
    moment = FAMILY.annotate(instance, trace).moments[-1]
    world = FAMILY.world(instance)
    name = world.view.names[FREQUENCY]
    predicted = float(trace.steps[-1].action.args["frequency"])
    assert float(moment.marks[name]) == world.target != predicted
    assert float(moment.belief_marks[name]) == pytest.approx(predicted, abs=0.01)


def test_given_evidence_is_marked_and_can_suffice() -> None:
    instance = FAMILY.suite("main_4")[2]
    episode = FAMILY.open(instance, evidence="optimal")
    trace = play(episode, FAMILY.agent("null", instance, episode.evidence_given))
    annotated = FAMILY.annotate(instance, trace)
    assert [moment.given for moment in annotated.moments] == [
        place < trace.given for place in range(len(trace.steps))
    ]
    assert annotated.sufficed == trace.given > 0
    assert "bad inference" in annotated.verdict


def hypothesis(instance, edges=frozenset()) -> str:
    guess = Guess(frozenset(edges), 1.0, tuple((a, 1.0) for a, b in sorted(edges) if b == 0))
    return json.dumps(written(FAMILY.world(instance).view, guess))


HOSTILE = [
    [],
    [Action.malformed("x" * 500)],
    [Action.of("dance", with_="me"), Action.of("open_reactor"), Action.of("open_reactor")],
    [Action.of("intervene"), Action.of("intervene", property=[1, {"a": 2}], value={"b": []})],
    [Action.of("intervene", property="frequency", value="nan")] * 3,
    [Action.of("propose", hypothesis="{")] * 7,
    [Action.of("propose")],
    [Action.of("submit", frequency=3)],
    [Action.of("open_reactor", hypothesis="[1]"), Action.of("submit", frequency=[None])],
    [Action.of("open_reactor")] + [Action.of("submit", frequency="7")] * 5,
]


@together("profile", ["certified", "published"])
@together("case", range(len(HOSTILE)))
def test_no_legal_trace_raises(profile: str, case: int) -> None:
    instance = FAMILY.suite("main_4", profile=profile)[0]
    episode = FAMILY.open(instance)
    for action in HOSTILE[case]:
        episode.step(action)
    annotated = FAMILY.annotate(instance, episode.trace)
    assert len(annotated.moments) == episode.count
    assert all(len(moment.did) <= 160 >= len(moment.saw) for moment in annotated.moments)
    json.dumps(annotated.to_json(), allow_nan=False)
    if episode.outcome is None:
        assert annotated.verdict.startswith("No prediction (unfinished)")


def test_steps_after_the_end_are_told_as_refused() -> None:
    instance, trace = played("main_4", "null")
    longer = replace(trace, steps=(*trace.steps, trace.steps[-1]))
    annotated = FAMILY.annotate(instance, longer)
    assert annotated.moments[-1].error
    assert annotated.moments[-1].saw == "the episode was over"


def test_names_that_do_not_exist_become_nodes_under_the_released_rules() -> None:
    instance = FAMILY.suite("main_4", profile="published")[0]
    name = FAMILY.world(instance).view.names[1]
    claimed = {"edges": [{"from": "luck", "to": name}, {"from": name, "to": name}]}
    episode = FAMILY.open(instance)
    episode.step(Action.of("propose", hypothesis=json.dumps(claimed)))
    annotated = FAMILY.annotate(instance, episode.trace)
    assert annotated.nodes[-1] == "unknown 1"
    assert believed(annotated) == {("unknown 1", name), (name, name)}


def test_a_verification_request_and_a_second_try_are_told() -> None:
    instance = FAMILY.suite("main_3", parameters={"verify": True})[0]
    trace = play(FAMILY.open(instance), FAMILY.agent("null", instance))
    assert "asked to check" in FAMILY.annotate(instance, trace).moments[0].saw
    _, _, annotated = told("main_3", "null", 1, profile="published")
    assert [moment.saw for moment in annotated.moments][1] == "wrong; one more attempt"


def test_a_graph_that_is_held_too_soon_is_noted() -> None:
    instance = FAMILY.suite("main_4")[0]
    names, held = FAMILY.world(instance).view.names, hypothesis(instance, {(1, 0)})
    episode = FAMILY.open(instance)
    for value in (1, 2, 3):
        args = {"property": names[1], "value": value, "hypothesis": held}
        assert not episode.step(Action.of("intervene", **args)).is_error
    episode.step(Action.of("open_reactor"))
    episode.step(Action.of("submit", frequency=1, hypothesis=held))
    annotated = FAMILY.annotate(instance, episode.trace)
    assert (
        "Its final graph did not change after 0 interventions, before the evidence forced it."
        in annotated.notes
    )


def test_a_graph_given_up_and_taken_again_is_held_since_the_second_time() -> None:
    steps = [(0, "a>b"), (1, "b>a"), (2, "a>b"), (2, None), (4, "a>b")]
    assert held_since([{"after": n, "edges": edges} for n, edges in steps]) == 2
    assert held_since([]) is None is held_since([{"after": 0, "edges": None}])


def test_an_empty_trace_of_every_suite_is_told() -> None:
    for suite in FAMILY.suites:
        instance = FAMILY.suite(suite)[0]
        annotated = FAMILY.annotate(instance, Trace(instance.id, ()))
        assert annotated.moments == ()
        assert len(annotated.truth) == FAMILY.covariates(instance)["edges"]


@together("suite", FAMILY.suites)
def test_covariates_are_plain_and_say_what_a_suite_is(suite: str) -> None:
    instance = FAMILY.suite(suite)[1]
    found = FAMILY.covariates(instance).asdict()
    assert all(isinstance(value, int | float | str | bool) for value in found.values())
    assert found == covariates(FAMILY.world(instance)).asdict()
    assert (found["law"] == "quadratic") == (suite == "quad_hard")
    assert (found["disturbance"] > 0) == suite.startswith("hidden") == (found["disturbed"] > 0)
    assert (found["chain"] > 0) == suite.startswith(("golden", "observed", "small"))
    assert 0 < found["density"] <= 1
