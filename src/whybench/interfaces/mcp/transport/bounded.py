"""Limit the head of a request in size and time. uvicorn with httptools has no such limits."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 32 * 1024
"""Maximum size of the first line and the headers of a request, in bytes."""

SECONDS = 10.0
"""Seconds within which a head must arrive, from the connection or from its first byte."""


class Bounded(HttpToolsProtocol):
    """A connection that is closed if the head of a request is too long or too slow."""

    _size = 0
    """Bytes of the head so far."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time of the first head."""
        super().connection_made(transport)
        self._head = True
        self._late = self.loop.call_later(SECONDS, self._close)

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head."""
        if self._head:
            if self._late is None:
                self._late = self.loop.call_later(SECONDS, self._close)
            self._size += len(data)
        super().data_received(data)
        if self._head and self._size > HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_headers_complete(self) -> None:
        """Stop counting: the limits of bodies hold from here on."""
        self._head, self._size = False, 0
        self._stop()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Count again: the next byte belongs to the next head."""
        self._head = True
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self, *_: Any) -> None:
        self.transport.close()
