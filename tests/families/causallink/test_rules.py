"""The episode: what is legal, what is counted, and how it ends."""

import pytest

from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.families.causallink.rules import LinkEpisode

FAMILY = families()["causallink"]


def opened(profile: str = "certified", suite: str = "core", index: int = 30, **parameters: object):
    instance = FAMILY.suite(suite, profile=profile, parameters=parameters)[index]
    episode = FAMILY.open(instance)
    assert isinstance(episode, LinkEpisode)
    return instance, episode


def move(episode: LinkEpisode, which: int = 0) -> Action:
    return Action.of("move", shape=episode.world.view.names[which])


def test_ineffective_actions_are_legal_and_counted_apart() -> None:
    instance, episode = opened()
    name = episode.world.view.names[0]
    hold = Action.of("hold", shape=name)
    assert not episode.step(hold).is_error
    assert not episode.step(Action.of("move", shape=name)).is_error
    assert not episode.step(Action.of("move", shape=name)).is_error
    score = FAMILY.score(instance, episode.trace)
    assert score.values["ineffective_actions"] == 2
    assert score.values["experiments"] == 3
    assert score.outcome == "unfinished"


def test_the_last_intervention_still_allows_an_answer() -> None:
    instance, episode = opened()
    for _ in range(6):
        assert not episode.step(move(episode)).is_error
    assert episode.left == 0
    assert not episode.done
    episode.step(Action.of("answer", answer="no"))
    assert FAMILY.score(instance, episode.trace).outcome == "answered"


def test_an_intervention_after_the_last_is_a_timeout() -> None:
    instance, episode = opened()
    for _ in range(7):
        last = episode.step(move(episode))
    assert last.code == "timeout"
    assert episode.done
    score = FAMILY.score(instance, episode.trace)
    assert (score.outcome, score.values["timeout"], score.values["accuracy"]) == ("timeout", 1, 0)
    assert score.values["experiments"] == 6


def test_case_and_blanks_do_not_matter() -> None:
    _, episode = opened()
    name = episode.world.view.names[1]
    assert not episode.step(Action.of("move", shape=f" {name.upper()} ")).is_error
    assert not episode.step(Action.of("answer", answer="YES")).is_error


def test_patience_ends_in_the_mode_of_the_last_error() -> None:
    for bad, mode in (
        (Action.malformed("?"), "invalid_format"),
        (Action.of("move", shape="dodecahedron"), "invalid_action"),
        (Action.of("jump", shape="circle"), "invalid_action"),
        (Action.of("answer", answer="perhaps"), "invalid_answer"),
        (Action.of("answer", answer=True), "invalid_answer"),
    ):
        instance, episode = opened(max_errors=3)
        for count in range(3):
            assert not episode.done, count
            assert episode.step(bad).code == mode
        assert episode.done
        score = FAMILY.score(instance, episode.trace)
        assert score.outcome == mode
        assert score.values[mode] == 1
        assert score.values["errors"] == 1


def test_under_the_released_rules_unknown_names_cost_a_step_and_other_errors_end_it() -> None:
    instance, episode = opened("published")
    for _ in range(3):
        assert episode.step(Action.of("move", shape="blob")).code == "invalid_action"
    assert episode.left == 3
    episode.step(Action.of("answer", answer="no"))
    score = FAMILY.score(instance, episode.trace)
    assert (score.outcome, score.values["errors"]) == ("answered", 1)
    for bad, mode in (
        (Action.malformed("?"), "invalid_format"),
        (Action.of("answer", answer="maybe"), "invalid_answer"),
    ):
        _, episode = opened("published")
        episode.step(bad)
        assert episode.outcome == mode
    _, episode = opened("published")
    for _ in range(7):
        last = episode.step(Action.of("fly", shape="blob"))
    assert episode.outcome == last.code == "timeout"
    assert episode.left == 0


def test_given_evidence_leaves_only_the_answer() -> None:
    instance, _ = opened(index=80)
    episode = FAMILY.open(instance, evidence="optimal")
    assert [spec.name for spec in episode.actions] == ["answer"]
    name = episode.world.view.names[0]
    assert episode.step(Action.of("hold", shape=name)).code == "invalid_action"
    assert "no further interventions" in episode.instructions("plain")
    episode.step(Action.of("answer", answer="no"))
    score = FAMILY.score(instance, episode.trace)
    assert score.labels["proof"] in ("understood", "contradicted")
    assert score.values["experiments"] == 0
    assert score.values["regret"] is None


def test_yoked_evidence_is_another_runs() -> None:
    instance, other = opened(index=80)
    other.step(move(other, 1))
    other.step(Action.of("move", shape="nothing"))
    given = FAMILY.experiments(other.trace)
    assert len(given) == 1
    episode = FAMILY.open(instance, evidence="yoked", given=given)
    trace = episode.trace
    assert (trace.given, trace.evidence) == (1, "yoked")
    assert FAMILY.replay(instance, trace) == trace


def test_given_evidence_must_be_experiments() -> None:
    instance, _ = opened(index=80)
    name = FAMILY.world(instance).view.names[0]
    for given in ([Action.of("answer", answer="yes")], [Action.of("hold", shape="nothing")]):
        with pytest.raises(ValueError, match="no experiment"):
            FAMILY.open(instance, evidence="yoked", given=given)
    loud = FAMILY.open(instance, evidence="yoked", given=[Action.of("hold", shape=name.upper())])
    trace = play(loud, FAMILY.agent("exact", instance, loud.evidence_given))
    assert trace.outcome == "answered"


@pytest.mark.parametrize(("n", "budget"), [(4, 0), (4, 1), (5, 2), (7, 2), (12, 3)])
def test_the_exact_agent_answers_when_the_budget_is_used_up(n: int, budget: int) -> None:
    for instance in FAMILY.suite("advanced", parameters={"n": n, "graphs": 2, "budget": budget}):
        trace = FAMILY.exact_run(instance)
        assert trace.outcome == "answered"
        assert len(FAMILY.experiments(trace)) <= budget
