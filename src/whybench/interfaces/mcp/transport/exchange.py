"""Answer one HTTP request of the protocol versions with a handshake.

The SDK's own transport builds streams and tasks for every request. That costs three times the
processor time of the answer. The driver of single exchanges (`serve_one`) needs neither, because
everything that outlives a request is in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from whybench.interfaces.mcp.refusal import Gone, unexpected
from whybench.interfaces.mcp.server import Interface

_WIRE = TransportContext(kind="streamable-http", can_send_request=False)


@dataclass(slots=True)
class Exchange:
    """One request in the form that the SDK expects. Only the answer reaches the client."""

    request_id: int | str
    message_metadata: ServerMessageMetadata
    transport: TransportContext = _WIRE
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002 - nothing can be sent
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Reject the request, because the client has no channel to answer."""
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Drop a notification, because an answer is one JSON document."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drop a report of progress."""


async def answered(
    interface: Interface,
    key: str,
    version: str,
    request_id: int | str,
    method: str,
    params: dict[str, Any] | None,
) -> dict[str, Any]:
    """Return the JSON-RPC answer to one request of a session."""
    exchange = Exchange(request_id, ServerMessageMetadata(request_context=key))
    connection = Connection.from_envelope(version, None, None)
    try:
        result = await serve_one(
            interface.server, exchange, method, params, connection=connection, lifespan_state={}
        )
    except Gone:
        raise
    except MCPError as error:
        return failed(request_id, error.error.code, error.error.message)
    except ValidationError:
        return failed(request_id, INVALID_PARAMS, "Invalid request parameters")
    except Exception:  # noqa: BLE001 - the client must not see details
        return failed(request_id, INTERNAL_ERROR, unexpected("an answer"))
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def failed(
    request_id: int | str | None, code: int, message: str, data: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a JSON-RPC error."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": request_id, "error": error}
