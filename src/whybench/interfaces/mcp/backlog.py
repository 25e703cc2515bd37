"""How many episodes may wait to be opened: as many as are soon, and of one owner fewer than of all.

Whoever may ask can ask for worlds without end. The work of sessions that are open already is not
counted here: their number is bounded, and their calls come one after another.
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
"""So many pieces of work may always wait, in all."""

MOST_OF_ONE = 8
"""So many may always wait of one owner; where there are no tokens nobody is told apart."""

SOON = 20.0
"""Seconds; more may wait if it is likely to be begun within these."""

EVER = 2000
"""More than this never waits."""

WEIGHT = 0.2
"""How much the latest piece of work says about the next."""


class Backlog:
    """Work that waits for some workers, and how long its kind takes."""

    def __init__(self, workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._workers = workers
        self._clock = clock
        self._waiting: Counter[str] = Counter()
        self._running: dict[object, float] = {}
        self._takes = 0.0
        self._lock = threading.Lock()

    def enter(self, owner: str) -> None:
        """Let a piece of work wait, or raise Busy."""
        with self._lock:
            of_all, of_one = self._waiting.total(), self._waiting[owner] if owner else 0
            far = self._wait(of_all) > SOON and of_all >= MOST
            too_far = self._wait(of_one) > SOON and of_one >= MOST_OF_ONE
            if far or too_far or of_all >= EVER:
                wait = max(1.0, self._wait(of_all if far else of_one))
                raise Busy("too many episodes wait to be opened: try again later", wait)
            self._waiting[owner] += 1

    def leave(self, owner: str) -> None:
        """Forget a piece of work that waits no more: it begins, or nobody wants it now."""
        with self._lock:
            self._waiting[owner] -= 1
            if not self._waiting[owner]:
                del self._waiting[owner]

    def timed(self, work: Callable[[], T]) -> T:
        """Do work, and learn how long it takes."""
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
        """Return in how many seconds so much work is likely to have begun."""
        oldest = min(self._running.values(), default=None)
        takes = self._takes if oldest is None else max(self._takes, self._clock() - oldest)
        return count * takes / self._workers
