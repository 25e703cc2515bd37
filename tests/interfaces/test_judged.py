"""Judge scores out of logs with the judge's exam: what is read, shown and refused."""

import contextvars
import json
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from tempfile import TemporaryDirectory

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai import score as inspect_score
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.solver import chain
from typer.testing import CliRunner, Result

from whybench.cli import app
from whybench.families.recite.extras.judge import as_published
from whybench.families.recite.extras.judge.as_published import table_3
from whybench.families.recite.extras.judge.case import Case
from whybench.families.recite.extras.judge.exam_task import recite_exam
from whybench.families.recite.extras.judge.scorer import graph_judge
from whybench.judge.exam import ENTRIES, exam_in
from whybench.judge.judged_logs import judged_tables, scores_in
from whybench.judge.panel import same_model
from whybench.judge.scripted import ScriptedJudge

pytestmark = pytest.mark.wire

TINY = {"nodes": 5, "length": 700, "field": "health"}


@modelapi(name="guess")
class Guess(ModelAPI):
    """A judge that guesses, or mumbles, under whatever name."""

    async def generate(self, input, tools, tool_choice, config):  # type: ignore[no-untyped-def]  # noqa: A002
        if self.model_name == "mumbles":
            return ModelOutput.from_content("guess/mumbles", "Hm.")
        return await ScriptedJudge("random").generate(input, tools, tool_choice, config)


@cache
def folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def run(task: object, model: str, **options: object) -> EvalLog:
    return inspect_eval(task, model=model, display="none", log_dir=folder().name, **options)[0]


@cache
def answered(judge: str = "guess/one,guess/two", allow_self: bool = False) -> EvalLog:
    arguments = {"judge": judge, "allow_self": allow_self, **TINY}
    log = run("whybench/recite", "whybench/oracle", limit=2, task_args=arguments)
    assert log.status == "success", log.error
    return log


@cache
def exam(judge: str, papers: int = 2) -> EvalLog:
    log = run(recite_exam(papers=papers, **TINY), judge)
    assert log.status == "success", log.error
    return log


def shown(log: EvalLog, *exams: EvalLog) -> list[str]:
    tables = judged_tables(log.location, [one.location for one in exams])
    return [table.markdown() for table in tables]


# What is read -------------------------------------------------------------------------------------


def test_every_judge_has_a_table_and_each_needs_its_exam() -> None:
    one, two = shown(answered(), exam("guess/one"), exam("guess/two"))
    assert one.startswith("Judge guess/one, graph_judge, examined on 2 papers")
    assert two.startswith("Judge guess/two, graph_judge, examined on 2 papers")
    for name in ("f1", "precision", "recall", "graph_precision", "unweighted_f1"):
        assert f"\n| {name} | " in one
    assert "self-judged" not in one + two
    with pytest.raises(ValueError, match="scores of guess/two need its exam"):
        shown(answered(), exam("guess/one"))
    with pytest.raises(ValueError, match="no judge scores"):
        shown(exam("guess/one"))


def test_scores_that_were_appended_are_read_as_well() -> None:
    log = inspect_score(answered(), graph_judge("guess/three"), action="append", display="none")
    assert {"graph_judge", "graph_judge1"} <= set(log.samples[0].scores)
    found = scores_in(log)
    assert [(one.judge, one.key) for one in found] == [
        ("guess/one", "graph_judge"),
        ("guess/two", "graph_judge"),
        ("guess/three", "graph_judge1"),
    ]
    assert all(len(one.values["f1"]) == len(one.clusters) == 2 for one in found)
    assert found[0].asked == [True, True]


def test_answers_without_a_judge_are_told_apart() -> None:
    log = read_eval_log(answered().location)
    for verdict in log.samples[0].scores["graph_judge"].metadata["verdicts"]:
        verdict["values"] |= {"judged_too_large": 1.0, "f1": None}
    found = scores_in(log)[0]
    assert found.asked == [False, True]
    assert found.values["f1"][0] != found.values["f1"][0]  # null is NaN
    log.samples[1].scores["graph_judge"].metadata["judges"] = ["guess/two", "guess/one"]
    with pytest.raises(ValueError, match=r"Different judges gave .* in one log"):
        scores_in(log)


def test_an_answer_without_end_scores_zero_without_asking() -> None:
    edges = tuple((f"V{n}", f"V{n + 1}") for n in range(600))
    nodes = tuple(sorted({name for edge in edges for name in edge}))
    endless = Case("x", "Text.", ("A", "B"), (("A", "B"),), nodes, edges)
    scoring = graph_judge("guess/mumbles", source=lambda state: endless)
    task = Task(dataset=[Sample("read")], solver=chain(), scorer=scoring)
    log = run(task, "guess/subject")
    assert log.status == "success", log.error
    found = log.samples[0].scores["graph_judge"]
    assert found.answer == "too_large"
    assert (found.value["judged_too_large"], found.value["judged_missing"]) == (1, 0)
    assert found.value["f1"] == found.value["precision"] == found.value["recall"] == 0
    assert found.value["judge_unreadable"] == found.value["incomplete"] == 0


def test_a_judge_of_its_own_answers_is_labelled() -> None:
    (table,) = shown(answered("guess/oracle", allow_self=True), exam("guess/oracle"))
    assert "self-judged" in table


def test_table_3_needs_no_exam_and_says_so() -> None:
    log = read_eval_log(answered().location)
    found = scores_in(log)[0].values
    both, *_ = table_3([answered().location]).split("\n\nNo answer is missing.")
    assert "No exam supports these scores" in both
    head, _, first, second = both.splitlines()[-4:]
    assert head == (
        "| Model | Judge | n | Node Precision | Node Recall | Edge Precision | Edge Recall | F1 "
        "| SHD | Normalized SHD |"
    )
    mean, sd = fmean(found["f1"]), pstdev(found["f1"])
    cells = first.strip("| ").split(" | ")
    assert cells[:3] == ["whybench/oracle", "guess/one", "2"]
    assert cells[7] == f"{mean:.3f} ± {sd:.3f}"
    assert cells[8] == f"{fmean(found['judged_shd']):.1f} ± {pstdev(found['judged_shd']):.1f}"
    assert second.startswith("| whybench/oracle | guess/two | 2 |")


def test_missing_answers_are_left_out_and_named() -> None:
    log = read_eval_log(answered().location)
    gone = log.samples[0]
    gone.scores["episode_score"].answer = "invalid_answer"
    for verdict in gone.scores["graph_judge"].metadata["verdicts"]:
        verdict["values"]["judged_missing"] = 1.0
    one = as_published.row(log, scores_in(log)[0])
    assert one.n == 1
    assert one.figures[4] == (scores_in(log)[0].values["f1"][1], 0.0)
    assert list(as_published.missing_lines(log)) == [
        f"- whybench/oracle: 1 invalid_answer: {gone.id}"
    ]


# Exams --------------------------------------------------------------------------------------------


def test_two_exams_of_a_judge_are_refused_unless_they_are_the_same_log() -> None:
    log, two = answered(), exam("guess/two")
    assert shown(log, exam("guess/one"), exam("guess/one"), two) == shown(
        log, exam("guess/one"), two
    )
    with pytest.raises(ValueError, match="two exams of guess/one"):
        shown(log, exam("guess/one"), exam("guess/one", 1), two)


def test_an_exam_without_a_readable_pass_is_refused() -> None:
    with pytest.raises(ValueError, match="No pass in the exam"):
        shown(answered("guess/mumbles"), exam("guess/mumbles", 1))


def test_an_exam_is_sat_once() -> None:
    repeated = run(recite_exam(papers=1, **TINY), "guess/one", epochs=2)
    assert repeated.status == "error"
    assert "epochs=1" in repeated.error.message
    log = read_eval_log(exam("guess/one").location)
    again = log.samples[0].model_copy(update={"epoch": 2})
    assert json.loads(again.store[ENTRIES])
    log.samples.append(again)
    with pytest.raises(ValueError, match="epochs=1"):
        exam_in(log)


# On the command line ------------------------------------------------------------------------------


def command(*words: object) -> Result:
    return CliRunner().invoke(app, ["recite", "judged", *map(str, words)])


def path(log: EvalLog) -> Path:
    return Path(log.location.removeprefix("file://"))


def test_the_command_shows_tables_and_refuses_scores_without_an_exam() -> None:
    exams = [word for name in ("guess/one", "guess/two") for word in ("--exam", path(exam(name)))]
    found = command(path(answered()), *exams)
    assert found.exit_code == 0, found.output
    assert found.stdout.count("| score | as judged | corrected | bias in the exam |") == 2
    assert "if the judge makes the same errors on similar elements" in found.stdout
    refused = command(path(answered()))
    assert refused.exit_code == 2
    assert "need its exam" in " ".join(refused.output.replace("│", " ").split())


# Who judges ---------------------------------------------------------------------------------------


def test_all_judges_of_a_role_are_used() -> None:
    roles = {"judge": [get_model("guess/one"), get_model("guess/two")]}
    arguments = {"judge": True, **TINY}
    log = run("whybench/recite", "whybench/oracle", limit=1, task_args=arguments, model_roles=roles)
    found = log.samples[0].scores["graph_judge"]
    assert found.metadata["judges"] == ["guess/one", "guess/two"]
    assert found.value["judges"] == 2


def test_a_judge_in_the_environment_may_score_the_log_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = read_eval_log(answered().location)
    monkeypatch.setenv("INSPECT_EVAL_MODEL", "guess/three")
    # Evaluations that ran before in this process leave their model behind in the context.
    scoring = contextvars.Context().run(graph_judge, "guess/three")
    found = inspect_score(log, scoring, action="overwrite", display="none")
    assert found.samples[0].scores["graph_judge"].metadata["judges"] == ["guess/three"]
    with pytest.raises(ValueError, match="allow_self=true"):
        inspect_score(log, graph_judge("guess/oracle"), action="overwrite", display="none")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("openai/gpt-4o", "azure/gpt-4o-2024-08-06", True),
        ("bedrock/us.anthropic.claude-3-5-haiku-20241022-v1:0", "a/claude-3-5-haiku", True),
        ("vertex/claude-3-5-sonnet@20240620", "anthropic/claude-3-5-sonnet-20241022", True),
        ("openrouter/deepseek/deepseek-chat:free", "deepseek/deepseek-chat", True),
        ("together/deepseek-ai/DeepSeek-V3-0324", "deepseek/deepseek-v3", True),
        ("hf/org1/model", "vllm/org2/model", True),
        ("openai/gpt-4o", "openai/gpt-4o-mini", False),
        ("deepseek/deepseek-v2", "deepseek/deepseek-v3", False),
        ("google/gemini-1.5-pro", "google/gemini-2.5-pro", False),
    ],
)
def test_one_model_is_known_under_its_names(one: str, other: str, same: bool) -> None:
    assert same_model(one, other) is same_model(other, one) is same
