"""A model with fixed replies, served on this machine as a provider for `verifiers`.

The number of replies in the conversation gives the position in the script, so the server keeps no
state.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import verifiers.v1 as vf
from aiohttp import web

from whybench import Json


@dataclass(frozen=True, slots=True)
class Said:
    """A reply in prose, without a call."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """A reply that makes calls. Arguments are an object, or the text of one."""

    calls: tuple[tuple[str, Mapping[str, Json] | str], ...]


@dataclass(frozen=True, slots=True)
class Full:
    """No reply, because the prompt exceeds the model's context."""

    refused: bool = False
    """Whether the provider reports this as an error. Otherwise the reply is empty and cut off."""


Line = Said | Called | Full
Scripts = Callable[[str, str], Sequence[Line]]
"""Name of a model and the first message to it → its replies in order."""


@asynccontextmanager
async def serving(scripts: Scripts) -> AsyncIterator[vf.EvalClientConfig]:
    """Serve scripts on 127.0.0.1, and yield the configuration of a client for them."""

    async def complete(request: web.Request) -> web.Response:
        asked = await request.json()
        place = sum(message["role"] == "assistant" for message in asked["messages"])
        script = scripts(asked["model"], asked["messages"][0]["content"])
        if place >= len(script):
            return _refusal("the script is over")
        line = script[place]
        if isinstance(line, Full) and line.refused:
            return _refusal("the maximum context length is exceeded")
        return web.json_response(_completion(asked["model"], place, line))

    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        yield vf.EvalClientConfig(
            base_url=f"http://{host}:{port}/v1", api_key_var="WHYBENCH_SCRIPTED"
        )
    finally:
        await runner.cleanup()


def _refusal(reason: str) -> web.Response:
    return web.json_response({"error": {"message": reason}}, status=400)


def _completion(model: str, place: int, line: Line) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    reason, tokens = "stop", 1
    match line:
        case Said(text):
            message["content"] = text
        case Full():
            reason, tokens = "length", 0
        case Called(calls):
            reason = "tool_calls"
            message["tool_calls"] = [
                _call(f"call-{place}-{number}", *call) for number, call in enumerate(calls)
            ]
    return {
        "id": f"{model}-{place}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": 1 + tokens},
    }


def _call(ident: str, name: str, args: Mapping[str, Json] | str) -> dict[str, Any]:
    arguments = args if isinstance(args, str) else json.dumps(dict(args))
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}
