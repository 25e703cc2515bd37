"""Serve over stdio: one process, one session, in either protocol version of the client."""

from __future__ import annotations

import secrets

import anyio
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.stdio import stdio_server

from whybench.interfaces.mcp.catalogue import Order
from whybench.interfaces.mcp.server import Interface
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store.protocol import Conflict, hashed


def serve(sessions: Sessions, name: str, order: Order | None) -> None:
    """Serve until the client closes the pipe. A session without a name ends then."""
    key = hashed("pipe", name or secrets.token_urlsafe(32))
    try:
        prepare(sessions, key, order)
        _run(sessions, key)
    finally:
        if not name:
            sessions.end(key)


def prepare(sessions: Sessions, key: str, order: Order | None) -> None:
    """Begin a session, or resume it."""
    if not sessions.knows(key):
        try:
            sessions.begin(key, lasting=True)
        except Conflict:
            raise ValueError("This session has ended. Give another --session.") from None
    sessions.greet(key)
    state = sessions.state(key)
    if order is None:
        return
    if not state["open"]:
        sessions.open(key, order)
        return
    instance, template = sessions.offer.instance(order)
    if (f"{instance.family}/{instance.id}", template) != (state["instance"], state["template"]):
        raise ValueError("The session has another episode open. Give another --session.")


def _run(sessions: Sessions, key: str) -> None:
    server = Interface(sessions, key).server
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, options)

    anyio.run(run)
