"""What every family must pass, whoever wrote it. Parametrised over the registry."""

import json
from functools import cache

import pytest
from tests.contract.samples import (
    certified,
    every_certified_suite,
    every_family,
    every_suite,
    made,
    opened,
    played,
    spread,
)

from whybench import CANARY
from whybench.causal.canonical import Record, canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.annotated import AnnotatedEpisode
from whybench.episode.certificate import Certificate
from whybench.episode.episode import Episode, play
from whybench.episode.family import Family, Suite
from whybench.episode.instance import PROFILES, Instance
from whybench.episode.observation import Observation
from whybench.episode.registry import families
from whybench.episode.score import Score
from whybench.episode.trace import Trace


@pytest.fixture(scope="module")
def suite(request: pytest.FixtureRequest) -> Suite:
    return opened(request.param)


@pytest.fixture(scope="module")
def family(request: pytest.FixtureRequest) -> Family:
    return families()[request.param]


def headline(suite: Suite, agent: str, instance: Instance) -> float:
    family = suite.family
    return family.score(instance, played(agent, instance)).values[family.headline]


@every_suite
def test_the_exact_agent_reaches_the_certificate(suite: Suite) -> None:
    for instance in spread(suite, 8):
        certificate = certified(instance)
        assert certificate.defects() == []
        assert headline(suite, "exact", instance) == certificate.best_score
        assert certificate.exact_steps is not None
        assert certificate.worst_case is None or certificate.exact_steps <= certificate.worst_case


@every_certified_suite
def test_agents_that_know_nothing_stay_below_their_ceiling(suite: Suite) -> None:
    instances = list(spread(suite, 60))
    for agent, ceiling in suite.family.floor_ceiling.items():
        mean = sum(headline(suite, agent, instance) for instance in instances) / len(instances)
        assert mean < ceiling, f"{agent} scores {mean:.3f} on {suite.path}"


@every_family
def test_every_family_has_floors_and_a_ceiling(family: Family) -> None:
    assert {"null", "random", "exact", "oracle"} <= family.agents.keys()
    assert {"null", "random"} <= family.floor_ceiling.keys()
    assert family.headline in {metric.name for metric in family.metrics}


@every_suite
def test_every_metric_is_scored_and_declared(suite: Suite) -> None:
    family = suite.family
    for agent in family.agents:
        for instance in spread(suite, 3):
            values = family.score(instance, played(agent, instance)).values.asdict()
            assert list(values) == [metric.name for metric in family.metrics]
            for metric in family.metrics:
                value, (least, most) = values[metric.name], metric.range
                assert not metric.rate or value in (None, 0, 1)
                assert value is None or least <= value <= most, metric.name


@every_suite
def test_other_seeds_share_nothing(suite: Suite) -> None:
    other = suite.family.suite(suite.name, profile=suite.profile, seed="fresh")
    here, there = list(spread(suite, 8)), list(spread(other, 8))
    assert not {instance.id for instance in here} & {instance.id for instance in there}
    instructions = [
        [suite.family.open(instance).instructions(suite.family.templates[0]) for instance in side]
        for side in (here, there)
    ]
    assert sum(a == b for a, b in zip(*instructions, strict=True)) <= len(here) / 4


@every_suite
def test_replaying_a_trace_gives_the_same_trace_and_score(suite: Suite) -> None:
    family = suite.family
    for agent in ("exact", "random"):
        for instance in spread(suite, 6):
            trace = played(agent, instance)
            again = family.replay(instance, trace)
            assert again == trace
            assert canonical_json(again.to_json()) == canonical_json(trace.to_json())
            assert family.score(instance, again) == family.score(instance, trace)


@every_suite
def test_optimal_evidence_suffices_and_only_the_end_is_left(suite: Suite) -> None:
    family = suite.family
    for instance in spread(suite, 4):
        final = {spec.name for spec in family.open(instance, evidence="optimal").actions}
        traces = {}
        for agent in family.agents:
            episode = family.open(instance, evidence="optimal")
            assert all(spec.final for spec in episode.actions)
            left = play(episode, family.agent(agent, instance, episode.evidence_given))
            assert {step.action.name for step in left.steps[left.given :]} <= final
            assert left.outcome == "answered", f"{agent} tries to experiment"
            traces[agent] = left
        trace = traces["exact"]
        assert trace.evidence == "optimal"
        assert family.replay(instance, trace) == trace
        best = certified(instance).best_score
        assert family.score(instance, trace).values[family.headline] == best


def bad_actions(episode: Episode) -> list[Action]:
    spec = episode.actions[0]
    return [
        Action.malformed("nothing readable"),
        Action.of("no-such-action", x=1),
        Action.of(spec.name),
        Action.of(spec.name, **{a.name: {"a": [None]} for a in spec.arguments}),
        Action.of(spec.name, **{a.name: "no such thing" for a in spec.arguments}),
        Action.of(spec.name, **{a.name: "x" * 100_000 for a in spec.arguments}),
    ]


@every_certified_suite
def test_bad_actions_cost_nothing_and_never_raise(suite: Suite) -> None:
    family = suite.family
    template = family.templates[0]
    for instance in spread(suite, 4):
        bads = bad_actions(family.open(instance))
        for bad in bads:
            episode = family.open(instance)
            before = episode.instructions(template)
            observation = episode.step(bad)
            assert observation.is_error
            assert CANARY not in episode.describe(observation, template)
            assert episode.instructions(template) == before
        episode = family.open(instance)
        for bad in bads[: episode.max_errors - 1]:
            episode.step(bad)
        for action in played("exact", instance).actions:
            episode.step(action)
        best = certified(instance).best_score
        assert family.score(instance, episode.trace).values[family.headline] == best


@every_suite
def test_nothing_counts_after_the_end(suite: Suite) -> None:
    family, instance = suite.family, made(suite, 0)
    trace = played("exact", instance)
    episode = family.replay_episode(instance, trace.actions, 0, "own")
    assert episode.done
    assert episode.step(trace.actions[-1]).code == "over"
    assert episode.trace == trace


@every_certified_suite
def test_the_instructions_tells_nothing_of_the_truth(suite: Suite) -> None:
    """Worlds with another truth behind the same view have, word for word, the same prompts."""
    family = suite.family
    for instance in spread(suite, 12):
        episode = family.open(instance)
        look_alikes = list(family.look_alikes(instance))
        if not look_alikes:
            pytest.skip(f"{family.name} has no worlds that look alike")
        for template in family.templates:
            told = episode.instructions(template)
            talk = family.conversation(episode, template)
            assert instance.id not in told
            assert instance.cluster not in told
            for look_alike in look_alikes:
                assert look_alike.instructions(template) == told
                other = family.conversation(look_alike, template)
                assert (other.system, other.turn()) == (talk.system, talk.turn())
                assert look_alike.actions == episode.actions


@every_suite
def test_every_prompt_carries_the_canary(suite: Suite) -> None:
    family = suite.family
    for instance in spread(suite, 3):
        for evidence in ("own", "optimal"):
            for template in family.templates:
                episode = family.open(instance, evidence=evidence)
                assert episode.instructions(template).count(CANARY) == 1
                assert family.conversation(episode, template).system.count(CANARY) == 1


@every_suite
def test_every_value_survives_json(suite: Suite) -> None:
    family = suite.family
    for instance in spread(suite, 4):
        trace = played("random", instance)
        score = family.score(instance, trace)
        for value in (instance, trace, score, certified(instance)):
            text = json.dumps(value.to_json(), allow_nan=False)
            again = type(value).from_json(json.loads(text))
            assert again == value
            assert hash(again) == hash(value)
        assert family.rebuilt(json.loads(json.dumps(instance.to_json()))) == instance
        json.dumps(family.truth(instance), allow_nan=False)


@every_suite
def test_covariates_are_plain_scalars(suite: Suite) -> None:
    found = [suite.family.covariates(instance) for instance in spread(suite, 4)]
    for covariates in found:
        assert isinstance(covariates, Record)
        assert all(isinstance(value, str | int | float | None) for _, value in covariates)
        assert json.loads(json.dumps(covariates.asdict(), allow_nan=False)) == covariates.asdict()
        assert [name for name, _ in covariates] == [name for name, _ in found[0]]


@pytest.mark.parametrize("profile", PROFILES)
@every_family
def test_an_episode_can_be_told_again(family: Family, profile: str) -> None:
    if profile not in family.profiles:
        pytest.skip(f"{family.name} has no profile {profile}")
    instance = made(family.suite(next(iter(family.suites)), profile=profile), 0)
    traces = [played(agent, instance) for agent in ("null", "random", "exact")]
    for trace in (family.open(instance).trace, *traces):
        told = family.annotate(instance, trace)
        assert isinstance(told, AnnotatedEpisode)
        assert len(told.moments) == len(trace.steps)
        assert [moment.error for moment in told.moments] == [
            step.observation.is_error for step in trace.steps
        ]
        assert told.verdict
        data = told.to_json()
        assert json.loads(json.dumps(data, allow_nan=False)) == data


@every_suite
def test_a_log_of_another_version_is_refused(suite: Suite) -> None:
    data = made(suite, 0).to_json()
    for change in ({"version": "0"}, {"id": data["id"] + "0"}, {"index": 1}, {"seed": "s"}):
        with pytest.raises(ValueError, match="score it with the WhyBench that made it"):
            suite.family.rebuilt(data | change)


@pytest.mark.parametrize("episodes", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
@every_family
def test_scoring_survives_fuzzed_submissions(family: Family, episodes: int) -> None:
    stream = Stream("fuzz", family.name)
    suite = family.suite(next(iter(family.suites)))
    instances = list(spread(suite, 20))
    outcomes = set()
    for _ in range(episodes):
        instance = stream.choice(instances)
        episode = family.open(instance)
        for _ in range(stream.below(6)):
            episode.step(fuzzed(stream, episode))
        score = family.score(instance, episode.trace)
        assert isinstance(score, Score)
        outcomes.add(score.outcome)
    assert len(outcomes) > 2


def fuzzed(stream: Stream, episode: Episode) -> Action:
    """Return an action that may be sensible in name, arguments, both or neither."""
    spec = stream.choice(episode.actions)
    values = [
        stream.choice(words_told(episode.instance)),
        "yes",
        "no",
        "",
        None,
        7,
        True,
        [1],
        {"a": None},
        "ÿ\ud800",
    ]
    name = stream.choice([spec.name, spec.name, spec.name, "malformed", "", "answer", "move"])
    arguments = [argument.name for argument in spec.arguments] + ["reason", "extra"]
    args = {stream.choice(arguments): stream.choice(values) for _ in range(stream.below(4))}
    return Action.from_json({"name": name, "args": args})


@cache
def words_told(instance: Instance) -> list[str]:
    """Return the words that an agent is told, names among them."""
    family = families()[instance.family]
    instructions = family.open(instance).instructions(family.templates[0])
    return [word.strip(".,:") for word in instructions.split()]


@every_family
def test_a_card_and_a_summary(family: Family) -> None:
    assert family.summary
    for heading in ("## What it measures", "## Known defects", "## Scores"):
        assert heading in family.card()
    for name in (*(metric.name for metric in family.metrics), *family.suites, *family.parameters):
        assert f"`{name}`" in family.card(), f"the card does not explain {name}"


@every_family
def test_a_bad_caller_is_told_how_to_mend_it(family: Family) -> None:
    with pytest.raises(ValueError, match="try "):
        family.suite("no_such_suite")
    with pytest.raises(ValueError, match="try certified"):
        family.suite(next(iter(family.suites)), profile="imaginary")
    with pytest.raises(ValueError, match="has no parameter"):
        family.suite(next(iter(family.suites)), parameters={"no_such_knob": 1})
    with pytest.raises(ValueError, match="try "):
        family.agent("nobody", family.suite(next(iter(family.suites)))[0])
    with pytest.raises(IndexError, match="has instances"):
        family.suite(next(iter(family.suites)))[10**9]


def test_values_are_what_the_protocol_says() -> None:
    for kind in (Instance, Trace, Score, Certificate, Observation, Action):
        assert kind.__dataclass_params__.frozen
        assert hasattr(kind, "__slots__")
