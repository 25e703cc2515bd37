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

T = TypeVar("T")

WORKERS = 8
"""Threads for the actions of episodes."""

SLOW_WORKERS = 4
"""Threads for work that makes or scores worlds: however much of it comes, actions go on."""

QUICK = 0.004
"""Seconds of the processor that work of a quick kind takes at most."""

TRIALS = 20
"""So often in a row work of a kind must have been quick before it is done at once."""


class Turns:
    """Work for sessions, in the order in which it came."""

    def __init__(self) -> None:
        self._workers = anyio.CapacityLimiter(WORKERS)
        self._slow_workers = anyio.CapacityLimiter(SLOW_WORKERS)
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}
        self._seen: dict[str, int] = {}

    async def take(self, key: str, work: Callable[[], T], kind: str = "", slow: bool = False) -> T:
        """Do a session's work when it is its turn; once begun it is never broken off.

        `kind` names work that may be quick: it is watched, and a slow case sends its kind back to
        the threads until it has proven itself anew.
        """
        if kind and key not in self._locks and self._seen.get(kind, 0) >= TRIALS:
            return self._watched(kind, work)
        limiter = self._slow_workers if slow else self._workers
        lock, waiting = self._locks.get(key) or (anyio.Lock(fast_acquire=True), 0)
        self._locks[key] = (lock, waiting + 1)
        try:
            async with lock:
                return await run_sync(lambda: self._watched(kind, work), limiter=limiter)
        finally:
            lock, waiting = self._locks[key]
            if waiting == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, waiting - 1)

    def _watched(self, kind: str, work: Callable[[], T]) -> T:
        if not kind:
            return work()
        started = time.thread_time()
        try:
            return work()
        finally:
            quick = time.thread_time() - started <= QUICK
            self._seen[kind] = self._seen.get(kind, 0) + 1 if quick else 0
