"""Limit the number of episodes that wait to be opened, in total and per owner.

A client could request new episodes without end. The work of open sessions is not counted here,
because their number is limited and the calls of each come one after another.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from whybench.interfaces.mcp.refusal import Busy

T = TypeVar("T")

MOST = 32
"""Number of openings that may always wait, in total."""

MOST_OF_ONE = 8
"""Number of openings of one owner that may always wait. Without tokens there is one owner."""

SOON = 20.0
"""More may wait if they are likely to start within this time, in seconds."""

EVER = 2000
"""Maximum number of openings that ever wait."""

WEIGHT = 0.2
"""Weight of the latest duration in the running mean of durations."""


class Backlog:
    """Openings that wait for workers, and the mean time that an opening takes."""

    def __init__(self, workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._workers = workers
        self._clock = clock
        self._waiting: Counter[str] = Counter()
        self._running: dict[object, float] = {}
        self._takes = 0.0
        self._lock = threading.Lock()

    def enter(self, owner: str) -> None:
        """Add an opening to the queue, or raise Busy."""
        with self._lock:
            of_all, of_one = self._waiting.total(), self._waiting[owner] if owner else 0
            far = self._wait(of_all) > SOON and of_all >= MOST
            too_far = self._wait(of_one) > SOON and of_one >= MOST_OF_ONE
            if far or too_far or of_all >= EVER:
                wait = max(1.0, self._wait(of_all if far else of_one))
                raise Busy("too many episodes wait to be opened: try again later", wait)
            self._waiting[owner] += 1

    def leave(self, owner: str) -> None:
        """Remove an opening from the queue, because it starts or its client has disconnected."""
        with self._lock:
            self._waiting[owner] -= 1
            if not self._waiting[owner]:
                del self._waiting[owner]

    def timed(self, work: Callable[[], T]) -> T:
        """Run an opening, and record its duration."""
        ticket, began = object(), self._clock()
        with self._lock:
            self._running[ticket] = began
        try:
            return work()
        finally:
            with self._lock:
                del self._running[ticket]
                self._takes += WEIGHT * (self._clock() - began - self._takes)

    def _wait(self, count: int) -> float:
        """Return the seconds after which `count` openings have probably started."""
        oldest = min(self._running.values(), default=None)
        takes = self._takes if oldest is None else max(self._takes, self._clock() - oldest)
        return count * takes / self._workers
