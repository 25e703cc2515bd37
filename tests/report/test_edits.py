"""Edited logs: each kind of edit is named, but for the one that cannot be noticed."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from inspect_ai import score as rescore
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, write_eval_log
from typer.testing import CliRunner

from whybench.cli import app
from whybench.episode.registry import load_suite
from whybench.interfaces.inspectai.record import CLUSTER, EPISODE, INSTANCE, REPLY
from whybench.interfaces.inspectai.runner import reference_logs
from whybench.interfaces.inspectai.scorer import episode_score
from whybench.report.replay.check import checked, said
from whybench.report.runs import Logs, read_runs

pytestmark = pytest.mark.wire

SCORE = "episode_score"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """One log of each protocol, of an agent that experiments and is sometimes wrong."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        found = {}
        for protocol in ("tools", "dialogue"):
            folder = tmp_path_factory.mktemp(protocol)
            suite = load_suite("causallink/advanced")
            [log] = reference_logs(suite, ["random"], folder, 4, {"protocol": protocol})
            found[protocol] = Path(log.removeprefix("file://"))
        yield found


def record(sample: EvalSample, **changes: object) -> None:
    sample.store[EPISODE] = json.dumps(json.loads(sample.store[EPISODE]) | changes)


def actions(sample: EvalSample) -> list[dict]:
    return json.loads(sample.store[EPISODE])["actions"]


def place(sample: EvalSample, **changes: object) -> None:
    sample.metadata[INSTANCE] = json.dumps(json.loads(sample.metadata[INSTANCE]) | changes)


def other(answer: str) -> str:
    return {"yes": "no", "no": "yes"}[answer]


def answered_otherwise(sample: EvalSample) -> None:
    *first, last = actions(sample)
    last["args"]["answer"] = other(last["args"]["answer"])
    record(sample, actions=[*first, last])


def last_reply(sample: EvalSample) -> None:
    """Change the last reply of the model, in a call or in a text."""
    said = [message for message in sample.messages if message.role == "assistant"][-1]
    if said.tool_calls:
        said.tool_calls[0].arguments["answer"] = other(said.tool_calls[0].arguments["answer"])
    else:
        said.content = said.text.replace("yes", "?").replace("no", "yes").replace("?", "no")


def told_otherwise(sample: EvalSample) -> None:
    """Change what the model was told after its first action, or in the first prompt."""
    told = [message for message in sample.messages if message.role in ("tool", "user")]
    told[min(1, len(told) - 1)].content = "Nothing happened."


def score(sample: EvalSample, **changes: object) -> None:
    held = sample.scores[SCORE]
    held.value = {**held.value, **changes}


def outcome(sample: EvalSample, name: str) -> None:
    sample.scores[SCORE].answer = name


def label(sample: EvalSample) -> None:
    sample.scores[SCORE].metadata["verdict"] = "understood"


def first(edit: Callable[[EvalSample], None]) -> Callable[[EvalLog], None]:
    return lambda log: edit(log.samples[0])


def header(log: EvalLog) -> None:
    log.results.scores[0].metrics["accuracy"].value = 0.99


def version(log: EvalLog) -> None:
    log.eval.task_version = f"7-{str(log.eval.task_version).partition('-')[2]}"


def dropped(log: EvalLog) -> None:
    log.samples = log.samples[1:]


def dropped_well(log: EvalLog) -> None:
    dropped(log)
    log.results.total_samples = log.results.completed_samples = len(log.samples)


def swapped(log: EvalLog) -> None:
    one, two = log.samples[:2]
    one.metadata, two.metadata = two.metadata, one.metadata


def records_swapped(log: EvalLog) -> None:
    one, two = log.samples[:2]
    one.store, two.store = two.store, one.store


EDITS: dict[str, Callable[[EvalLog], None]] = {
    "a metric of a score": first(lambda s: score(s, accuracy=0.25)),
    "a side metric": first(lambda s: score(s, interventions=99.0)),
    "the flag for unusable replies": first(lambda s: score(s, unusable=1.0)),
    "a metric taken out": first(lambda s: s.scores[SCORE].value.pop("accuracy")),
    "the outcome": first(lambda s: outcome(s, "refused")),
    "a label": first(label),
    "the header's figure": header,
    "the answer": first(answered_otherwise),
    "an action left out": first(lambda s: record(s, actions=actions(s)[:-1])),
    "an action added at the end": first(lambda s: record(s, actions=actions(s) + actions(s)[-1:])),
    "the order of the actions": first(lambda s: record(s, actions=actions(s)[::-1])),
    "no actions": first(lambda s: record(s, actions=[])),
    "the outcome of the record": first(lambda s: record(s, outcome="timeout")),
    "whose evidence it was": first(lambda s: record(s, evidence="optimal", given=1)),
    "the kind of the last reply": first(
        lambda s: (s.store.update({REPLY: "refused"}), record(s, actions=actions(s)[:-1]))
    ),
    "an observation in the messages": first(told_otherwise),
    "the reply in the messages": first(last_reply),
    "the index": first(lambda s: place(s, index=3)),
    "the seed": first(lambda s: place(s, seed="another")),
    "the version of the family": first(lambda s: place(s, version="0")),
    "the parameters": first(lambda s: place(s, parameters={"budget": 99})),
    "the cluster": first(lambda s: s.metadata.update({CLUSTER: "x"})),
    "coordinates of two samples swapped": swapped,
    "records of two samples swapped": records_swapped,
    "the version in the header": version,
    "a sample left out": dropped,
    "a sample left out, and its count": dropped_well,
}


def edited(log: Path, folder: Path, edit: Callable[[EvalLog], None]) -> Path:
    held = read_eval_log(str(log))
    held.samples = list(held.samples)
    edit(held)
    path = folder / log.name
    write_eval_log(held, str(path))
    return path


@pytest.mark.parametrize("protocol", ["tools", "dialogue"])
def test_every_edit_is_named_and_an_honest_log_is_not(
    logs: dict[str, Path], tmp_path: Path, protocol: str
) -> None:
    honest = checked(read_runs([logs[protocol]]))
    assert (honest.differences, honest.unchecked) == ((), ())
    unnoticed = []
    for name, edit in EDITS.items():
        found = read_runs([edited(logs[protocol], tmp_path, edit)], trust=False)
        if not said(found):
            unnoticed.append(name)
    assert unnoticed == []


def by_sample(logs: Logs) -> dict[str, float]:
    frame = logs.runs[0].frame
    return dict(zip(frame["sample"], frame["accuracy"], strict=True))


def test_the_replayed_score_is_used_and_named(logs: dict[str, Path], tmp_path: Path) -> None:
    before = by_sample(read_runs([logs["tools"]]))

    def all_right(log: EvalLog) -> None:
        for sample in log.samples:
            score(sample, accuracy=0.5)
        header(log)

    path = edited(logs["tools"], tmp_path, all_right)
    assert set(by_sample(read_runs([path])).values()) == {0.5}
    found = read_runs([path], trust=False)
    assert by_sample(found) == before
    texts = [str(one) for one in found.differences]
    for name, value in before.items():
        what = f"{path.name}, {name} (epoch 1): accuracy: stored 0.5, replayed {value:g}"
        assert what in texts
    for command in (["table", str(path)], ["results", str(path), "-o", str(tmp_path / "out")]):
        ran = CliRunner().invoke(app, command)
        assert "stored 0.5, replayed" in ran.stderr
        assert "stored" not in CliRunner().invoke(app, [*command, "--trust-scores"]).stderr


def test_scoring_again_names_the_difference(
    logs: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    held = read_eval_log(str(logs["tools"]), resolve_attachments=True)
    for sample in held.samples:
        score(sample, accuracy=0.5)
        for event in sample.events:
            if event.event == "score":
                event.score.value = {**event.score.value, "accuracy": 0.5}
    with caplog.at_level("WARNING"):
        again = rescore(
            held, episode_score(), action="overwrite", model="none/none", display="none"
        )
    assert {sample.scores[SCORE].value["accuracy"] for sample in again.samples} <= {0, 1}
    assert caplog.text.count("accuracy: stored 0.5, replayed") == len(held.samples)


def test_a_summary_that_differs_from_its_sample_is_named(
    logs: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / logs["tools"].name
    with zipfile.ZipFile(logs["tools"]) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "summaries.json":
                rows = json.loads(text)
                for row in rows:
                    row["scores"][SCORE]["value"]["accuracy"] = 0.5
                text = json.dumps(rows).encode()
            new.writestr(name, text)
    assert any("accuracy: stored 0.5" in line for line in said(read_runs([path], trust=False)))


def test_a_whole_forgery_that_plays_legally_is_not_noticed(
    logs: dict[str, Path], tmp_path: Path
) -> None:
    """The documentation says so: actions, messages and scores that fit each other are a run."""

    def forged(log: EvalLog) -> None:
        sample = log.samples[0]
        answered_otherwise(sample)
        last_reply(sample)
        found = read_runs([edited(logs["tools"], tmp_path, first(answered_otherwise))], trust=False)
        row = found.runs[0].frame.iloc[0]
        held = sample.scores[SCORE]
        held.value = {name: row[name] for name in held.value}
        held.answer, held.metadata = row["outcome"], row["labels"]
        log.results = None

    path = edited(logs["tools"], tmp_path, forged)
    assert said(read_runs([path], trust=False)) == []
