"""Handle what the library does not: large requests, and clients that disconnect early."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

LARGEST = 1 << 20
"""Maximum bytes of a request body or of a WebSocket frame. uvicorn limits the frames."""


class Wire:
    """Reject a body above the limit while it arrives, whatever length it claims.

    A client that disconnects while the server closes the connection causes no traceback.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application."""
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
    """Return the messages of a body, or None if they are too large."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        if size > LARGEST:
            return None
        parts.append(message)
        more = message.get("more_body", False)
    return parts
