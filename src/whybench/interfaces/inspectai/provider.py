"""A model provider without a network: reference agents and fixed replies as ordinary models.

`whybench/exact`, or any other agent of the family, reads the episode of the solver. It sees only
what an agent sees. So floors and ceilings are ordinary Inspect logs. `whybench/script` gives fixed
replies, the same for all samples or by sample id. Inspect's own mock model downloads a tokenizer
file on first use; this provider does not.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from whybench.causal.canonical import Json, thaw
from whybench.curriculum.columns import tokens_in
from whybench.episode.action import Action
from whybench.interfaces.inspectai.record import LIVE, Live

SCRIPT = "script"


@modelapi(name="whybench")
class Scripted(ModelAPI):
    """A model that plays a reference agent (`whybench/AGENT`) or fixed replies."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        *,
        replies: list[Json] | dict[str, list[Json]] | None = None,
        delay: float = 0.0,
        journal: str | None = None,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._replies = replies or []
        self._delay = delay
        self._journal = None if journal is None else Path(journal)

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 - Inspect's own name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,  # noqa: ARG002
        config: GenerateConfig,  # noqa: ARG002
    ) -> ModelOutput:
        """Return the next reply, with estimated token counts."""
        live = LIVE.get(None)
        if live is None:
            raise ValueError("The provider `whybench` works only with WhyBench tasks.")
        if self._journal is not None:
            with self._journal.open("a") as file:
                file.write(live.instance.id + "\n")
        if self._delay:
            await anyio.sleep(self._delay)
        output = self._scripted(live) if self.model_name == SCRIPT else self._played(live)
        message = output.message
        live.calls += 1
        output.model = f"whybench/{self.model_name}"
        if live.offered is None:
            live.offered = sum(_tokens(f"{t.name} {t.description} {_schema(t)}") for t in tools)
        said = _written(message)
        asked = live.offered + sum(map(_written, input))
        output.usage = ModelUsage(input_tokens=asked, output_tokens=said, total_tokens=asked + said)
        return output

    async def count_text_tokens(self, text: str) -> int:
        """Return the estimated number of tokens. No tokenizer is needed."""
        return tokens_in(text)

    def max_connections(self) -> int:
        """Return a limit that is high enough not to slow Inspect down."""
        return 100

    def _scripted(self, live: Live) -> ModelOutput:
        """Return the next reply of the script. The last reply repeats.

        A reply is a text, a tool call, a list of tool calls, or an object with any of the keys
        `text`, `reasoning`, `calls` and `stop_reason`.
        """
        said = self._replies
        replies = said.get(live.instance.id) if isinstance(said, dict) else said
        if not replies:
            raise ValueError(
                "whybench/script has no replies. Pass -M replies=[…] or --model-config."
            )
        reply = replies[min(live.calls, len(replies) - 1)]
        if isinstance(reply, str):
            reply = {"text": reply}
        elif isinstance(reply, list):
            reply = {"calls": reply}
        elif "tool" in reply:
            reply = {"calls": [reply]}
        content: str | list[Content] = reply.get("text", "")
        if "reasoning" in reply:
            thought = ContentReasoning(reasoning=reply["reasoning"])
            content = [thought, ContentText(text=reply.get("text", ""))]
        calls = [
            ToolCall(
                id=f"{live.calls}-{number}",
                function=call["tool"],
                arguments=call.get("args", {}),
                parse_error=call.get("parse_error"),
            )
            for number, call in enumerate(reply.get("calls", ()))
        ]
        message = ChatMessageAssistant(content=content, tool_calls=calls or None)
        return ModelOutput.from_message(message, reply.get("stop_reason", "stop"))

    def _played(self, live: Live) -> ModelOutput:
        """Return the action of the reference agent. In a dialogue it is written as a reply."""
        action = live.pending or _next_move(live, self.model_name)
        if live.talk is None:
            call = ToolCall(id=str(live.calls), function=action.name, arguments=thaw(action.args))
            message = ChatMessageAssistant(content="", tool_calls=[call])
            return ModelOutput.from_message(message)
        text, carried_out = live.talk.say(action)
        live.pending = None if carried_out else action
        return ModelOutput.from_message(ChatMessageAssistant(content=text))


_tokens = lru_cache(maxsize=4096)(tokens_in)


def _written(message: ChatMessage) -> int:
    """Return the tokens of a message, with its calls."""
    calls = message.tool_calls or () if isinstance(message, ChatMessageAssistant) else ()
    told = (_tokens(f"{call.function} {json.dumps(call.arguments)}") for call in calls)
    return _tokens(message.text) + sum(told)


def _schema(tool: ToolInfo) -> str:
    return tool.parameters.model_dump_json(exclude_none=True)


def _next_move(live: Live, agent: str) -> Action:
    if live.moves is None:
        live.moves = live.family.agent(agent, live.instance, live.episode.evidence_given)
        return next(live.moves)
    return live.moves.send(live.episode.trace.steps[-1].observation)
