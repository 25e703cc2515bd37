"""ReCITE through Inspect: both protocols, a second model that repairs, a context that is full."""

import json
import math
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from tests.interfaces.interfaces import assert_the_plain_interface

from whybench.families.recite import FAMILY

pytestmark = pytest.mark.wire

LIMIT = 5


@modelapi(name="says")
class Says(ModelAPI):
    """A model that always says the same; with `full` its context cannot hold the prompt."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        *,
        reply: str = "",
        full: bool = False,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._reply, self._full = reply, full
        self.asked: list[str] = []

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        self.asked.append(input[-1].text)
        stop = "model_length" if self._full else "stop"
        return ModelOutput.from_content(self.model_name, self._reply, stop_reason=stop)

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4


@pytest.fixture(autouse=True)
def _logs_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def says(**args: object) -> Model:
    return get_model("says/this", memoize=False, **args)


def run(
    model: str | Model, limit: int = LIMIT, roles: dict[str, Model] | None = None, **args: object
) -> EvalLog:
    log = inspect_eval(
        "whybench/recite", task_args=args, model=model, display="none", limit=limit,
        log_realtime=False, score_display=False, model_roles=roles,
    )[0]  # fmt: skip
    assert log.status == "success", log.error
    assert len(log.samples) == limit
    return log


@pytest.mark.parametrize("protocol", FAMILY.protocols)
@pytest.mark.parametrize("suite", ["short", "ladder"])
def test_the_exact_agent_through_inspect_is_the_one_in_the_plain_interface(
    suite: str, protocol: str
) -> None:
    log = run("whybench/exact", suite=suite, protocol=protocol)
    assert_the_plain_interface(FAMILY, suite, log, LIMIT)


def test_reasoning_fences_and_boxes_around_an_answer_do_not_matter() -> None:
    instance = FAMILY.suite("short", parameters={"names": "told"})[0]
    answer = next(FAMILY.agent("oracle", instance)).args["answer"]
    for reply in (
        f"<think>A first {{guess}}.</think>\n```json\n{answer}\n```\nThat is all.",
        f"\\boxed{{{answer}}}",
        f'{{"relationships": []}} was too little. {answer}',
    ):
        score = run(says(reply=reply), 1, names="told").samples[0].scores["episode_score"]
        assert score.value["edge_f1"] == 1.0


def test_replies_without_a_graph_are_asked_for_again_and_counted() -> None:
    model = says(reply="I cannot tell.")
    score = run(model, 1, max_errors=3).samples[0].scores["episode_score"]
    assert score.answer == "invalid_format"
    assert score.value["edge_f1"] == score.value["answered"] == 0.0
    assert score.value["retries"] == 2.0
    assert len(model.api.asked) == 3


def test_a_full_context_is_named_and_left_out_of_every_average() -> None:
    for protocol in FAMILY.protocols:
        log = run(says(full=True), 2, protocol=protocol)
        for sample in log.samples:
            score = sample.scores["episode_score"]
            assert score.answer == "context_exceeded"
            assert score.value.pop("unusable") == 1
            assert all(math.isnan(value) for value in score.value.values())
        shown = log.results.scores[0].metrics
        assert math.isnan(shown["edge_f1"].value)
        assert shown["unusable"].value == 1
        assert math.isnan(shown["understood"].value)
        assert shown["context_exceeded"].value == 1
        assert not {"understood_low", "edge_f1_low"} & shown.keys()


def test_a_second_model_puts_a_reply_into_form_and_that_is_counted() -> None:
    spoken = "Rain drives floods. Floods drive damage. That is my graph."
    arrows = [{"source": "Rain", "sink": "floods"}, {"source": "floods", "sink": "damage"}]
    second = says(reply=json.dumps({"relationships": arrows}))
    log = run(says(reply=spoken), 1, {"repair": second}, repair=True)
    score = log.samples[0].scores["episode_score"]
    assert score.value["repaired"] == score.value["answered"] == 1.0
    assert score.value["valid_first"] == 0.0
    assert spoken in second.api.asked[0]


def test_a_second_model_that_invents_is_counted_as_no_repair() -> None:
    second = says(reply='{"relationships": [{"source": "sun", "sink": "moon"}]}')
    log = run(says(reply="Rain drives floods."), 1, {"repair": second}, repair=True, max_errors=1)
    score = log.samples[0].scores["episode_score"]
    assert score.answer == "invalid_format"
    assert score.value["repaired"] == 0.0
