"""Inspect with the scripted provider: the same actions, the same trace and score as elsewhere."""

import json
import math
import subprocess
from itertools import islice
from pathlib import Path
from statistics import fmean

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_set as inspect_eval_set
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, get_model
from rich.console import Console

from whybench.causal.canonical import canonical_json
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.episode.registry import families
from whybench.interfaces.inspectai.record import EPISODE, from_store
from whybench.interfaces.play import play_terminal
from whybench.interfaces.session import Session
from whybench.interfaces.solve import solve, summary

pytestmark = pytest.mark.wire

FAMILY = families()["causallink"]
FEW = 20
"""Samples where the first few show as much as all 84."""


def run(
    model: str | Model, limit: int | None = None, limits: object = None, **args: object
) -> EvalLog:
    log = inspect_eval(
        "whybench/causallink",
        task_args={"suite": "core", **args},
        model=model,
        display="none",
        limit=limit,
        log_realtime=False,
        score_display=False,
        **(limits or {}),
    )[0]
    assert log.status == "success", log.error
    return log


def metrics(log: EvalLog) -> dict[str, float]:
    (scorer,) = log.results.scores
    return {name: metric.value for name, metric in scorer.metrics.items()}


def mean(log: EvalLog, name: str) -> float:
    return fmean(sample.scores["episode_score"].value[name] for sample in log.samples)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EvalLog]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("inspect")
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("INSPECT_LOG_DIR", str(folder / "logs"))
        return {p: run("whybench/exact", protocol=p) for p in ("tools", "dialogue")}


@pytest.mark.parametrize("protocol", ["tools", "dialogue"])
def test_all_interfaces_give_the_same_trace_and_score(
    logs: dict[str, EvalLog], protocol: str
) -> None:
    samples = {sample.id: sample for sample in logs[protocol].samples}
    suite = FAMILY.suite("core")
    assert len(samples) == 84
    for instance in suite:
        sample = samples[instance.id]
        record = sample.store[EPISODE]
        trace = from_store(FAMILY, instance, record)
        actions = [Action.from_json(action) for action in json.loads(record)["actions"]]

        stepped = FAMILY.open(instance)
        for action in actions:
            stepped.step(action)

        typed = FAMILY.open(instance)
        lines = iter(" ".join([a.name, *a.args.asdict().values()]) for a in actions)
        play_terminal(typed, "plain", Console(quiet=True), lambda _, lines=lines: next(lines))

        texts = {canonical_json(t.to_json()) for t in (trace, stepped.trace, typed.trace)}
        assert len(texts) == 1
        score = FAMILY.score(instance, stepped.trace)
        logged = sample.scores["episode_score"]
        values = score.values.asdict()
        shown = dict(logged.value)
        assert shown.pop("unusable") == 0
        assert "understood" in shown
        for name, value in shown.items():
            assert value == values[name] or (math.isnan(value) and values[name] is None)
        assert logged.metadata == score.labels.asdict()
        assert logged.answer == score.outcome == "answered"
        if protocol == "tools":
            solved = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
            assert solved == trace


def test_the_dialogue_forces_a_first_action_and_the_tools_do_not(logs: dict[str, EvalLog]) -> None:
    tools, dialogue = logs["tools"], logs["dialogue"]
    assert mean(tools, "accuracy") == mean(dialogue, "accuracy") == 1
    assert mean(tools, "understood") == mean(dialogue, "understood") == 1
    assert mean(tools, "experiments") <= 1.25
    assert mean(dialogue, "experiments") == pytest.approx(mean(tools, "experiments") + 15 / 84)
    assert mean(dialogue, "wasted_steps") == pytest.approx(15 / 84)


def test_a_log_holds_coordinates_and_never_the_truth(logs: dict[str, EvalLog]) -> None:
    for log in logs.values():
        for sample in log.samples:
            assert sample.metadata.keys() == {"instance", "cluster", "template"}
            assert sample.target == ""
            told = json.dumps([m.text for m in sample.messages]) + json.dumps(sample.metadata)
            for word in ("mediation", "confounder", "direct cause", "structure", "truth"):
                assert word not in told
            assert sample.metadata["cluster"] not in json.dumps([m.text for m in sample.messages])


def test_intervals_and_flags_are_in_the_log(logs: dict[str, EvalLog]) -> None:
    found = metrics(logs["tools"])
    assert 0 < found["accuracy_low"] < found["accuracy_high"] == 1
    assert (found["clusters"], found["few_clusters"]) == (3, 1)
    shown = [f"{name}{end}" for name in ("accuracy", "understood", "unusable")
             for end in ("", "_low", "_high")]  # fmt: skip
    assert list(found) == [*shown, "clusters", "few_clusters"], "and no other metric, no nan"
    suite = FAMILY.suite("core")
    results = list(solve(suite, "exact", suite))
    same = summary(suite, "exact", results)
    for name, (low, high) in same["intervals"].items():
        if name in found and low is not None:
            assert found[name] == pytest.approx(same["metrics"][name])
            if f"{name}_low" in found:
                assert (found[f"{name}_low"], found[f"{name}_high"]) == pytest.approx((low, high))


def test_the_figures_never_raise() -> None:
    from inspect_ai.scorer import SampleScore, Score

    from whybench.interfaces.inspectai.metrics import figures

    compute = figures()
    assert compute([]) == {}
    assert compute([SampleScore(score=Score(value=math.nan))]) == {}
    known = {"cluster": "a", "instance": canonical_json(FAMILY.suite("core")[0].to_json())}
    one = SampleScore(
        score=Score(value={"accuracy": 1.0, "experiments": 2.0}), sample_metadata=known
    )
    assert compute([one])["few_clusters"] == 1
    epochs = SampleScore(score=Score(value={"accuracy": 0.5}), sample_id="s")
    found = compute([one, epochs])
    assert found["accuracy"] == 0.75
    shares = [epochs.model_copy(update={"sample_id": str(i)}) for i in range(6)]
    bounds = compute([one, *shares])
    assert 0 <= bounds["accuracy_low"] < bounds["accuracy_high"] <= 1
    assert found["clusters"] == 2
    failed = [{"accuracy": v, "understood": v, "unusable": 1 - v} for v in (0.0, 1.0)]
    both = compute([SampleScore(score=Score(value=v), sample_metadata=known) for v in failed])
    assert (both["understood"], both["unusable"]) == (0.5, 0.5)
    assert math.isnan(compute([SampleScore(score=Score(value={"accuracy": math.nan}))])["accuracy"])


ANSWER = {"tool": "answer", "args": {"answer": "yes"}}


@pytest.mark.parametrize(
    ("replies", "outcome", "codes"),
    [
        (["no call at all"], "invalid_format", ["invalid_format"] * 4),
        ([{"tool": "nope"}], "invalid_action", ["invalid_action"] * 4),
        ([{"tool": "hold"}, ANSWER], "answered", ["invalid_action", "ok"]),
        ([{"tool": "hold", "args": {"shape": 1}}, ANSWER], "answered", ["invalid_action", "ok"]),
        (
            [{"tool": "hold", "args": {"shape": "blob"}}, ANSWER],
            "answered",
            ["invalid_action", "ok"],
        ),
        ([{"tool": "hold", "parse_error": "bad"}, ANSWER], "answered", ["invalid_format", "ok"]),
        ([{"tool": "answer", "args": {"answer": "hm"}}], "invalid_answer", ["invalid_answer"] * 4),
        ([[{"tool": "nope"}, ANSWER, ANSWER]], "answered", ["invalid_action", "ok"]),
    ],
)
def test_calls_that_never_reach_a_tool_are_errors_of_the_episode(
    replies: list[object], outcome: str, codes: list[str]
) -> None:
    log = run(get_model("whybench/script", replies=replies), 1, protocol="tools")
    sample = log.samples[0]
    assert sample.scores["episode_score"].answer == outcome
    trace = from_store(FAMILY, FAMILY.suite("core")[0], sample.store[EPISODE])
    assert [step.observation.code for step in trace.steps] == codes


def test_a_call_in_text_is_run_as_in_a_session_and_counted() -> None:
    instance = FAMILY.suite("core")[0]
    replies = [
        "I begin with a thought.",
        '<tool_call>{"name": "nope", "arguments": {}}</tool_call>',
        '```json\n{"name": "answer", "arguments": {"answer": "yes"}}\n```',
    ]
    session = Session(instance)
    told = [session.without_call(reply).text for reply in replies]
    log = run(get_model("whybench/script", replies=replies), 1, protocol="tools")
    sample = log.samples[0]
    assert from_store(FAMILY, instance, sample.store[EPISODE]) == session.trace
    assert [m.text for m in sample.messages if m.role == "user"] == [session.instructions, *told]
    assert sample.scores["episode_score"].metadata == session.score().to_json()["labels"]
    assert metrics(log)["call_in_text"] == session.score().labels["call_in_text"] == 1
    assert "call_in_text" not in metrics(run("whybench/exact", 1, protocol="tools"))


@pytest.mark.parametrize(
    ("limits", "delay", "outcome"),
    [
        ({"message_limit": 4}, 0, "message_limit"),
        ({"token_limit": 600}, 0, "token_limit"),
        ({"time_limit": 1}, 0.7, "time_limit"),
        ({"working_limit": 1}, 0.7, "working_limit"),
    ],
)
def test_every_limit_has_a_named_outcome_and_keeps_the_trace(
    limits: dict[str, int], delay: float, outcome: str
) -> None:
    model = get_model("whybench/exact", delay=delay)
    log = inspect_eval(
        "whybench/causallink",
        task_args={"suite": "core", "protocol": "tools"},
        model=model,
        display="none",
        sample_id=FAMILY.suite("core")[27].id,
        **limits,
    )[0]
    score = log.samples[0].scores["episode_score"]
    assert score.answer == outcome
    assert score.value["unfinished"] == 1
    assert len(json.loads(log.samples[0].store[EPISODE])["actions"]) >= 1


@pytest.mark.parametrize("agent", ["null", "null_no", "random"])
def test_floors_are_ordinary_logs(agent: str) -> None:
    found = metrics(run(f"whybench/{agent}", 2 * FEW, protocol="tools"))
    first = islice(FAMILY.suite("core"), 2 * FEW)
    scores = [FAMILY.score(i, play(FAMILY.open(i), FAMILY.agent(agent, i))) for i in first]
    assert found["accuracy"] == pytest.approx(
        sum(score.values["accuracy"] for score in scores) / (2 * FEW)
    )


def test_evidence_of_the_exact_experimenter_or_of_another_run(logs: dict[str, EvalLog]) -> None:
    optimal = run("whybench/oracle", FEW, protocol="tools", evidence="optimal")
    assert mean(optimal, "understood") == 1
    assert mean(optimal, "experiments") == 0
    yoked = run("whybench/oracle", FEW, evidence="yoked", yoke=logs["tools"].location)
    assert mean(yoked, "understood") == 1
    for sample in yoked.samples:
        record = json.loads(sample.store[EPISODE])
        assert record["evidence"] == "yoked"
        assert len(record["actions"]) == record["given"] + 1
    for args in ({"evidence": "yoked", "yoke": logs["tools"].location}, {"evidence": "optimal"}):
        assert mean(run("whybench/exact", FEW, protocol="tools", **args), "understood") == 1
    part = run("whybench/exact", 5, protocol="tools")
    assert len(run("whybench/exact", evidence="yoked", yoke=part.location).samples) == 5
    random = run("whybench/random", 2 * FEW, protocol="tools")
    blind = run("whybench/oracle", evidence="yoked", yoke=random.location)
    assert mean(blind, "accuracy") == 1
    assert mean(blind, "lucky") > 0.3
    assert metrics(blind)["understood"] == 1 - mean(blind, "lucky")


def test_bad_task_arguments_are_refused() -> None:
    for args in (
        {"template": "velvet"},
        {"protocol": "semaphore"},
        {"evidence": "yoked"},
        {"suite": "unknown"},
        {"theme": "opera"},
    ):
        with pytest.raises(Exception, match=r"try |Use |yoke=LOG|no suite"):
            run("whybench/exact", 1, **args)


def command(*words: object) -> str:
    done = subprocess.run(
        ["inspect", *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_an_old_log_is_rescored_without_a_model(tmp_path: Path, logs: dict[str, EvalLog]) -> None:
    old = read_eval_log(logs["tools"].location)
    for sample in old.samples:
        for name in sample.scores["episode_score"].value:
            sample.scores["episode_score"].value[name] = 0.25
    spoiled, mended = tmp_path / "spoiled.eval", tmp_path / "mended.eval"
    from inspect_ai.log import write_eval_log

    write_eval_log(old, str(spoiled))
    command(
        "score", spoiled, "--scorer", "whybench/episode_score", "--model", "none/none",
        "--action", "overwrite", "--output-file", mended, "--display", "none",
    )  # fmt: skip
    new = read_eval_log(str(mended))
    assert metrics(new) == pytest.approx(metrics(logs["tools"]), nan_ok=True)
    assert all(sample.scores["episode_score"].value["understood"] == 1 for sample in new.samples)


def test_an_eval_set_runs_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    command(
        "eval-set", "whybench/causallink", "-T", "suite=core_distinct", "-T", "protocol=tools",
        "-T", "theme=nonsense", "--model", "whybench/exact,whybench/null", "--log-dir", folder,
        "--display", "none", "--limit", FEW,
    )  # fmt: skip
    logs = [read_eval_log(str(path)) for path in folder.glob("*.eval")]
    assert {log.eval.model for log in logs} == {"whybench/exact", "whybench/null"}
    assert all(len(log.samples) == FEW for log in logs)
    inspect_eval_set(
        "whybench/causallink", log_dir=str(folder), model=["whybench/exact", "whybench/null"],
        task_args={"suite": "core_distinct", "protocol": "tools", "theme": "nonsense"},
        display="none", limit=FEW,
    )  # fmt: skip
    assert len(list(folder.glob("*.eval"))) == 2
