"""The official client over real wires: HTTP on loopback, a killed server, a pipe."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from whybench.causal.canonical import canonical_json
from whybench.episode.registry import load_suite
from whybench.interfaces.session import Session

SERVE = [sys.executable, "-m", "whybench", "arena", "serve"]
pytestmark = pytest.mark.wire

PLACE = "suite=causallink/advanced&index=7"


def plain_calls() -> list[tuple[str, dict[str, Any]]]:
    session = Session(load_suite("causallink/advanced")[7])
    exact = session.family.exact_run(session.instance).actions
    return [("nothing", {}), *((a.name, a.to_json()["args"]) for a in exact)]


@contextmanager
def served(store: Path, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [*SERVE, "--http", "--port", str(port), "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip(), server
        finally:
            server.terminate()
            server.wait(20)


def post(address: str, method: str, params: dict[str, Any], session: str = "") -> Any:
    """Ask as a client would that keeps its session's id over everything."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    if session:
        headers["Mcp-Session-Id"] = session
    request = Request(address, json.dumps(message).encode(), headers)
    with urlopen(request, timeout=30) as answer:
        return answer.headers.get("Mcp-Session-Id"), json.load(answer)["result"]


def test_the_official_client_plays_and_a_killed_server_forgets_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    plain = Session(load_suite("causallink/advanced")[7])
    start, calls = plain.instructions, plain_calls()

    async def play(address: str) -> tuple[str, Any, str]:
        async with Client(f"{address}?{PLACE}") as client:
            instructions = await client.read_resource("whybench://brief")
            for name, args in calls:
                told = await client.call_tool(name, args)
                reply = plain.call(name, args)
                assert told.content[0].text == reply.text
                assert told.structured_content["observation"] == reply.observation.to_json()
                assert told.is_error is reply.observation.is_error
            assert (await client.call_tool("episode_brief", {})).content[0].text == start
            record = (await client.read_resource("whybench://record")).contents[0].text
            score = (await client.call_tool("episode_score", {})).structured_content
            return instructions.contents[0].text, score, record

    with served(store) as (address, server):
        instructions, told, record = anyio.run(play, address)
        assert instructions == start
        assert canonical_json(json.loads(record)) == canonical_json(plain.trace.to_json())
        assert told["score"] == plain.score().to_json()
        hello = {"protocolVersion": "2025-11-25", "capabilities": {},
                 "clientInfo": {"name": "test", "version": "1"}}  # fmt: skip
        session, _ = post(f"{address}?{PLACE}", "initialize", hello)
        for name, args in calls[:-1]:
            post(address, "tools/call", {"name": name, "arguments": args}, session)
        server.send_signal(signal.SIGKILL)
        server.wait(20)
    port = int(address.rpartition(":")[2].partition("/")[0])
    with served(store, port) as (again, server):
        assert again == address
        name, args = calls[-1]
        _, last = post(again, "tools/call", {"name": name, "arguments": args}, session)
        assert last["structuredContent"] == {
            "observation": plain.trace.steps[-1].observation.to_json(),
            "done": True,
            "step": len(calls),
        }
        _, score = post(again, "tools/call", {"name": "episode_score"}, session)
        assert score["structuredContent"]["score"] == told["score"]
        assert score["structuredContent"]["counts"] is False
        server.terminate()
        assert server.wait(20) in (0, -signal.SIGTERM)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_pipe_goes_on_with_its_named_session(tmp_path: Path, mode: str) -> None:
    options = ["--store", str(tmp_path / "store.sqlite"), "--session", "mine"]
    order = ["--suite", "causallink/advanced", "--index", "7"]
    plain = Session(load_suite("causallink/advanced")[7])
    calls = plain_calls()

    async def play(part: list[tuple[str, dict[str, Any]]], more: list[str]) -> Any:
        command = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *options, *more])
        async with Client(stdio_client(command), mode=mode) as client:
            for name, args in part:
                told = await client.call_tool(name, args)
                assert told.content[0].text == plain.call(name, args).text
            return (await client.call_tool("episode_score", {})) if not more else None

    anyio.run(play, calls[:1], order)
    told = anyio.run(play, calls[1:], [])
    assert told.structured_content["score"] == plain.score().to_json()
