"""Handlers of the protocol: tools, calls and resources of sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from whybench import __version__
from whybench.causal.canonical import Json
from whybench.interfaces.mcp.catalogue import Order
from whybench.interfaces.mcp.hangup import while_connected
from whybench.interfaces.mcp.refusal import Busy, Gone, Refused, unexpected
from whybench.interfaces.mcp.session_queue import Turns
from whybench.interfaces.mcp.session_tools import (
    INSTRUCTIONS,
    INSTRUCTIONS_TOOL,
    INSTRUCTIONS_URI,
    OPEN,
    RECORD,
    RESET,
    RESOURCES,
    SCORE,
    STATE,
    WHEN_OPEN,
    opening_tool,
)
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store.protocol import Waiting

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]


class Interface:
    """Connect sessions with the handlers of the SDK.

    `key` is the single session of stdio. Over HTTP, every request has its own (`ctx.request`).
    """

    def __init__(self, sessions: Sessions, key: str = "") -> None:
        self.sessions = sessions
        self.turns = Turns()
        self._key = key
        self.server: Server[Any] = Server(
            "whybench",
            version=__version__,
            title="WhyBench",
            instructions=INSTRUCTIONS,
            on_list_tools=self._tools,
            on_call_tool=self._call,
            on_list_resources=self._resources,
            on_list_resource_templates=self._templates,
            on_read_resource=self._read,
        )
        self.server.middleware.clear()  # no exporter reads spans here, and they cost time

    async def take(
        self,
        key: str,
        work: Callable[[], T],
        kind: str = "",
        slow: bool = False,
        owner: str | None = None,
    ) -> T:
        """Run work of a session. An unexpected failure is logged, and the client sees no details.

        Slow work is dropped if its client disconnects before it starts.
        """
        try:
            if not slow and self.sessions.is_live(key):
                return await self.turns.take(key, work, kind)
            return await while_connected(partial(self.turns.take, key, work, kind, True, owner))
        except (Refused, MCPError):
            raise
        except Waiting:
            raise Busy("another process uses the store: ask again", 1.0) from None
        except Exception as error:
            raise MCPError(code=INTERNAL_ERROR, message=unexpected("a session")) from error

    def _session(self, ctx: Context) -> str:
        return ctx.request if isinstance(ctx.request, str) else self._key

    async def _tools(
        self, ctx: Context, page: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        _one_page(page)
        key = self._session(ctx)
        actions = await self._asked(key, partial(self.sessions.tools, key))
        if actions is None:
            return types.ListToolsResult(tools=[opening_tool(self.sessions.offer.paths)])
        tools = [
            types.Tool(
                name=tool["name"], description=tool["description"], input_schema=tool["parameters"]
            )
            for tool in actions
        ]
        return types.ListToolsResult(tools=[*tools, *WHEN_OPEN])

    async def _call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        key, args = self._session(ctx), params.arguments or {}
        try:
            if params.name == OPEN:
                return await self._open(ctx, key, args)
            if params.name == INSTRUCTIONS_TOOL:
                return _told(await self.take(key, partial(self.sessions.instructions, key)))
            if params.name == RESET:
                return _told_json(
                    await self.take(key, partial(self.sessions.reset, key), slow=True)
                )
            if params.name == SCORE:
                return _told_json(
                    await self.take(key, partial(self.sessions.score, key), slow=True)
                )
            act = partial(self.sessions.act, key, params.name, args)
            reply, step = await self.take(key, act, self.sessions.kind(key, params.name, args))
        except Gone:
            raise
        except Refused as refusal:
            return _told(str(refusal), is_error=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)],
            structured_content={
                "observation": reply.observation.to_json(),
                "done": reply.done,
                "step": step,
            },
            is_error=reply.observation.is_error,
        )

    async def _open(self, ctx: Context, key: str, args: dict[str, Any]) -> types.CallToolResult:
        order = Order.read(args)
        if order is None:
            raise Refused("give `suite` and `index`, or `instance`")
        owner = self.sessions.owner(key)
        await self.take(key, partial(self.sessions.open, key, order), slow=True, owner=owner)
        if key == self._key:
            await ctx.session.send_tool_list_changed()
        return _told(await self.take(key, partial(self.sessions.instructions, key)))

    async def _resources(
        self, ctx: Context, page: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        _one_page(page)
        key = self._session(ctx)
        state = await self._asked(key, partial(self.sessions.state, key))
        found = [r for r in RESOURCES if state["open"] or r.uri == STATE]
        return types.ListResourcesResult(resources=found)

    async def _templates(
        self,
        _: Context,
        page: types.PaginatedRequestParams | None,
    ) -> types.ListResourceTemplatesResult:
        _one_page(page)
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        key = self._session(ctx)
        uri = next((r.uri for r in RESOURCES if r.uri == params.uri), None)
        if uri is None:
            raise MCPError(code=-32002, message="no such resource")
        if uri == INSTRUCTIONS_URI:
            kind, text = (
                "text/plain",
                await self._asked(key, partial(self.sessions.instructions, key)),
            )
        else:
            ask = self.sessions.record if uri == RECORD else self.sessions.state
            kind, text = "application/json", _json(await self._asked(key, partial(ask, key)))
        content = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])

    async def _asked(self, key: str, work: Callable[[], T]) -> T:
        """Run work of a session, and turn a refusal into an error of the protocol."""
        try:
            return await self.take(key, work)
        except Gone:
            raise
        except Refused as refusal:
            raise MCPError(code=INVALID_PARAMS, message=str(refusal)) from None


def _one_page(page: types.PaginatedRequestParams | None) -> None:
    """Reject a further page, because every list has one page."""
    if page is not None and page.cursor is not None:
        raise MCPError(code=INVALID_PARAMS, message="no such page: every list comes whole")


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _told(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )


def _told_json(value: dict[str, Json]) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=_json(value))], structured_content=value
    )
