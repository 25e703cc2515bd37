"""Run slow work for a client that may disconnect. Work that has not started is then dropped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any, TypeVar

import anyio

from whybench.interfaces.mcp.refusal import Busy

T = TypeVar("T")
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

listening: ContextVar[Receive | None] = ContextVar("listening", default=None)
"""Channel on which the current request learns that its client disconnected, or None."""


async def while_connected(work: Callable[[], Awaitable[T]]) -> T:
    """Wait for work until the client disconnects."""
    receive = listening.get()
    if receive is None:
        return await work()
    done: list[T] = []
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_until_gone, receive, group.cancel_scope)
        try:
            done.append(await work())
        except Exception as error:  # noqa: BLE001 - raised below, outside of the group
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if not done:
        raise Busy("nobody waits for this answer any more", 1.0)
    return done[0]


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    if (await receive())["type"] == "http.disconnect":
        scope.cancel()
