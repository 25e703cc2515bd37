"""Play parity cases through MCP: a server in its own process and the official client over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import anyio
from mcp import Client
from mcp_types import TextResourceContents

from whybench.interfaces.parity.cases import ParityCase
from whybench.interfaces.parity.interface import Played

ABREAST = 8
"""Number of cases that are played in parallel."""


class McpInterface:
    """`whybench arena serve --http`."""

    name = "mcp"
    leaves = True

    def play(self, cases: Sequence[ParityCase]) -> Iterator[Played]:
        """Open a session for each case, call tools, and read the record and the score."""
        found: dict[str, Played] = {}
        for profile in sorted({case.instance.profile for case in cases}):
            with served(profile) as address:
                played = [case for case in cases if case.instance.profile == profile]
                found |= anyio.run(_all, address, played)
        return (found[case.instance.id] for case in cases)


@contextmanager
def served(profile: str) -> Iterator[str]:
    """Run a server on a free port, and yield its address."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "whybench", "arena", "serve", "--http", "--port", "0",
                   "--store", str(Path(folder) / "store.sqlite"), "--profile", profile,
                   "--rate", "0", "--session-rate", "0"]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603
            try:
                yield (server.stdout.readline() if server.stdout else "").strip()
            finally:
                server.terminate()


async def _all(address: str, cases: Sequence[ParityCase]) -> dict[str, Played]:
    found: dict[str, Played] = {}
    turn = anyio.CapacityLimiter(ABREAST)

    async def one(case: ParityCase) -> None:
        async with turn:
            found[case.instance.id] = await _case(address, case)

    async with anyio.create_task_group() as group:
        for case in cases:
            group.start_soon(one, case)
    return found


async def _case(address: str, case: ParityCase) -> Played:
    instance = case.instance
    query = urlencode({"instance": f"{instance.family}/{instance.id}"})
    async with Client(f"{address}?{query}") as client:
        replies = [await client.call_tool("episode_brief", {})]
        replies += [await client.call_tool(name, dict(args)) for name, args in case.calls]
        texts = [reply.content[0].text for reply in replies]  # type: ignore[union-attr]  # texts
        record = await client.read_resource("whybench://record")
        told = await client.call_tool("episode_score", {})
        (text,) = (part.text for part in record.contents if isinstance(part, TextResourceContents))
        return json.loads(text), (told.structured_content or {})["score"], texts


INTERFACE = McpInterface()
