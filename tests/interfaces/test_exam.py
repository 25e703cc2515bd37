"""The judge's exam through Inspect, with scripted judges."""

import json
from collections import Counter
from functools import cache

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ResponseSchema,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import JSONSchema

from whybench.families.recite.judging.judged_report import JudgeScores, judged_report
from whybench.families.recite.judging.labels import PASSES
from whybench.families.recite.judging.marking import FAMILIES
from whybench.families.recite.judging.prompt import question
from whybench.families.recite.judging.reading import read_entries
from whybench.interfaces.inspectai.exam import exam_in, paper_at, recite_exam
from whybench.interfaces.inspectai.examinee import SEAT, ScriptedJudge

TINY = {"nodes": 5, "length": 700}


@modelapi(name="mumbling")
class Mumbling(ModelAPI):
    """A judge whose first replies to each question cannot be read; then it is perfect."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        *,
        unread: int = 1,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
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
    assert all(found[f"kappa_{family}"] == pytest.approx(1) for family in FAMILIES)
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
    table = judged_report(JudgeScores(exam.judge, {"recall": [0.2, 0.4, 0.6]}), exam)
    assert table.scores["recall"].estimate == pytest.approx(0.4)
    assert "1.000" in table.markdown()
    with pytest.raises(ValueError, match="examine openai/gpt-x"):
        judged_report(JudgeScores("openai/gpt-x", {"recall": [0.2]}), exam)
    with pytest.raises(ValueError, match="holds no exam"):
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
        recite_exam(papers=1, salt=salt, field="health").dataset[0].metadata["instance"]
        for salt in ("exam", "public")
    )
    assert paper_at(own).case.document != paper_at(public).case.document
    assert json.loads(own)["knobs"] == {
        "distractors": 0.6, "field": "health", "implied": 0.2, "stated": 0.4,
    }  # fmt: skip
    with pytest.raises(ValueError, match="papers=0"):
        recite_exam(papers=0)
    with pytest.raises(ValueError, match="try perfect, random, strong"):
        get_model("whybench_judge/good")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_outside_the_exam_only_judges_without_a_key_can_judge() -> None:
    assert SEAT.get(None) is None
    task = recite_exam(papers=1, field="health", **TINY)
    case = paper_at(task.dataset[0].metadata["instance"]).case
    asked = question(case, "edge_recall")
    shape = ResponseSchema(name="judge", json_schema=JSONSchema.model_validate(asked.schema))
    config = GenerateConfig(response_schema=shape)
    for name in ("random", "strong"):
        said = await get_model(f"whybench_judge/{name}").generate("Judge.", config=config)
        numbers = range(1, len(case.gold_edges) + 1)
        assert len(read_entries("edge_recall", numbers, asked.word, said.completion)) == len(
            case.gold_edges
        )
    with pytest.raises(ValueError, match="recite_exam only"):
        await get_model("whybench_judge/perfect").generate("Judge.", config=config)
    with pytest.raises(ValueError, match="schema=true"):
        await get_model("whybench_judge/strong").generate("Judge.")
