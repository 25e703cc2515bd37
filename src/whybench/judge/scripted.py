"""Scripted judges: floors and ceiling of an exam, and judges for tests.

`whybench_judge/perfect` looks up the key, so it works in the exam only. `whybench_judge/random` and
`whybench_judge/strong` (always the best label) give any labels that are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from whybench.causal.seeds import Stream
from whybench.judge.label_judge import SEAT, Key, Rights
from whybench.judge.labels import ELEMENTS, WHY, Entry, Field, LabelScheme
from whybench.judge.panel import EXAM_ONLY, OTHERS
from whybench.judge.question import CASE

NAMES = ("perfect", "random", "strong")

Chooses = Callable[[Field, tuple[str, ...]], str]
"""Chooses a label for a field, given the right labels; empty if the key does not decide."""


def perfect(field: Field, right: tuple[str, ...]) -> str:
    """Choose the right label; if the key does not decide, the middle one."""
    return right[0] if right else field.labels[len(field.labels) // 2]


def always_strong(field: Field, right: tuple[str, ...]) -> str:  # noqa: ARG001
    """Choose the best label, whatever is judged."""
    return field.labels[0]


def guessing(stream: Stream) -> Chooses:
    """Choose any allowed label."""
    return lambda field, right: stream.choice(field.labels)  # noqa: ARG005


def judged_by(chooses: Chooses, labels: LabelScheme, key: Key) -> dict[str, dict[int, Entry]]:
    """Return a scripted judge's labels for everything in a key."""
    return {
        name: {
            number: {f.name: chooses(f, rights.get(f.name, ())) for f in labels.passes[name]}
            for number, rights in own.items()
        }
        for name, own in key.items()
    }


@modelapi(name="whybench_judge")
class ScriptedJudge(ModelAPI):
    """A scripted judge: `perfect`, `random` or `strong`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in NAMES:
            raise ValueError(f"Unknown scripted judge {model_name!r}. Use {', '.join(NAMES)}.")

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002, ARG002 - Inspect's own name
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Return a reply in the requested form."""
        seat = SEAT.get(None)
        if seat is None:
            raise ValueError(f"whybench_judge/{self.model_name} can only give labels.")
        if seat.paper is None and self.model_name == "perfect":
            raise ValueError(f"{EXAM_ONLY} {OTHERS}")
        key: Mapping[int, Rights] = {number: {} for number in seat.numbers}
        path: tuple[str | int, ...] = tuple(map(str, seat.numbers))
        if seat.paper is not None:
            key, path = seat.paper.key[seat.name], (seat.name, *seat.numbers[:1])
        chooses = {
            "perfect": perfect,
            "random": guessing(Stream(seat.judge.family, "guessing", seat.word, *path)),
            "strong": always_strong,
        }[self.model_name]
        every = judged_by(chooses, seat.judge.labels, {seat.name: key})[seat.name]
        entries = {str(number): {WHY: "", **every[number]} for number in seat.numbers}
        said = json.dumps({CASE: seat.word, ELEMENTS: entries})
        return ModelOutput.from_content(f"whybench_judge/{self.model_name}", said)

    async def count_text_tokens(self, text: str) -> int:
        """Count four characters per token, without a tokenizer or a network."""
        return len(text) // 4

    def max_connections(self) -> int:
        """As many samples at once as Inspect likes."""
        return 100
