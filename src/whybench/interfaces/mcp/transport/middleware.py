"""Check HTTP requests before they reach an episode: owner, size, rate and session.

A request that is rejected here reaches no episode and no store. The newest protocol version has no
sessions. The server answers its requests with the versions that it supports, and clients fall back.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import anyio
from mcp_types import INVALID_REQUEST, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from whybench.interfaces.mcp.catalogue import Order
from whybench.interfaces.mcp.hangup import Receive, listening
from whybench.interfaces.mcp.limits import Bucket
from whybench.interfaces.mcp.refusal import Busy, Gone, Refused, unexpected
from whybench.interfaces.mcp.server import Interface
from whybench.interfaces.mcp.store.protocol import Waiting, hashed
from whybench.interfaces.mcp.transport.exchange import answered, failed
from whybench.interfaces.mcp.transport.names import Names, Turned
from whybench.interfaces.mcp.transport.tokens import Tokens

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Reply = tuple[int, dict[str, Any] | None, dict[str, str]]
"""A status, an optional JSON-RPC message, and headers."""

PATH = "/mcp"
LIVE, READY = "/livez", "/readyz"
ANSWER = 2.0
"""Seconds within which the store of a ready server answers."""
SESSION = b"mcp-session-id"
VERSION = b"mcp-protocol-version"
ASSUMED = "2025-03-26"
"""Version of a client that states none, according to the specification."""

READING = 30.0
"""Seconds within which a whole request must arrive."""


class Guard:
    """The application that a web server runs."""

    def __init__(self, interface: Interface, tokens: Tokens, names: Names, shard: str = "") -> None:
        self.interface = interface
        self.sessions = interface.sessions
        self.tokens = tokens
        self._names = names
        self._shard = f"{shard}." if shard else ""
        self.ready = True
        """Whether a proxy may send calls. False while the server warms up, and when it stops."""
        self._all = Bucket(self.sessions.limits.rate, time.monotonic())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        listening.set(receive)
        try:
            status, body, headers = await self._answer(scope, receive)
        except Turned as turned:
            status, body, headers = turned.status, turned.body, turned.headers
        except Gone as gone:
            status, body, headers = 404, failed(None, INVALID_REQUEST, str(gone)), {}
        except Busy as busy:
            status, body, headers = 503, failed(None, INVALID_REQUEST, str(busy)), _later(busy.wait)
        except Waiting:
            reason = "another process uses the store: ask again"
            status, body, headers = 503, failed(None, INVALID_REQUEST, reason), _later(1.0)
        except Exception:  # noqa: BLE001 - the client must not see details
            status, body, headers = 500, failed(None, -32603, unexpected("a request")), {}
        await _reply(send, status, body, headers)

    async def _answer(self, scope: Scope, receive: Receive) -> Reply:
        headers = _headers(scope)
        if scope["path"] in (LIVE, READY) and scope["method"] == "GET":
            return await self._health(scope["path"])
        if scope["path"] != PATH:
            raise Turned(404, f"the endpoint is {PATH}")
        self._names.check(headers, post=scope["method"] == "POST")
        owner = self.tokens.owner(headers.get(b"authorization"))
        if owner is None:
            challenge = {"www-authenticate": "Bearer"}
            raise Turned(401, "this server needs a token: Authorization: Bearer …", challenge)
        if wait := self._all.wait(time.monotonic()):
            raise Turned(429, "too many requests to this server", _later(wait))
        if wait := self.sessions.fair.wait(owner):
            raise Turned(429, "too many requests of this owner", _later(wait))
        if scope["method"] == "DELETE":
            key = await self._known(headers, owner)
            await self.interface.take(key, partial(self.sessions.end, key))
            return 200, None, {}
        if scope["method"] != "POST":
            raise Turned(405, "there is no stream here: POST requests", {"allow": "POST, DELETE"})
        message = _message(await self._body(headers, receive))
        version = headers.get(VERSION, ASSUMED)
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return 400, _older(message, version), {}
        if message.get("method") == "initialize" and SESSION not in headers:
            return await self._begin(scope, owner, version, message)
        key = await self._known(headers, owner)
        if "id" not in message or "method" not in message:
            return 202, None, {}
        return 200, await self._served(key, version, message), {}

    async def _health(self, path: str) -> Reply:
        """Answer a proxy: whether the process lives, and whether it takes calls."""
        if path == READY:
            if not self.ready:
                raise Turned(503, "the server warms up or stops")
            with anyio.move_on_after(ANSWER) as scope:
                await self.interface.turns.aside(self.sessions.store.count)
            if scope.cancelled_caught:
                raise Turned(503, "the store does not answer")
        return 200, None, {}

    async def _body(self, headers: dict[bytes, str], receive: Receive) -> bytes:
        most, body = self.sessions.limits.body, bytearray()
        declared = headers.get(b"content-length", "0")
        if not declared.isdecimal() or int(declared[:12]) > most:
            raise Turned(413, f"a request has at most {most} bytes")
        with anyio.move_on_after(READING):
            while True:
                part = await receive()
                if part["type"] != "http.request":
                    raise Turned(400, "the request broke off")
                body += part.get("body", b"")
                if len(body) > most:
                    raise Turned(413, f"a request has at most {most} bytes")
                if not part.get("more_body", False):
                    return bytes(body)
        raise Turned(408, "the request did not arrive in time")

    async def _known(self, headers: dict[bytes, str], owner: str) -> str:
        """Return the key of the calling session, which must belong to this owner."""
        shown = headers.get(SESSION)
        if shown is None:
            raise Turned(400, "no session: initialize first and send Mcp-Session-Id")
        key = hashed("session", shown)
        greet = partial(self.sessions.greet, key, owner)
        known = self.sessions.remembers(key)
        live = greet() if known else await self.interface.turns.aside(greet)
        if wait := live.bucket.wait(self.sessions.clock()):
            raise Turned(429, "too many requests of this session", _later(wait))
        return key

    async def _begin(
        self, scope: Scope, owner: str, version: str, message: dict[str, Any]
    ) -> Reply:
        """Begin a session with the episode that the URL selects."""
        session = self._shard + secrets.token_urlsafe(32)
        key = hashed("session", session)
        body = await self._served(key, version, message)
        if "error" in body:
            return 400, body, {}
        try:
            order = Order.read(_query(scope))
            await self.interface.take(
                key, partial(self._started, key, owner, order), "", True, owner
            )
        except (Busy, Gone):
            raise
        except Refused as refusal:
            return 400, failed(body["id"], INVALID_REQUEST, str(refusal)), {}
        return 200, body, {"mcp-session-id": session}

    def _started(self, key: str, owner: str, order: Order | None) -> None:
        self.sessions.begin(key, owner)
        if order is not None:
            try:
                self.sessions.open(key, order)
            except BaseException:
                self.sessions.end(key)
                raise

    async def _served(self, key: str, version: str, message: dict[str, Any]) -> dict[str, Any]:
        number, method, params = _number(message), message["method"], message.get("params")
        if not isinstance(method, str) or not isinstance(params, dict | None):
            raise Turned(400, "`method` is a text and `params` an object")
        return await answered(self.interface, key, version, number, method, params)


def _headers(scope: Scope) -> dict[bytes, str]:
    """Return headers by name. Duplicate headers are rejected, because they are ambiguous."""
    found: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name in found and name in (SESSION, VERSION, b"authorization", b"host", b"origin"):
            raise Turned(400, "a header is given twice")
        found[name] = value.decode("latin-1")
    return found


def _query(scope: Scope) -> dict[str, str]:
    """Read the query of the URL. Duplicate names are rejected, because they are ambiguous."""
    try:
        words = parse_qsl(scope["query_string"].decode("ascii"), max_num_fields=16, errors="strict")
    except ValueError:
        raise Refused("the address is no text that can be read") from None
    if len(dict(words)) < len(words):
        raise Refused("the address names something twice")
    return dict(words)


def _message(body: bytes) -> dict[str, Any]:
    """Read one JSON-RPC message. Lone surrogates are rejected."""
    try:
        message = json.loads(body.decode(), parse_constant=_no_number)
        if b"\\ud" in body.lower():
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Turned(400, "Parse error", code=PARSE_ERROR) from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Turned(400, "send one JSON-RPC 2.0 message, no batch")
    return message


def _no_number(_: str) -> None:
    raise ValueError("JSON has no such number")


def _number(message: dict[str, Any]) -> int | str:
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, int | str) or len(str(number)) > 200:
        raise Turned(400, "a request has an `id`: a number or a short text")
    return number


def _older(message: dict[str, Any], version: str) -> dict[str, Any]:
    """Return the supported versions, so that a newer client falls back."""
    number = _number(message) if "id" in message else None
    data = {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": version[:40]}
    reason = "this server keeps sessions: use a version with the initialize handshake"
    return failed(number, UNSUPPORTED_PROTOCOL_VERSION, reason, data)


def _later(wait: float) -> dict[str, str]:
    return {"retry-after": str(max(1, math.ceil(wait)))}


async def _reply(
    send: Send, status: int, message: dict[str, Any] | None, headers: dict[str, str]
) -> None:
    body = b"" if message is None else json.dumps(message, allow_nan=False).encode("ascii")
    lines = [(name.encode(), value.encode()) for name, value in headers.items()]
    lines.append((b"content-length", str(len(body)).encode()))
    if body:
        lines.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": body})
