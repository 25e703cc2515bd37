"""Episodes in words: moments, beliefs as a graph, and what the deployments were worth."""

import json
from functools import cache
from itertools import product

import pytest
from tests.tables import sampled, together

from whybench.causal.canonical import thaw
from whybench.episode.action import Action
from whybench.episode.annotated import compared
from whybench.episode.episode import play
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.drawn_claims import known_claims
from whybench.families.causalgame.extras.belief_graph import arrow, believed, truth
from whybench.families.causalgame.prompts.action_specs import QUESTIONS
from whybench.families.causalgame.proof.failure_attribution import SORTS, failure_attribution
from whybench.families.causalgame.world.drawn.draw import stories
from whybench.families.causalgame.world.scenario import scenarios

SOME = (
    ("antenna", "certified"),
    ("env_shift", "certified"),
    ("weather_noise", "published"),
    ("zone", "certified"),
)
REPORT = dict.fromkeys(QUESTIONS, "text")


@cache
def played(agent: str, suite: str, profile: str, index: int = 2):
    instance = FAMILY.suite(suite, profile=profile)[index]
    return instance, play(FAMILY.open(instance), FAMILY.agent(agent, instance))


def told(*actions: Action, suite: str = "antenna", profile: str = "certified", **parameters):
    instance = FAMILY.suite(suite, profile=profile, parameters=parameters)[0]
    episode = FAMILY.open(instance)
    for action in actions:
        episode.step(action)
    return FAMILY.annotate(instance, episode.trace), FAMILY.score(instance, episode.trace)


def deploy(beliefs: object = None, count: object = "10", **design: int) -> Action:
    more = {} if beliefs is None else {"beliefs": json.dumps(beliefs)}
    return Action.of("deploy", design=json.dumps(design), count=count, **more)


def held(claim) -> dict[str, str]:
    first = claim.beliefs[0]
    return {"cause": first.cause, "effect": first.effect, "sign": first.sign, "when": first.when}


@pytest.mark.parametrize("agent", FAMILY.agents)
@pytest.mark.parametrize(("suite", "profile"), sampled(SOME))
def test_every_step_has_its_moment_in_words(agent, suite, profile):
    instance, trace = played(agent, suite, profile)
    found = FAMILY.annotate(instance, trace)
    assert len(found.moments) == len(trace.steps)
    assert json.loads(json.dumps(found.to_json())) == found.to_json()
    for moment in found.moments:
        assert moment.did
        assert moment.saw
        assert "{" not in moment.did + moment.saw, "raw JSON is no words"
    assert ("Won" in found.verdict) == bool(FAMILY.score(instance, trace).values["win"])
    flown = [m.figures for m in found.moments if "survival" in m.figures]
    assert flown[-1]["survival"] == FAMILY.score(instance, trace).values["survival_rate"]
    known = set(found.targets.asdict())
    assert set(flown[-1].asdict()) <= known


def test_the_oracle_flies_the_target():
    instance, trace = played("oracle", "antenna", "certified")
    found = FAMILY.annotate(instance, trace)
    last = found.moments[-2].figures.asdict()
    assert last == {name: found.targets[name] for name in last}


@pytest.mark.parametrize(
    ("suite", "index"), sampled([("antenna", 2), ("env_shift", 2), ("zone", 1)])
)
def test_the_exact_agents_deployments_suffice_and_the_null_agents_do_not(suite, index):
    instance, trace = played("exact", suite, "certified", index)
    found = FAMILY.annotate(instance, trace).sufficed
    assert found is not None
    assert 0 < found <= len(trace.steps) - 2, "submit and report show nothing more"
    assert trace.steps[found - 1].action.name == "deploy"
    assert FAMILY.annotate(*played("null", suite, "certified", index)).sufficed is None


def test_lost_fleets_are_put_down_to_experiments_or_to_inference():
    _, informed = played("exact", "antenna", "certified")
    instance, blind = played("null", "antenna", "certified")
    world = FAMILY.world(instance)
    shown = [step.action for step in informed.steps[:-2]]
    wasted = FAMILY.replay_episode(instance, [*shown, *blind.actions[-2:]], 0, "own").trace
    best = FAMILY.covariates(instance)["best_known"]
    assert failure_attribution(world, informed, best).sort == "won"
    assert failure_attribution(world, blind, best).sort == "experiments"
    assert failure_attribution(world, wasted, best).sort == "inference"
    assert (
        failure_attribution(world, played("oracle", "antenna", "certified")[1], best).sort
        == "unshown"
    )
    instance, trace = played("exact", "weather_noise", "published")
    best = FAMILY.covariates(instance)["best_known"]
    assert failure_attribution(FAMILY.world(instance), trace, best).sort == "unwinnable"
    assert set(SORTS) >= {"won", "no_fleet"}


def test_given_evidence_is_marked_and_counts():
    instance, _ = played("exact", "antenna", "certified")
    episode = FAMILY.open(instance, evidence="optimal")
    given = len(episode.trace.steps)
    episode.step(Action.of("submit", design="{}"))
    found = FAMILY.annotate(instance, episode.trace)
    assert [moment.given for moment in found.moments] == [True] * given + [False]
    assert "Bad inference" in found.verdict


@together(
    "suite, profile",
    [*product(stories(), ["certified"]), *product(scenarios(), ["published"])],
)
def test_the_graph_of_all_golden_beliefs_is_the_truth(suite, profile):
    world = FAMILY.world(FAMILY.suite(suite, profile=profile)[0])
    true = truth(world)
    assert true
    assert len({(a.cause, a.effect) for a in true}) == len(true)
    known = known_claims(world)
    drawn = believed(world, [c.beliefs[0] for c in known if c.golden])
    assert {kind for _, kind in compared(true, drawn)} == {"correct"}
    # The graph's mistakes are the hypothesis distance: every distractor is one arrow too many.
    for claim in known:
        if not claim.golden:
            wrong = compared(true, believed(world, claim.beliefs[:1]))
            extra = [one for one, kind in wrong if kind == "extra"]
            assert len(extra) == 1
            assert extra[0].cause == arrow(claim.beliefs[0]).cause


def test_beliefs_are_drawn_where_they_were_put_down():
    known = known_claims(FAMILY.world(FAMILY.suite("antenna")[0]))
    false = [held(claim) for claim in known if not claim.golden][:1]
    found, score = told(
        deploy(false),
        deploy(),
        deploy([held(claim) for claim in known if claim.golden]),
        Action.of("submit", design="{}"),
        Action.of("report", **REPORT),
    )
    first, second, third = found.moments[:3]
    kinds = [kind for _, kind in compared(found.truth, first.arrows)]
    assert sorted(set(kinds)) == ["extra", "missing"]
    assert second.arrows is None
    assert {kind for _, kind in compared(found.truth, third.arrows)} == {"correct"}
    steps = [m.figures["hypothesis distance"] for m in (first, third)]
    assert steps == [far for _, far in thaw(score.labels["distances"])] == [7, 0]
    assert "include 6 of 6 true claims" in found.verdict
    assert sum(note.startswith("Found: ") for note in found.notes) == 6


def test_uncounted_deployments_are_told_without_a_share():
    found, _ = told(deploy(), counts=False)
    assert "not counted" in found.moments[0].saw
    assert "survival" not in found.moments[0].figures


HOSTILE = (
    Action.malformed("no JSON"),
    Action.of("dance", step="{" * 400),
    Action.of("deploy"),
    Action.of("deploy", design="{", count="x"),
    Action.of("deploy", design={"engine_def": [1, {"a": None}]}, count={"n": 1}),
    Action.of("query_environment", question="x" * 501),
    Action.of("query_environment", question=""),
    Action.of("submit", design="{}"),
    Action.of("report", success=1, beliefs="no"),
    Action.of("get_history", more="things"),
)


def test_nothing_that_can_be_asked_for_breaks_the_wording():
    for suite, profile in (SOME[0], SOME[2]):
        found, _ = told(*HOSTILE, suite=suite, profile=profile, max_errors=100)
        assert len(found.moments) == len(HOSTILE)
        without_guard = profile == "published"
        assert found.verdict.startswith("Lost" if without_guard else "No fleet flew")
        assert all(len(m.did) < 400 and len(m.saw) < 400 for m in found.moments)
        assert [m.error for m in found.moments][:3] == [True] * 3


def test_an_empty_an_unfinished_and_an_ended_episode_are_told():
    assert told()[0].verdict == "No fleet flew: the episode was left open."
    assert told(deploy())[0].moments[0].figures["drones"] == 10
    ended, score = told(*[Action.malformed("?")] * 5)
    assert score.outcome == "invalid_format"
    assert ended.verdict == "No fleet flew: too many replies could not be read."


def test_the_released_server_took_any_design_and_so_does_the_wording():
    more = {f"slot{place}": "x" * 300 for place in range(50)}
    wild = Action.of(
        "deploy",
        design=json.dumps({"engine_def": 10**9}),
        equipment=json.dumps(more | {"engine": "twice"}),
        count="5",
    )
    found, _ = told(
        wild, Action.of("submit", design="{}"), suite="antenna_trap", profile="published"
    )
    assert found.moments[0].figures["engine"] == 10**9
    assert found.moments[0].did.endswith("…")
    assert len(found.moments[0].did) < 3000


@pytest.mark.parametrize("suite", stories())
def test_covariates_say_what_an_instance_is(suite):
    found = FAMILY.covariates(FAMILY.suite(suite)[1])
    assert found["scenario"] == suite
    assert found["default"] < found["threshold"] < found["best_known"]
    assert found["winnable"]
    assert all(isinstance(value, bool | int | float | str) for _, value in found)


def test_challenges_follow_the_story_and_the_scenario():
    found = {
        name: FAMILY.covariates(FAMILY.suite(name, profile=profile)[0])["challenge"]
        for name, profile in (
            ("weather_noise", "published"),
            ("weather", "certified"),
            ("antenna", "certified"),
            ("antenna_no_selection_bias", "certified"),
        )
    }
    assert found == {
        "weather_noise": "noise + shift",
        "weather": "selection + confounder + shift + noise",
        "antenna": "selection + confounder",
        "antenna_no_selection_bias": "control",
    }
