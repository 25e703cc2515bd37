"""What the library leaves open on the wire: large requests, and clients that hang up first."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

LARGEST = 1 << 20
"""The most bytes of a request's body, or of a frame of a WebSocket (uvicorn bounds the latter)."""


class Wire:
    """Refuses bodies above the bound while they come in, whatever length they claim.

    A client that hangs up while the server says good-bye is no error, and leaves no traceback.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on."""
        if scope["type"] == "http":
            parts = await _whole(receive)
            if parts is None:
                await send({"type": "http.response.start", "status": 413, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            waiting = iter(parts)

            async def again() -> Message:
                return next(waiting, None) or await receive()

            await self._app(scope, again, send)
            return
        try:
            await self._app(scope, receive, send)
        except WebSocketDisconnect:
            return


async def _whole(receive: Receive) -> list[Message] | None:
    """Return the messages that make up a body; None if they are too large."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST:
            return None
        parts.append(message)
        more = message.get("more_body", False)
    return parts
