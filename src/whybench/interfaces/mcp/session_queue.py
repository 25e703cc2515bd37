"""Run the calls of one session in order, and the calls of different sessions in parallel.

Work runs in threads, so that a slow suite blocks a few threads and never the transport. Moving work
to a thread costs more than most steps, so kinds of work that were always fast run inline.
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

WORKERS = 32
"""Threads for the actions of episodes. Most wait for the store, which commits them together."""

SLOW_WORKERS = 4
"""Threads for work that builds or scores instances. Such work never blocks actions."""

QUICK = 0.004
"""Maximum processor time of fast work, in seconds."""

LONG = 0.25
"""Maximum elapsed time of fast work, in seconds, because waiting blocks all sessions too."""

PATIENCE = 0.1
"""Seconds that fast work waits for the store before it moves to a thread."""

STACKED = 32
"""Number of calls of one session that may wait if the next call is slow."""

TRIALS = 20
"""Number of fast runs in a row after which work of a kind runs inline."""


class Turns:
    """A queue of work for each session, in order of arrival."""

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
        """Run work of a session when its turn comes. Work that has started is never interrupted.

        `kind` names work that may be fast. Its duration is measured, and a slow run moves the kind
        back to the threads until it is fast again. `owner` is given for slow work that opens an
        episode. Such work is rejected (Busy) if too much of it waits, in total or of this owner.
        """
        if kind and key not in self._locks and self._seen.get(kind, 0) >= TRIALS:
            waits = patience.set(PATIENCE)
            try:
                return self._watched(kind, work)
            except Waiting:  # nothing was changed, so it runs again in a thread
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
        """Run short work in a thread, outside of any session's queue."""
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
