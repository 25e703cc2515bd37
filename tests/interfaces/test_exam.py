"""The judge's exam through Inspect, with scripted judges."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from whybench.families.recite.extras.judge.exam_task import JUDGE, recite_exam
from whybench.families.recite.extras.judge.labels import LABELS, PASSES
from whybench.families.recite.extras.judge.prompt import question
from whybench.families.recite.extras.judge.scorer import graph_judge
from whybench.judge.exam import exam_in, paper_at
from whybench.judge.judged_report import JudgeScores, judged_report
from whybench.judge.scripted import ScriptedJudge

pytestmark = pytest.mark.wire

TINY = {"nodes": 5, "length": 700}


@modelapi(name="mumbling")
class Mumbling(ModelAPI):
    """A judge whose first replies to each question cannot be read; then it is perfect."""

    def __init__(
        self,
        model_name: str,
        *,
        unread: int = 1,
        **standard: object,
    ) -> None:
        super().__init__(model_name, **standard)
        self._unread = unread
        self._inner = ScriptedJudge("perfect")
        self.temperatures: list[float | None] = []

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        self.temperatures.append(config.temperature)
        if sum(message.role == "assistant" for message in input) < self._unread:
            return ModelOutput.from_content(self.model_name, "Hm.")
        return await self._inner.generate(input, tools, tool_choice, config)


def sat(model: object, papers: int, **options: object) -> EvalLog:
    task = recite_exam(papers=papers, field="health", **TINY)
    log = inspect_eval(task, model=model, display="none", **options)[0]
    assert log.status == "success", log.error
    return log


@cache
def perfect_log() -> EvalLog:
    return sat("whybench_judge/perfect", 3, limit=8)


def figures(log: EvalLog) -> dict[str, float]:
    return {name: found.value for name, found in log.results.scores[0].metrics.items()}


def test_a_perfect_judge_passes_with_kappa_one_and_a_limit_takes_whole_papers() -> None:
    found = figures(perfect_log())
    assert found["accuracy"] == 1
    assert all(found[f"kappa_{family}"] == pytest.approx(1) for family in LABELS.families)
    assert found["bias"] == found["unreadable"] == found["constant"] == 0
    assert found["papers"] == 2
    passes = Counter(sample.metadata["pass"] for sample in perfect_log().samples)
    assert passes == dict.fromkeys(PASSES, 2)


def test_a_guessing_judge_is_at_chance_and_one_always_pleased_is_exposed() -> None:
    guessed = figures(sat("whybench_judge/random", 4))
    assert abs(guessed["kappa"]) < 0.12
    pleased = figures(sat("whybench_judge/strong", 2))
    assert pleased["kappa"] == pytest.approx(0)
    assert pleased["constant"] == pleased["favourite_presence"] == 1
    assert pleased["bias_presence"] > 0.2


def test_an_unreadable_reply_is_asked_for_once_more_at_temperature_nought() -> None:
    once = get_model("mumbling/x", unread=1)
    found = figures(sat(once, 1))
    assert (found["unreadable"], found["accuracy"]) == (0, 1)
    assert len(once.api.temperatures) == 8
    assert set(once.api.temperatures) == {0.0}
    twice = sat(get_model("mumbling/x", unread=2), 1)
    assert figures(twice)["unreadable"] == 1
    assert {sample.scores["exam_mark"].answer for sample in twice.samples} == {"unreadable"}
    assert exam_in(twice).report.overall.n == 0


def test_the_log_holds_the_exam_that_a_report_of_the_judge_s_scores_needs() -> None:
    exam = exam_in(perfect_log())
    assert exam.judge == "whybench_judge/perfect"
    table = judged_report(JudgeScores(JUDGE, exam.judge, {"recall": [0.2, 0.4, 0.6]}), exam)
    assert table.scores["recall"].estimate == pytest.approx(0.4)
    assert "1.000" in table.markdown()
    with pytest.raises(ValueError, match="Examine openai/gpt-x"):
        judged_report(JudgeScores(JUDGE, "openai/gpt-x", {"recall": [0.2]}), exam)
    with pytest.raises(ValueError, match="has no exam of a judge"):
        exam_in(perfect_log().model_copy(update={"samples": []}))


def test_a_tiny_paper_fits_into_4096_tokens() -> None:
    for sample in recite_exam(papers=1, field="health", **TINY).dataset:
        case = paper_at(sample.metadata["instance"]).case
        asked = question(case, sample.metadata["pass"])
        assert len(asked.shared) + len(asked.prompt) < 8_000  # some 2,000 tokens
        assert len(case.document) < 1_500
        assert len(case.gold_nodes) == 5


def test_papers_are_other_documents_than_those_of_the_suite_and_must_exist() -> None:
    own, public = (
        recite_exam(papers=1, seed=seed, field="health").dataset[0].metadata["instance"]
        for seed in ("exam", "public")
    )
    assert paper_at(own).case.document != paper_at(public).case.document
    assert json.loads(own)["parameters"] == {
        "distractors": 0.6, "field": "health", "implied": 0.2, "stated": 0.4,
    }  # fmt: skip
    with pytest.raises(ValueError, match="papers=0"):
        recite_exam(papers=0)
    with pytest.raises(ValueError, match="Use perfect, random, strong"):
        get_model("whybench_judge/good")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("schema", [True, False])
async def test_outside_the_exam_only_judges_without_a_key_can_judge(schema: bool) -> None:
    task = recite_exam(papers=1, field="health", **TINY)
    case = paper_at(task.dataset[0].metadata["instance"]).case
    for name in ("random", "strong"):
        model = get_model(f"whybench_judge/{name}")
        told = await JUDGE.ask_pass(model, case, "edge_recall", schema, reasons=True)
        assert told.unreadable == 0
        assert list(told.answer or ()) == list(range(1, len(case.gold_edges) + 1))
    perfect = get_model("whybench_judge/perfect")
    with pytest.raises(ValueError, match="exam only"):
        await JUDGE.ask_pass(perfect, case, "edge_recall", schema, reasons=True)


@pytest.mark.anyio
async def test_a_scripted_judge_that_is_not_asked_for_labels_says_so() -> None:
    with pytest.raises(ValueError, match="can only give labels"):
        await get_model("whybench_judge/strong").generate("Judge.")


def test_a_judge_that_only_sits_the_exam_is_refused_in_one_line(tmp_path) -> None:
    with pytest.raises(PrerequisiteError, match="exam only"):
        graph_judge("whybench_judge/random,whybench_judge/perfect")
    judged = ["-Tjudge=true", "--model-role=judge=whybench_judge/perfect"]
    command = "import sys; from inspect_ai._cli.main import main; sys.argv[0] = 'inspect'; main()"
    found = subprocess.run(
        [sys.executable, "-c", command, "eval", "whybench/recite", "-Tsuite=short",
         "--model=whybench/null", "--limit=1", "--display=plain", *judged],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    said = " ".join((found.stdout + found.stderr).split())
    assert "whybench_judge/perfect works in a judge's exam only" in said
    assert "Traceback" not in said
    assert len((found.stdout + found.stderr).strip().splitlines()) <= 3
