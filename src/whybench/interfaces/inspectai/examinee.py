"""Scripted judges as ordinary models: the exam's floors and ceiling.

`whybench_judge/perfect` looks up the key, so it sits the exam only; `whybench_judge/random` and
`whybench_judge/strong` (the best label, always) judge anything that is asked with a schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from whybench.core.seeds import Stream
from whybench.episode.question import CASE
from whybench.families.recite.judging.exam import Paper
from whybench.families.recite.judging.labels import Entry, Field, PassName
from whybench.families.recite.judging.reading import ELEMENTS, WHY
from whybench.families.recite.judging.scripted import (
    Chooses,
    always_strong,
    entries_by,
    guessing,
    perfect,
)

NAMES = ("perfect", "random", "strong")


@dataclass(frozen=True, slots=True)
class Seat:
    """What an examinee has before it."""

    paper: Paper
    name: PassName
    numbers: Sequence[int]
    word: str


SEAT: ContextVar[Seat] = ContextVar("whybench_seat")
"""Set by the exam in its own context, so that samples running at once never meet."""


@modelapi(name="whybench_judge")
class ScriptedJudge(ModelAPI):
    """Judges by a script: `perfect`, `random` or `strong`."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in NAMES:
            raise ValueError(f"no scripted judge {model_name!r}: try {', '.join(NAMES)}")

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002, ARG002 - Inspect's own name
        tools: list[ToolInfo],  # noqa: ARG002
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,
    ) -> ModelOutput:
        """Return a reply in the form that was asked for."""
        seat = SEAT.get(None)
        said = self._unseated(config) if seat is None else self._seated(seat)
        return ModelOutput.from_content(f"whybench_judge/{self.model_name}", json.dumps(said))

    async def count_text_tokens(self, text: str) -> int:
        """Four characters a token: no tokenizer, no network."""
        return len(text) // 4

    def max_connections(self) -> int:
        """As many samples at once as Inspect likes."""
        return 100

    def _seated(self, seat: Seat) -> dict[str, Any]:
        chooses = self._chooses(seat.word, seat.name, *seat.numbers[:1])
        every = entries_by(chooses, seat.paper, seat.name)
        return _reply(seat.word, {str(number): every[number] for number in seat.numbers})

    def _unseated(self, config: GenerateConfig) -> dict[str, Any]:
        """Answer a question by its schema alone."""
        asked = config.response_schema
        if asked is None or self.model_name == "perfect":
            raise ValueError(
                "whybench_judge/perfect sits whybench/recite_exam only; random and strong judge "
                "elsewhere too, with schema=true"
            )
        shape = asked.json_schema.model_dump(exclude_none=True)["properties"]
        word = str(shape[CASE]["enum"][0])
        chooses = self._chooses(word, *shape[ELEMENTS]["properties"])
        entries = {
            number: {
                name: chooses(Field(name, "", "", tuple(field["enum"]), ""), ())
                for name, field in entry["properties"].items()
                if name != WHY
            }
            for number, entry in shape[ELEMENTS]["properties"].items()
        }
        return _reply(word, entries)

    def _chooses(self, *path: str | int) -> Chooses:
        if self.model_name == "random":
            return guessing(Stream("recite", "guessing", *path))
        return perfect if self.model_name == "perfect" else always_strong


def _reply(word: str, entries: Mapping[str, Entry]) -> dict[str, Any]:
    return {CASE: word, ELEMENTS: {number: {WHY: "", **entry} for number, entry in entries.items()}}
