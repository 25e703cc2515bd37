"""An annotated episode shows exactly what the evidence shows, step by step, and never fails."""

import json
from itertools import permutations

import pytest
from tests.families.causallink.test_against_the_twin import (
    random_history,
    random_world,
    told,
    unmask,
)
from tests.twins import causallink_twin as twin

from whybench.causal.canonical import canonical_json
from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.annotated import AnnotatedEpisode
from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.episode.score import ERROR_MODES
from whybench.episode.trace import Trace
from whybench.families.causallink.extras.annotated import ENDINGS, PATTERNS, learned
from whybench.families.causallink.failure_patterns import BIASES
from whybench.families.causallink.world.generate import enumerated

FAMILY = families()["causallink"]
PLACES = [
    *(("core", {}, index) for index in (0, 5, 9, 31, 60, 83)),
    ("collider", {}, 7),
    ("core", {"theme": "workshop"}, 40),
    ("advanced", {}, 2),
    ("advanced", {}, 1000),
]


def instance_at(suite: str, parameters: dict[str, object], index: int) -> object:
    return FAMILY.suite(suite, parameters=parameters)[index]


def whole(noted: AnnotatedEpisode, trace: Trace) -> None:
    """Check what holds of every annotated episode."""
    assert len(noted.moments) == len(trace.steps)
    assert [m.error for m in noted.moments] == [s.observation.is_error for s in trace.steps]
    assert [m.given for m in noted.moments] == [p < trace.given for p in range(len(trace.steps))]
    data = noted.to_json()
    assert json.loads(canonical_json(data)) == data
    assert not noted.moments or noted.moments[0].arrows is not None
    true = {(arrow.cause, arrow.effect) for arrow in noted.truth}
    for place, moment in enumerate(noted.moments, 1):
        assert {(arrow.cause, arrow.effect) for arrow in moment.arrows or ()} <= true
        assert set(moment.marks.asdict()) == set(noted.nodes)
        assert (moment.bits == 0.0) == (noted.sufficed is not None and noted.sufficed <= place)
        assert len(moment.did) <= 100
        assert len(moment.saw) <= 200
        assert "{" not in moment.did + moment.saw


@pytest.mark.parametrize("agent", FAMILY.agents)
@pytest.mark.parametrize(("suite", "parameters", "index"), PLACES)
def test_every_agents_episode_is_retold(
    suite: str, parameters: dict[str, object], index: int, agent: str
) -> None:
    instance = instance_at(suite, parameters, index)
    trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
    noted, score = FAMILY.annotate(instance, trace), FAMILY.score(instance, trace)
    whole(noted, trace)
    made = len(trace.steps) - 1
    if noted.sufficed is None:
        assert score.labels["verdict"] == "undecided"
        assert score.values["wasted_steps"] == 0
    else:
        assert score.labels["verdict"] != "undecided"
        assert score.values["wasted_steps"] == made - noted.sufficed
    if agent == "exact":
        assert noted.sufficed == made == FAMILY.covariates(instance)["exact_steps"]
        assert noted.verdict.startswith("Right and understood")
    if agent == "oracle":
        assert noted.verdict.startswith("Right")
    if agent == "null" and FAMILY.covariates(instance)["exact_steps"]:
        assert noted.sufficed is None


def test_the_asked_link_is_shown_exactly_when_the_verdict_is_yes() -> None:
    seen = set()
    for instance in FAMILY.suite("core"):
        view = FAMILY.world(instance).view
        asked = (view.names[view.x], view.names[view.y])
        for agent in ("exact", "random"):
            trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
            drawn: set[tuple[str, str]] = set()
            for moment in FAMILY.annotate(instance, trace).moments:
                if moment.arrows is not None:
                    drawn = {(arrow.cause, arrow.effect) for arrow in moment.arrows}
            verdict = FAMILY.score(instance, trace).labels["verdict"]
            assert (asked in drawn) == (verdict == "yes")
            seen.add(verdict)
    assert seen == {"yes", "no", "undecided"}


def test_what_is_learned_is_what_an_independent_enumeration_says() -> None:
    stream = Stream("annotate", "twin")
    for _ in range(40):
        world = random_world(stream, 2 + stream.below(3))
        view, changes = world.view, random_history(stream, world, stream.below(6))
        found = learned(view, changes)
        assert len(found) == len(changes) + 1
        for length in (0, len(changes)):
            verdicts = {
                (u, v): twin.verdict(view.n, unmask(view.start), told(changes[:length]), u, v)
                for u, v in permutations(range(view.n), 2)
            }
            assert found[length].links == {pair for pair, say in verdicts.items() if say == "yes"}
            assert found[length].settled == sum(say != "undecided" for say in verdicts.values())
            assert found[length].forced == (verdicts[view.x, view.y] != "undecided")


def test_truth_is_the_whole_order_and_the_notes_name_the_links_built() -> None:
    index = next(
        place for place, case in enumerate(enumerated("core")) if case.structure == "mediation"
    )
    instance = FAMILY.suite("core")[index]
    noted = FAMILY.annotate(instance, FAMILY.open(instance).trace)
    assert len(noted.truth) == 3
    assert sum(note.count("→") for note in noted.notes) == 2


def named(structure: str, start: int, x: int, y: int) -> object:
    case = (structure, start, x, y)
    found = [(c.structure, c.start, c.x, c.y) for c in enumerated("core")].index(case)
    return FAMILY.suite("core")[found]


def told_after(instance: object, *moves: tuple[str, str]) -> AnnotatedEpisode:
    """Play by roles: x and y are the asked pair."""
    episode = FAMILY.open(instance)
    view = episode.world.view
    names = {"x": view.names[view.x], "y": view.names[view.y]}
    for name, what in moves:
        args = {"answer": what} if name == "answer" else {"shape": names.get(what, what)}
        episode.step(Action.of(name, **args))
    return FAMILY.annotate(instance, episode.trace)


def test_verdicts_tell_proof_from_luck_and_experiments_from_inference() -> None:
    both_off = named("direct", 0, 0, 1)
    assert told_after(both_off, ("answer", "yes")).verdict.startswith("Right but lucky")
    assert told_after(both_off, ("answer", "no")).verdict.startswith("Wrong by bad experiments")
    wrong = told_after(both_off, ("move", "x"), ("hold", "x"), ("answer", "no"))
    assert wrong.verdict.startswith("Wrong by bad inference")
    assert "after 1 of 2 interventions" in wrong.verdict
    assert wrong.sufficed == 1
    assert any("illusive_confounder_bias" in note for note in wrong.notes)
    assert "1 of them after the answer was forced" in " ".join(wrong.notes)
    at_once = told_after(named("direct", 0b10, 1, 0), ("answer", "no"))
    assert "the start alone showed" in at_once.verdict
    assert at_once.sufficed == 0


def test_words_say_what_changed_and_why_nothing_did() -> None:
    noted = told_after(
        named("direct", 0, 0, 1), ("hold", "x"), ("move", "x"), ("move", "x"), ("hold", "y")
    )
    x, y = noted.nodes if noted.truth[0].cause == noted.nodes[0] else reversed(noted.nodes)
    assert [moment.saw for moment in noted.moments] == [
        f"nothing changes: the {x} was already static",
        f"{x} now moving, {y} now moving",
        f"nothing changes: the {x} was already moving",
        f"nothing changes: the {y} stays moving, so something moving drives it",
    ]
    assert noted.moments[1].did == f"move the {x}"
    assert noted.moments[1].marks.asdict() == {x: "moving", y: "moving"}
    assert noted.verdict.startswith("No answer, because the episode was not finished")


def test_errors_count_as_moments_but_show_nothing() -> None:
    noted = told_after(
        named("direct", 0, 0, 1), ("hold", "dragon " * 40), ("dance", "x"), ("move", "x")
    )
    assert [moment.error for moment in noted.moments] == [True, True, False]
    assert noted.sufficed == 3
    assert noted.moments[0].saw.startswith("rejected: ")


HOSTILE = [
    Action.malformed("no JSON " * 100),
    Action.of("answer"),
    Action.of("answer", answer=["yes"]),
    Action.of("answer", answer="perhaps"),
    Action.of("move"),
    Action.of("move", shape={"a": [1, {"b": None}]}),
    Action.of("x" * 5000, shape="circle"),
    Action.of("hold", shape=None, answer="yes"),
]


@pytest.mark.parametrize("profile", FAMILY.profiles)
def test_no_legal_trace_raises(profile: str) -> None:
    stream = Stream("annotate", "hostile", profile)
    suites = [FAMILY.suite(name, profile=profile) for name in ("core", "advanced")]
    outcomes = set()
    for count in range(48):
        suite = suites[count % 4 == 3]
        instance = suite[stream.below(len(suite))]
        episode = FAMILY.open(instance)
        names = episode.world.view.names
        for _ in range(stream.below(20)):
            legal = Action.of(stream.choice(("move", "hold")), shape=stream.choice(names))
            last = Action.of("answer", answer=stream.choice(("yes", "NO ")))
            episode.step(stream.choice([legal] * 8 + [last] + [stream.choice(HOSTILE)] * 4))
        trace = Trace.from_json(episode.trace.to_json())
        noted = FAMILY.annotate(instance, trace)
        assert len(noted.moments) == len(trace.steps)
        assert all(len(moment.did) <= 100 for moment in noted.moments)
        assert noted.verdict.endswith(".")
        assert json.dumps(noted.to_json())
        outcomes.add(trace.outcome)
    assert len(outcomes) >= 4


@pytest.mark.parametrize("evidence", ["optimal", "yoked"])
def test_given_evidence_is_marked_and_not_called_the_agents_own(evidence: str) -> None:
    instance = instance_at("core", {}, 45)
    given = ()
    if evidence == "yoked":
        given = (Action.of("move", shape=FAMILY.world(instance).view.names[0]),)
    truth = FAMILY.covariates(instance)["truth"]
    episode = FAMILY.open(instance, evidence=evidence, given=given)
    episode.step(Action.of("hold", shape=FAMILY.world(instance).view.names[0]))
    episode.step(Action.of("answer", answer="no" if truth == "yes" else "yes"))
    noted = FAMILY.annotate(instance, episode.trace)
    whole(noted, episode.trace)
    assert any(f"{evidence} evidence" in note for note in noted.notes)
    assert "bad experiments" not in noted.verdict
    if evidence == "optimal":
        assert noted.sufficed == episode.trace.given
        assert noted.verdict.startswith("Wrong by bad inference")


def test_every_pattern_and_every_ending_has_words() -> None:
    assert set(PATTERNS) == set(BIASES)
    assert set(ENDINGS) == set(ERROR_MODES)


def test_covariates_of_core_agree_with_the_cases() -> None:
    suite = FAMILY.suite("core")
    assert len(suite) == len(enumerated("core"))
    setups: dict[str, set[str]] = {}
    for instance, case in zip(suite, enumerated("core"), strict=True):
        covariates, world = FAMILY.covariates(instance), FAMILY.world(instance)
        assert covariates["structure"] == case.structure
        assert (
            (covariates["truth"] == "yes")
            == world.truth
            == (covariates["asked"] == "cause to effect")
        )
        assert covariates["all_moving"] == (covariates["setup"] == "all")
        assert covariates["fewest"] <= covariates["exact_steps"]
        letters = {"none": "", "all": "ABC"[: case.graph.n]}.get(
            covariates["setup"], covariates["setup"]
        )
        assert letters == "".join("ABC"[v] for v in members(case.start))
        setups.setdefault(case.structure, set()).add(covariates["setup"])
    assert {name: len(found) for name, found in setups.items()} == {
        "direct": 3,
        "mediation": 4,
        "confounder": 5,
        "confounder_extra": 4,
    }
    assert sum(FAMILY.covariates(instance)["fewest"] for instance in suite) == 48 + 2 * 21


def test_covariates_of_advanced_are_all_moving_and_sized() -> None:
    suite = FAMILY.suite("advanced")
    for index in range(0, len(suite), 97):
        covariates = FAMILY.covariates(suite[index])
        assert covariates["n"] == 4 + index // 300
        assert (covariates["structure"], covariates["setup"]) == ("random", "all")
        assert 1 <= covariates["fewest"] <= covariates["exact_steps"] <= covariates["n"] - 1
