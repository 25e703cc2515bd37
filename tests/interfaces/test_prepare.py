"""Papers prepared through Inspect, with a model that answers by rule."""

import json
from collections import Counter
from pathlib import Path

import anyio
import pytest
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

from whybench.families.recite.extras.prepare import Outcome, models, prepare
from whybench.families.recite.world.published.texts import records

pytestmark = pytest.mark.wire

pymupdf = pytest.importorskip("pymupdf")

BODY = "Rain wets roads. Wet roads slow the traffic down, and slow traffic makes people late.\n"
TASKS = ("clean Markdown", "edit them away", "typed the variables", "how the text speaks")


@modelapi(name="copyist")
class Copyist(ModelAPI):
    """Copies papers, changes nothing else; can break off its first reply, or die at one."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        *,
        dies: int = -1,
        breaks_off: bool = False,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self.asked: list[str] = []
        self.temperatures: set[float | None] = set()
        self._dies, self._breaks_off = dies, breaks_off

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        prompt = input[-1].text
        if len(self.asked) == self._dies:
            raise LookupError("killed")
        self.asked.append(next(task for task in TASKS if task in prompt))
        self.temperatures.add(config.temperature)
        output = ModelOutput.from_content(self.model_name, self._said(prompt))
        if self._breaks_off and len(self.asked) == 1:
            output.choices[0].stop_reason = "max_tokens"
        return output

    def _said(self, prompt: str) -> str:
        if TASKS[0] in prompt:
            return prompt.split(">>>\n")[1].split("\n<<<END")[0]
        if TASKS[1] in prompt:
            return '{"normalizations": []}'
        if TASKS[2] in prompt:
            return '{"combined_variables": []}'
        names = json.loads(prompt.split("The variables:\n")[1].split("\n\nThe text")[0])
        return json.dumps({"scores": dict.fromkeys(names, 1)})

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4


def copyist(**args: object) -> Model:
    return get_model("copyist/one", memoize=False, **args)


@pytest.fixture
def papers(tmp_path: Path) -> list[Path]:
    found = []
    for name in ("first", "second"):
        document = pymupdf.open()
        text = BODY * 4 + f"This is the {name} paper.\n"
        document.new_page().insert_textbox((50, 50, 550, 800), text, fontsize=9)
        document.save(tmp_path / f"{name}.pdf")
        edges = f"source,target\nRain,Wet roads\nWet roads,{name} traffic\n"
        (tmp_path / f"{name}.csv").write_text(edges)
        found.append(tmp_path / f"{name}.pdf")
    return found


def run(papers: list[Path], model: Model | str, at_once: int = 4) -> Outcome:
    folder = papers[0].parent

    async def call() -> Outcome:
        return await prepare(papers, folder, folder / "out", model, at_once=at_once)

    return anyio.run(call)


def test_papers_go_through_all_steps_and_the_loader_reads_the_folder(papers: list[Path]) -> None:
    model = copyist()
    found = run(papers, model)
    assert not found.failed
    assert set(Counter(model.api.asked).values()) == {2}
    assert model.api.temperatures == {0.0}
    loaded = records(str(found.texts.parent))
    assert [(one.id, len(one.nodes), len(one.edges)) for one in loaded] == [(1, 3, 2), (2, 3, 2)]
    assert "second paper" in loaded[1].text
    told = found.to_json()["prepared"]["first"]
    assert (told["nodes"], told["edges"], told["explicitness"], told["retries"]) == (3, 2, 1, {})
    assert (found.texts.parent / "changes" / "second.jsonl").exists()


def test_a_run_that_was_killed_asks_nothing_twice(papers: list[Path]) -> None:
    first = copyist(dies=5)
    with pytest.raises(LookupError, match="killed"):
        run(papers, first, at_once=1)
    second = copyist()
    assert not run(papers, second, at_once=1).failed
    assert len(first.api.asked) + len(second.api.asked) == 8
    third = copyist(dies=0)
    assert len(run(papers, third).prepared) == 2


def test_one_paper_that_fails_does_not_stop_the_others(papers: list[Path]) -> None:
    papers[0].with_suffix(".csv").write_text("Rain,Rain\n")
    found = run(papers, copyist())
    assert list(found.prepared) == ["second"]
    assert "line 1: both ends are the same" in found.failed["first"]
    assert len(found.texts.read_text().splitlines()) == 1


def test_a_reply_that_broke_off_is_refused_and_counted(papers: list[Path]) -> None:
    found = run(papers[:1], copyist(breaks_off=True))
    assert found.prepared["first"].retries == {"variables": 1}
    listed = (found.texts.parent / "changes" / "first.jsonl").read_text().splitlines()
    (refused,) = [item for item in map(json.loads, listed) if item["kind"] == "refused"]
    assert "broke off" in refused["note"]


def ids(found: Outcome) -> dict[str, int]:
    rows = map(json.loads, found.texts.read_text("utf-8").splitlines())
    return {row["paper"]: row["id"] for row in rows}


def test_a_later_run_adds_to_the_records_and_ids_stay(papers: list[Path]) -> None:
    first, second = papers
    assert ids(run([second], copyist())) == {"second": 1}
    found = run([first], copyist())
    assert ids(found) == {"second": 1, "first": 2}
    assert list(found.prepared) == ["first"]
    assert ids(run(papers, copyist(dies=0))) == {"second": 1, "first": 2}
    second.with_suffix(".csv").write_text("Rain,Wet roads\nWet roads,late people\n")
    found = run([second], copyist())
    assert ids(found) == {"second": 1, "first": 2}
    loaded = {one.id: one for one in records(str(found.texts))}
    assert "late people" in loaded[1].nodes
    assert "first traffic" in loaded[2].nodes


def test_a_paper_that_fails_later_keeps_the_record_it_had(papers: list[Path]) -> None:
    run(papers, copyist())
    papers[0].with_suffix(".csv").write_text("Rain,Rain\n")
    found = run(papers[:1], copyist())
    assert list(found.failed) == ["first"]
    assert ids(found) == {"first": 1, "second": 2}


def test_records_of_unknown_papers_are_not_overwritten(papers: list[Path]) -> None:
    texts = papers[0].parent / "out" / "texts.jsonl"
    texts.parent.mkdir()
    texts.write_text('{"id": 1}\n')
    model = copyist()
    with pytest.raises(ValueError, match="use another folder"):
        run(papers, model)
    assert not model.api.asked
    assert texts.read_text() == '{"id": 1}\n'


def test_a_step_may_have_a_model_of_its_own() -> None:
    found = models({"": "copyist/most", "explicitness": "copyist/other"})
    assert {step: model.name for step, model in found.items()} == {
        "variables": "most", "markdown": "most", "normalise": "most", "explicitness": "other",
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"no step 'text'\. Use variables, markdown"):
        models({"text": "copyist/most"})
