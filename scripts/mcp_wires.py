"""One session over one connection: by the SDK's client, or by the least a client can do."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Protocol

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

RECORD = "whybench://record"
PATIENCE = 60.0
"""Seconds until a call without an answer counts as broken off."""


def broke(error: BaseException) -> bool:
    """Tell whether an error means that the connection broke off, and nothing else."""
    if isinstance(error, BaseExceptionGroup):
        return all(broke(part) for part in error.exceptions)
    if isinstance(error, MCPError):
        return error.error.code == CONNECTION_CLOSED
    lost = (httpx2.TransportError, OSError, EOFError, anyio.ClosedResourceError)
    return isinstance(error, (*lost, anyio.BrokenResourceError))


def gone(error: BaseException) -> bool:
    """Tell whether a server said that there is no such session."""
    if isinstance(error, BaseExceptionGroup):
        return any(gone(part) for part in error.exceptions)
    return isinstance(error, MCPError) and "no such session" in error.error.message


class Wire(Protocol):
    """One session over one connection."""

    session: str

    async def call(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; return its structured reply, or raise MCPError."""

    async def record(self) -> dict[str, Any]:
        """Read the record."""

    async def end(self) -> None:
        """End the session."""


class Official:
    """The SDK's client."""

    def __init__(self, url: str, http: httpx2.AsyncClient, session: str) -> None:
        self.url, self.http, self.session = url, http, session
        self.client: Client

    async def note(self, response: httpx2.Response) -> None:
        self.session = response.headers.get("mcp-session-id", self.session)

    async def call(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        reply = await self.client.call_tool(name, args)
        if reply.structured_content is None and reply.is_error:
            raise MCPError(0, reply.content[0].text)
        return reply.structured_content or {}

    async def record(self) -> dict[str, Any]:
        read = await self.client.read_resource(RECORD)
        return json.loads(read.contents[0].text)

    async def end(self) -> None:
        answer = await self.http.delete(self.url, headers={"mcp-session-id": self.session})
        if answer.status_code != 200:
            raise MCPError(answer.status_code, answer.text)


_TLS = ssl.create_default_context()  # for nothing, but each HTTP client wants one


@asynccontextmanager
async def official(url: str, session: str, heard: Callable[[str], None]) -> AsyncIterator[Official]:
    """Connect the SDK's client; with a session's id it goes on with that session.

    The SDK's client does not survive a broken connection, hence a new one for the same session. It
    must not end its session as it goes down, hence `terminate_on_close`.
    """
    pool = httpx2.AsyncHTTPTransport(
        verify=_TLS, limits=httpx2.Limits(max_connections=4, keepalive_expiry=60.0)
    )
    headers = {"mcp-session-id": session} if session else {}
    async with httpx2.AsyncClient(transport=pool, headers=headers, timeout=PATIENCE) as http:
        wire = Official(url, http, session)
        if not session:
            http.event_hooks = {"response": [wire.note]}
        streams = streamable_http_client(url, http_client=http, terminate_on_close=False)
        try:
            async with Client(streams, mode="legacy", cache=None) as wire.client:
                http.event_hooks = {}
                heard(wire.session)
                await wire.client.list_tools()  # as agents do; else the first call does it
                yield wire
        finally:
            heard(wire.session)


class Raw:
    """The least a client can do: one keep-alive connection, one POST a call."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, url: httpx2.URL
    ) -> None:
        self.reader, self.writer, self.url = reader, writer, url
        self.session = ""

    async def post(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = json.loads(await self._answer(self.request(method, params)))
        if "error" in answer:
            raise MCPError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]

    def request(self, method: str, params: dict[str, Any]) -> bytes:
        """Return the bytes that ask for something."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._bytes("POST", json.dumps(message).encode())

    def _bytes(self, verb: str, body: bytes = b"") -> bytes:
        known = f"Mcp-Session-Id: {self.session}\r\n" if self.session else ""
        head = (
            f"{verb} {self.url.raw_path.decode()} HTTP/1.1\r\nHost: 127.0.0.1:{self.url.port}\r\n"
            f"MCP-Protocol-Version: {HANDSHAKE_PROTOCOL_VERSIONS[-1]}\r\n{known}"
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    async def _answer(self, request: bytes) -> bytes:
        self.writer.write(request)
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        if first.split()[1] in ("408", "502", "503", "504"):
            raise ConnectionError(first)
        said = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines)}
        self.session = said.get("mcp-session-id", self.session)
        return await self.reader.readexactly(int(said["content-length"]))

    async def call(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        reply = await self.post("tools/call", {"name": name, "arguments": args})
        if "structuredContent" not in reply and reply["isError"]:
            raise MCPError(0, reply["content"][0]["text"])
        return reply.get("structuredContent", {})

    async def record(self) -> dict[str, Any]:
        read = await self.post("resources/read", {"uri": RECORD})
        return json.loads(read["contents"][0]["text"])

    async def end(self) -> None:
        await self._answer(self._bytes("DELETE"))


@asynccontextmanager
async def raw(url: str, session: str, heard: Callable[[str], None]) -> AsyncIterator[Raw]:
    """Connect plainly."""
    where = httpx2.URL(url)
    reader, writer = await asyncio.open_connection(where.host, where.port)
    try:
        wire = Raw(reader, writer, where)
        wire.session = session
        if not session:
            info = {"name": "raw", "version": "0"}
            version = HANDSHAKE_PROTOCOL_VERSIONS[-1]
            asked = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
            await wire.post("initialize", asked)
            heard(wire.session)
        yield wire
    finally:
        writer.close()


WIRES = {"official": official, "raw": raw}
