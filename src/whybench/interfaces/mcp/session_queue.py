"""The calls of one session one after another, those of different sessions side by side.

Work is done in threads, so that a slow suite holds up a few of them and never the wire. Handing it
over costs more than most steps do, so kinds of work that have always been quick are done at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from whybench.interfaces.mcp.backlog import Backlog
from whybench.interfaces.mcp.refusal import Busy
from whybench.interfaces.mcp.store.protocol import Waiting, patience

T = TypeVar("T")

WORKERS = 8
"""Threads for the actions of episodes."""

SLOW_WORKERS = 4
"""Threads for work that makes or scores worlds: however much of it comes, actions go on."""

QUICK = 0.004
"""Seconds of the processor that work of a quick kind takes at most."""

LONG = 0.25
"""Seconds by the clock that it takes at most: waiting for others holds up everybody as well."""

PATIENCE = 0.1
"""Seconds that quick work waits for the store before it goes to a thread to wait there."""

STACKED = 32
"""So many calls of one session may wait for one another when the next is slow."""

TRIALS = 20
"""So often in a row work of a kind must have been quick before it is done at once."""


class Turns:
    """Work for sessions, in the order in which it came."""

    def __init__(self) -> None:
        self._workers = anyio.CapacityLimiter(WORKERS)
        self._slow_workers = anyio.CapacityLimiter(SLOW_WORKERS)
        self._backlog = Backlog(SLOW_WORKERS)
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}
        self._seen: dict[str, int] = {}

    async def take(
        self,
        key: str,
        work: Callable[[], T],
        kind: str = "",
        slow: bool = False,
        owner: str | None = None,
    ) -> T:
        """Do a session's work when it is its turn; once begun it is never broken off.

        `kind` names work that may be quick: it is watched, and a slow case sends its kind back to
        the threads until it has proven itself anew. An `owner` is given for slow work that
        opens an episode: it is refused (Busy) if too much of it waits, in all or of this owner.
        """
        if kind and key not in self._locks and self._seen.get(kind, 0) >= TRIALS:
            waits = patience.set(PATIENCE)
            try:
                return self._watched(kind, work)
            except Waiting:  # nothing was changed, so it is done again where waiting hurts nobody
                self._seen[kind] = 0
            finally:
                patience.reset(waits)
        if slow:
            if key in self._locks and self._locks[key][1] >= STACKED:
                raise Busy("this session waits for too many answers already: ask later", 1.0)
            if owner is not None:
                return await self._opening(key, work, owner)
            return await self._in_thread(key, work, self._slow_workers)
        return await self._in_thread(key, lambda: self._watched(kind, work), self._workers)

    async def aside(self, work: Callable[[], T]) -> T:
        """Do short work that is no session's turn in a thread."""
        return await run_sync(work, limiter=self._workers)

    async def _opening(self, key: str, work: Callable[[], T], owner: str) -> T:
        self._backlog.enter(owner)
        begun = False

        def begin() -> T:
            nonlocal begun
            begun = True
            self._backlog.leave(owner)
            return self._backlog.timed(work)

        try:
            return await self._in_thread(key, begin, self._slow_workers)
        finally:
            if not begun:
                self._backlog.leave(owner)

    async def _in_thread(
        self, key: str, work: Callable[[], T], limiter: anyio.CapacityLimiter
    ) -> T:
        lock, waiting = self._locks.get(key) or (anyio.Lock(fast_acquire=True), 0)
        self._locks[key] = (lock, waiting + 1)
        try:
            async with lock:
                return await run_sync(work, limiter=limiter)
        finally:
            lock, waiting = self._locks[key]
            if waiting == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, waiting - 1)

    def _watched(self, kind: str, work: Callable[[], T]) -> T:
        if not kind:
            return work()
        started, worked = time.monotonic(), time.thread_time()
        try:
            return work()
        finally:
            quick = time.thread_time() - worked <= QUICK and time.monotonic() - started <= LONG
            self._seen[kind] = self._seen.get(kind, 0) + 1 if quick else 0
