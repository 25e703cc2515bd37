"""CausaLab through Inspect with the scripted provider: both protocols, every option."""

import json
import math
from collections.abc import Iterator

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import score as score_again
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import Model, get_model
from inspect_ai.scorer import SampleScore, Score
from tests.interfaces.interfaces import assert_the_plain_interface

from whybench.causal.canonical import canonical_json
from whybench.causal.structure import edge_f1, shd
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.causalab import FAMILY
from whybench.families.causalab.extras.verify_gain import verify_gain
from whybench.interfaces.inspectai.record import EPISODE
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.interfaces.inspectai.tasks import tasks as all_tasks
from whybench.stats.paired import paired_bootstrap

pytestmark = pytest.mark.wire

SUITES = ("main_4", "quad_hard", "hidden_count_2", "golden_4", "partial_4")
PROTOCOLS = ("record", "tools")
LIMIT = 3

both_protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


def run(model: str | Model, count: int = LIMIT, task: str = "causalab", **args: object) -> EvalLog:
    log = inspect_eval(
        f"whybench/{task}", task_args=args, model=model, display="none", limit=count,
        log_realtime=False, score_display=False,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    assert len(log.samples) == count
    return log


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], EvalLog]]:
    """The exact agent on every suite in both protocols: one evaluation of many tasks."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("inspect")
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("INSPECT_LOG_DIR", str(folder / "logs"))
        runs = [(suite, protocol) for suite in SUITES for protocol in PROTOCOLS]
        tasks = [
            all_tasks()["causalab"](suite=suite, protocol=protocol) for suite, protocol in runs
        ]
        found = inspect_eval(
            tasks, model="whybench/exact", display="none", limit=LIMIT, log_realtime=False,
            score_display=False,
        )  # fmt: skip
    assert all(log.status == "success" for log in found)
    return dict(zip(runs, found, strict=True))


def the_score(sample: EvalSample) -> Score:
    return sample.scores["episode_score"]


@both_protocols
@pytest.mark.parametrize("suite", SUITES)
def test_the_exact_agent_through_inspect_is_the_one_in_the_plain_interface(
    suite: str, protocol: str, logs: dict[tuple[str, str], EvalLog]
) -> None:
    for values in assert_the_plain_interface(FAMILY, suite, logs[suite, protocol], LIMIT):
        assert values["accuracy"] == values["edge_f1"] == 1


def said(protocol: str, action: str, hypothesis: object, **more: object) -> object:
    """One reply of a model, in either protocol."""
    if protocol == "tools":
        return {"tool": action, "args": {"hypothesis": json.dumps(hypothesis), **more}}
    record = {"memory": "", "thought": "", "past_data": [], "hypothesis": hypothesis}
    end = {"prediction": float(str(more["frequency"]))} if more else {}
    return json.dumps(record | {"experiment": {}} | end)


def finished(protocol: str, first: list[object]) -> EvalSample:
    """Say some hypotheses while opening the reactor, then the truth; return how it went."""
    instance = FAMILY.suite("main_3")[0]
    *_, last = play(FAMILY.open(instance), FAMILY.agent("exact", instance)).actions
    truth, frequency = json.loads(last.args["hypothesis"]), str(last.args["frequency"])
    replies = [said(protocol, "open_reactor", h or truth) for h in first]
    replies.append(said(protocol, "submit", truth, frequency=frequency))
    model = get_model("whybench/script", replies=replies)
    return run(model, 1, suite="main_3", protocol=protocol).samples[0]


WRONG = [
    {"edges": [{"from": "aura", "to": "frequency"}], "coefficients": {"base": None}},
    {"edges": [], "coefficients": {"base": "many"}},
    {"edges": "none", "coefficients": {"base": 1}},
]
"""An undeclared property, a coefficient that is no number, and no list of edges."""


@both_protocols
@pytest.mark.parametrize(("wrong", "failures"), [(2, 0), (3, 1)])
def test_a_hypothesis_is_sent_back_twice_and_then_counted(
    protocol: str, wrong: int, failures: int
) -> None:
    right = [] if failures else [None]
    sample = finished(protocol, [*WRONG[:wrong], *right])
    score = the_score(sample)
    assert (score.value["sent_back"], score.value["parse_failures"]) == (2, failures)
    assert score.answer == "answered"
    assert score.value["accuracy"] == score.value["edge_f1"] == 1
    steps = score.metadata["trajectory"]
    assert [step["edges"] is None for step in steps] == [bool(failures), False]
    told = "\n".join([*sample.attachments.values(), *(m.text for m in sample.messages)])
    for hypothesis in WRONG[:2]:
        sent_back = Action.of("open_reactor", hypothesis=json.dumps(hypothesis))
        assert FAMILY.open(FAMILY.suite("main_3")[0]).step(sent_back).data["reason"] in told


def inputs(sample: EvalSample) -> list[list[str]]:
    """Roles of the messages that each call of the model got."""
    return [[m.role for m in e.input] for e in sample.events if isinstance(e, ModelEvent)]


def test_the_previous_state_alone_or_all_turns(logs: dict[tuple[str, str], EvalLog]) -> None:
    for sample in logs["main_4", "record"].samples:
        assert inputs(sample) == [["system", "user"]] * 4
    (sample,) = run("whybench/exact", 1, suite="main_4", context="full").samples
    turns = ["user", "assistant"]
    assert inputs(sample) == [["system", *turns * call, "user"] for call in range(4)]


@both_protocols
def test_optimal_and_yoked_evidence(protocol: str, logs: dict[tuple[str, str], EvalLog]) -> None:
    own = logs["main_4", protocol]
    told = {"suite": "main_4", "protocol": protocol}
    optimal = run("whybench/exact", **told, evidence="optimal")
    yoked = run(
        "whybench/exact", **told, evidence="yoked", yoke=own.location
    )  # only the instances of that log
    for log, kind in ((optimal, "optimal"), (yoked, "yoked")):
        for sample in log.samples:
            record = json.loads(sample.store[EPISODE])
            assert record["evidence"] == kind
            assert len(record["actions"]) == record["given"] + 1 > 1
            values = the_score(sample).value
            assert values["accuracy"] == values["edge_f1"] == 1
            assert values["interventions"] == 0


def test_the_trajectory_can_be_drawn_from_the_log_alone() -> None:
    instance = FAMILY.suite("main_3")[0]
    first, second = (FAMILY.open(instance).view.names[v] for v in (1, 2))
    drafts = [
        {"edges": [], "coefficients": {"base": None}},
        {"edges": [[first, second]], "coefficients": {"base": 1}},
    ]
    replies = [said("tools", "propose", draft) for draft in drafts]
    replies.append({"tool": "open_reactor", "args": {}})
    replies.append(said("tools", "submit", drafts[1], frequency="1"))
    written = run(get_model("whybench/script", replies=replies), 1, suite="main_3",
                  protocol="tools", max_errors=1)  # fmt: skip
    (sample,) = read_eval_log(written.location).samples
    labels = the_score(sample).metadata
    truth = drawn(labels["truth"])
    assert len(truth) > 1
    steps = labels["trajectory"]
    assert [drawn(step["edges"]) for step in steps] == [
        frozenset(),
        *[frozenset({(first, second)})] * 2,
    ]
    for step in steps:
        edges = drawn(step["edges"])
        assert step["shd"] == shd(truth, edges)
        assert step["f1"] == pytest.approx(edge_f1(truth, edges), abs=1e-4)
        assert step["after"] == 0
    assert len(json.dumps(labels)) < 200 * len(steps)
    secret = FAMILY.suite("main_3", seed="secret")[0]
    trace = play(FAMILY.open(secret), FAMILY.agent("exact", secret))
    assert "truth" not in FAMILY.score(secret, trace).labels


def drawn(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(edge.split(">")) for edge in text.split())


def test_verify_on_and_off_in_pairs() -> None:
    log = run("whybench/exact", 6, "causalab_verify")
    records = {}
    for sample in log.samples:
        at = json.loads(sample.metadata["instance"])
        records[at["index"], at["parameters"].get("verify", False)] = json.loads(
            sample.store[EPISODE]
        )
    assert len(records) == len({sample.id for sample in log.samples}) == 6
    for index in range(3):
        on, off = (len(records[index, verify]["actions"]) for verify in (True, False))
        assert on == off + 1
    (again,) = score_again(log, episode_score(), action="overwrite", display="none").results.scores
    for scores in (*log.results.scores, again):
        found = {name: metric.value for name, metric in scores.metrics.items()}
        assert found["verify_pairs"] == 3
        assert found["accuracy"] == found["accuracy_verify_on"] == found["edge_f1_verify_off"] == 1
        assert found["interventions_verify_gain"] == found["interventions_verify_gain_low"] == 0
        assert found["accuracy_verify_gain_p"] == found["few_pairs"] == 1


def test_the_gain_is_the_paired_difference_over_latent_worlds() -> None:
    off, on = (FAMILY.suite("scaling_4", parameters={"verify": verify}) for verify in (False, True))
    scores, means = [], {False: {}, True: {}}
    for index in (*range(20), *range(50, 70)):
        for verify, suite in ((False, off), (True, on)):
            accuracy = float((index * 7 + verify * 5) % 11 < 4 + 2 * verify)
            scores.append(sample_score(suite[index], accuracy))
            means[verify].setdefault(suite[index].cluster, []).append(accuracy)
    averaged = {
        verify: {cluster: sum(found) / len(found) for cluster, found in clusters.items()}
        for verify, clusters in means.items()
    }
    assert len(averaged[True]) == 20, "regimes share worlds"
    wanted = paired_bootstrap(averaged[True], averaged[False])
    compute = verify_gain()
    alone = sample_score(on[40], 1.0)
    found = compute([*reversed(scores), alone, SampleScore(score=Score(value=math.nan))])
    assert found["verify_pairs"] == 40
    assert found["accuracy_verify_gain"] == wanted.estimate > 0
    assert found["accuracy_verify_gain"] == pytest.approx(
        found["accuracy_verify_on"] - found["accuracy_verify_off"]
    )
    bounds = found["accuracy_verify_gain_low"], found["accuracy_verify_gain_high"]
    assert bounds == (wanted.low, wanted.high)
    assert found["accuracy_verify_gain_p"] == wanted.p_value
    assert compute([]) == compute([alone]) == {"verify_pairs": 0}


def sample_score(instance: object, accuracy: float) -> SampleScore:
    value = {"accuracy": accuracy, "edge_f1": accuracy / 2, "interventions": 3.0}
    metadata = {
        "instance": canonical_json(instance.to_json()), "cluster": instance.cluster
    }  # fmt: skip
    return SampleScore(score=Score(value=value), sample_metadata=metadata)


def test_parameters_are_task_arguments() -> None:
    parameters = {
        "k": 5, "graphs": 1, "regime": "3o4i", "semantics": "set", "limit": 50, "tolerance": 2,
        "candidates": True,
    }  # fmt: skip
    (sample,) = run("whybench/exact", 1, suite="fresh", template="compact", **parameters).samples
    assert json.loads(sample.metadata["instance"])["parameters"] == parameters
    assert the_score(sample).answer == "answered"
    for args, reason in (({"verify": True}, "verify"), ({"protocol": "dialogue"}, "Use record")):
        with pytest.raises(Exception, match=reason):
            run("whybench/exact", 1, "causalab_verify", **args)
