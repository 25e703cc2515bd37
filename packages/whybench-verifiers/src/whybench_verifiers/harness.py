"""The harness: a model gets the instructions, the actions as tools, and an answer to every call.

The loop runs in this process. `verifiers` allows this if every model call goes through its
endpoint. So every call reaches the episode, and no program is launched.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI
from openai.types.chat import ChatCompletion
from verifiers.v1.harnesses.utils.compaction import is_context_overflow

from whybench_verifiers.playing import Playing, sendable


class WhyBenchHarnessConfig(vf.HarnessConfig):
    """The configuration of the harness. It has no options of its own."""


class WhyBenchHarness(vf.Harness[WhyBenchHarnessConfig]):
    """A harness that lets a model call the actions of an episode until it is done."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def setup(self, runtime: vf.Runtime) -> None:
        """Reject a sandbox, because nothing would run in it."""
        if not isinstance(runtime.config, vf.SubprocessConfig):
            raise ValueError(
                "WhyBench's episodes run in this process. Set --env.agent.runtime.type subprocess."
            )

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Play the episode in the rollout's state until it ends or a limit is reached."""
        del runtime, mcp_urls
        system, instructions = self.resolve_text_prompt(data)
        messages: list[dict[str, Any]] = [{"role": "user", "content": instructions}]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        # No timeout: a model may think long, and the rollout has its own deadline. No proxies.
        http = httpx.AsyncClient(timeout=None, trust_env=False, verify=_certificates())  # noqa: S113
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=http) as client:
            try:
                await _play(trace.state, client, ctx.model, messages)
            except APIStatusError as error:
                if trace.stop_condition is None and not is_context_overflow(error):
                    raise
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


async def _play(
    playing: Playing, client: AsyncOpenAI, model: str, messages: list[dict[str, Any]]
) -> None:
    session = playing.session
    tools: Any = [{"type": "function", "function": tool} for tool in session.tools]
    while not session.done:
        history: Any = messages
        completion: ChatCompletion = await client.chat.completions.create(
            model=model, messages=history, tools=tools
        )
        if _is_full(completion):
            return
        messages.append(completion.choices[0].message.model_dump(exclude_none=True))
        messages.extend(_answers(playing, completion))


def _answers(playing: Playing, completion: ChatCompletion) -> Iterator[dict[str, Any]]:
    """Run the calls of a reply in order. After the end of the episode, calls have no effect."""
    message = completion.choices[0].message
    calls = message.tool_calls
    if not calls:
        text = playing.without_call(message.content or "").text
        yield {"role": "user", "content": sendable(text)}
    for call in calls or ():
        if playing.session.done:
            return
        if call.type == "function":
            name, arguments = call.function.name, call.function.arguments
        else:
            name, arguments = call.custom.name, call.custom.input
        text = sendable(playing.call(name, arguments).text)
        yield {"role": "tool", "tool_call_id": call.id, "name": name, "content": text}


def _is_full(completion: ChatCompletion) -> bool:
    """Return whether the prompt exceeded the model's context, so that it wrote nothing.

    A reply that was cut because the reply itself was too long still counts as a reply.
    """
    written = completion.usage.completion_tokens if completion.usage else 0
    return completion.choices[0].finish_reason == "length" and not written


@cache
def _certificates() -> ssl.SSLContext:
    """Return one context for all clients. Loading certificates takes longer than an episode."""
    return ssl.create_default_context()
