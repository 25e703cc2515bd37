"""Annotated episodes: moments, bits, the first row that contradicts, and the verdict."""

import json
import math

import pytest
from tests.tables import together

from whybench.episode.action import Action
from whybench.episode.annotated import AnnotatedEpisode
from whybench.episode.episode import play
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.trace import Step, Trace
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.proof.certify import evidence_of
from whybench.families.replayscm.proof.contradiction import first_contradiction
from whybench.families.replayscm.submission import Candidate, judge
from whybench.families.replayscm.world.world import World

SUITES = ("ord_full", "block_cert", "hid_cert", "roots_cert", "bits_32", "alt_hid", "lab")
AGENTS = ("null", "random", "exact", "oracle")


def played(suite: str, index: int, agent: str) -> tuple[Instance, Trace]:
    instance = FAMILY.suite(suite)[index]
    return instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance))


def believed(told: AnnotatedEpisode) -> set[tuple[str, str]] | None:
    """Return the last graph believed."""
    for moment in reversed(told.moments):
        if moment.arrows is not None:
            return {(arrow.cause, arrow.effect) for arrow in moment.arrows}
    return None


@together("agent", AGENTS)
@together("suite", SUITES)
def test_every_step_is_a_moment_and_the_whole_is_json(suite: str, agent: str) -> None:
    instance, trace = played(suite, 6, agent)
    told = FAMILY.annotate(instance, trace)
    assert len(told.moments) == len(trace.steps)
    assert [m.error for m in told.moments] == [s.observation.is_error for s in trace.steps]
    data = told.to_json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    world = FAMILY.world(instance)
    names = world.view.names
    assert {(a.cause, a.effect) for a in told.truth} == {
        (names[u], names[v]) for u, v in world.gold.edges()
    }
    assert believed(told) is not None
    for moment in told.moments:
        assert moment.did
        assert moment.saw
        assert len(moment.did) < 200


@pytest.mark.parametrize("suite", ["ord_cert", "block_cert", "hid_cert", "roots_cert", "bits_0"])
def test_where_one_model_is_left_the_exact_agent_believes_the_truth(suite: str) -> None:
    instance, trace = played(suite, 2, "exact")
    told = FAMILY.annotate(instance, trace)
    assert told.sufficed == 0
    assert told.moments[-1].bits == 0
    assert believed(told) == {(arrow.cause, arrow.effect) for arrow in told.truth}
    assert told.verdict.startswith("Right and understood")


@pytest.mark.parametrize("index", range(3))
def test_in_the_laboratory_bits_fall_until_the_evidence_suffices(index: int) -> None:
    instance, trace = played("lab", index, "exact")
    told = FAMILY.annotate(instance, trace)
    score = FAMILY.score(instance, trace)
    bits = [moment.bits for moment in told.moments]
    assert None not in bits
    assert bits == sorted(bits, key=lambda b: -(b or 0))
    assert told.sufficed == score.values["experiments"] == len(trace.steps) - 1
    assert bits[told.sufficed - 1] == 0 < (bits[told.sufficed - 2] or 0)
    null = FAMILY.annotate(*played("lab", index, "null"))
    assert null.sufficed is None
    assert "bad experiments and bad inference" in null.verdict


def test_bits_are_those_of_the_family_count() -> None:
    instance, trace = played("bits_16", 4, "null")
    told = FAMILY.annotate(instance, trace)
    assert told.moments[0].bits == evidence_of(FAMILY.world(instance).view).bits
    assert told.sufficed is None


def test_given_experiments_are_marked_and_not_blamed_on_the_agent() -> None:
    instance = FAMILY.suite("lab")[1]
    shown = FAMILY.experiments(FAMILY.exact_run(instance))
    episode = FAMILY.open(instance, evidence="yoked", given=shown[:2])
    trace = play(episode, FAMILY.agent("exact", instance, episode.evidence_given))
    told = FAMILY.annotate(instance, trace)
    assert [moment.given for moment in told.moments] == [True, True, False]
    assert "bad experiments" not in told.verdict
    assert len(told.moments) == len(trace.steps)


def _submitted(instance: Instance, trace: Trace) -> tuple[World, Candidate]:
    world = FAMILY.world(instance)
    judged = judge(world.view, trace.steps[-1].action.args["answer"])
    assert judged.candidate is not None
    return world, judged.candidate


def _row_by_row(world: World, scm: Candidate) -> tuple[bool, int, int, int] | None:
    """Replay one row after the other, the slow way: the first that goes wrong."""
    for heldout, tables in ((False, world.view.train), (True, world.heldout)):
        for number, table in enumerate(tables, 1):
            for place, row in enumerate(table.rows(), 1):
                now = row
                for v in scm.order:
                    if table.targets >> v & 1:
                        continue
                    value = scm.tables[v] >> now & 1
                    if value != row >> v & 1:
                        return heldout, number, place, v
                    now = now & ~(1 << v) | value << v
    return None


@pytest.mark.parametrize("agent", ["null", "random", "exact"])
def test_the_first_contradiction_is_the_one_found_row_by_row(agent: str) -> None:
    heldout = 0
    for suite in ("bits_32", "ord_full", "hid_roots"):
        for index in range(8):
            instance, trace = played(suite, index, agent)
            world, scm = _submitted(instance, trace)
            found = first_contradiction(scm, world)
            slow = _row_by_row(world, scm)
            if found is None:
                assert slow is None
                continue
            assert (found.heldout, found.world, found.row, found.variable) == slow
            heldout += found.heldout
            shown = sum(
                all(row >> u & 1 == value for u, value in found.pattern)
                for table in world.view.train
                if not table.targets >> found.variable & 1
                for row in table.rows()
            )
            assert found.shown == shown
            assert found.heldout or shown >= 1
    assert (heldout > 0) == (agent == "exact")


def test_a_fit_that_fails_elsewhere_is_told_with_the_row_and_how_often_it_was_shown() -> None:
    for index in range(20):
        instance, trace = played("bits_32", index, "exact")
        if FAMILY.score(instance, trace).values["heldout_exact"] == 0:
            break
    told = FAMILY.annotate(instance, trace)
    assert told.verdict.startswith("Wrong because of what was never shown")
    assert any("First contradicted by held-out world" in note for note in told.notes)
    assert any("training row" in note and "true parents at" in note for note in told.notes)


def test_what_is_wrong_with_an_answer_does_not_stand_in_the_true_graph() -> None:
    instance, trace = played("bits_32", 0, "null")
    moment = FAMILY.annotate(instance, trace).moments[-1]
    assert any("wrong in" in str(mark) for mark in moment.belief_marks.asdict().values())
    assert not moment.marks


HOSTILE = (
    Action.malformed("no JSON"),
    Action.of("submit", answer="{"),
    Action.of("submit", answer=7),
    Action.of("submit"),
    Action.of("submit", answer='{"mechanisms": {"X1": "(and X1"}}'),
    Action.of("experiment", setting="[" * 5000),
    Action.of("experiment", setting=None),
    Action.of("dance", with_whom=["nobody", {"a": 1}]),
)


@pytest.mark.parametrize("suite", ["hid_match", "alt_ord", "hid_roots", "lab"])
def test_whatever_an_agent_sends_can_be_told(suite: str) -> None:
    instance = FAMILY.suite(suite)[0]
    for first in HOSTILE:
        for second in HOSTILE[:3]:
            episode = FAMILY.open(instance)
            for action in (first, second, first):
                episode.step(action)
            told = FAMILY.annotate(instance, episode.trace)
            assert [m.error for m in told.moments] == [True] * len(episode.trace.steps)
            assert told.verdict.startswith("No valid answer")
            json.dumps(told.to_json(), allow_nan=False)


def test_unfinished_empty_and_overlong_traces_can_be_told() -> None:
    instance, whole = played("lab", 0, "exact")
    for steps in ((), whole.steps[:3]):
        told = FAMILY.annotate(instance, Trace(instance.id, steps))
        assert len(told.moments) == len(steps)
        assert "unfinished" in told.verdict
    after = Step(Action.of("submit", answer="{}"), Observation("over"))
    told = FAMILY.annotate(instance, Trace(instance.id, (*whole.steps, after)))
    assert len(told.moments) == len(whole.steps) + 1
    assert told.moments[-1].error


def test_a_refused_answer_is_an_error_and_the_next_one_counts() -> None:
    instance, trace = played("ord_cert", 0, "oracle")
    bad = Action.of("submit", answer='{"mechanisms": {}}')
    episode = FAMILY.open(instance)
    for action in (bad, *trace.actions):
        episode.step(action)
    told = FAMILY.annotate(instance, episode.trace)
    assert [moment.error for moment in told.moments] == [True, False]
    assert "`keys`" in told.moments[0].saw
    assert told.verdict.startswith("Right and understood")


def test_covariates_are_scalars_and_say_what_is_open() -> None:
    bits = {}
    for suite in FAMILY.suites:
        instance = FAMILY.suite(suite)[1]
        covariates = FAMILY.covariates(instance).asdict()
        assert all(isinstance(value, str | int | float | bool) for value in covariates.values())
        bits[suite] = covariates.get("bits", math.nan)
    assert bits["bits_0"] == bits["ord_cert"] == 0
    assert bits["bits_8"] == bits["bits_8_long"] == pytest.approx(8, abs=0.5)
    assert math.isnan(bits["hid_roots"])
    assert bits["hid_match"] >= bits["ord_match"]


def test_what_hidden_roots_leave_open_is_not_counted_under_the_released_rules() -> None:
    instance = FAMILY.suite("hid_roots", profile="published")[0]
    trace = play(FAMILY.open(instance), FAMILY.agent("oracle", instance))
    told = FAMILY.annotate(instance, trace)
    assert told.moments[0].bits is None
    assert "not counted" in told.verdict
