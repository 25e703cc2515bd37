"""Serving over a pipe: one process, one session, in whichever era the client speaks."""

from __future__ import annotations

import anyio
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.stdio import stdio_server

from whybench.interfaces.mcp.offer import Order
from whybench.interfaces.mcp.server import Door
from whybench.interfaces.mcp.sessions import Sessions
from whybench.interfaces.mcp.store import hashed


def prepare(sessions: Sessions, name: str, order: Order | None) -> str:
    """Begin the session `name`, or go on with it; return its key."""
    key = hashed("pipe", name)
    if not sessions.knows(key):
        sessions.begin(key)
    sessions.greet(key)
    state = sessions.state(key)
    if order is None:
        return key
    if not state["open"]:
        sessions.open(key, order)
        return key
    instance, skin = sessions.offer.instance(order)
    if (f"{instance.family}/{instance.id}", skin) != (state["instance"], state["skin"]):
        raise ValueError("this session has another episode open: give another --session")
    return key


def serve(sessions: Sessions, key: str) -> None:
    """Serve until the client closes the pipe."""
    server = Door(sessions, key).server
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, options)

    anyio.run(run)
