"""Limits of a server: sizes, numbers and rates."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from whybench.interfaces.mcp.refusal import Busy

BURST = 2.0
"""Seconds of the permitted rate that may arrive in one burst."""

RESTORES = 20.0
"""Seconds of processor time for restores that an owner may use at once, as after a restart."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that the operator sets. Rates are calls per second, and 0 means no limit."""

    sessions: int = 5000
    """Maximum number of open sessions, in memory or not."""
    live: int = 2000
    """Maximum number of episodes in memory. Others are restored from the store when needed."""
    rate: float = 1000.0
    """Maximum requests per second of all sessions."""
    session_rate: float = 100.0
    """Maximum requests per second of one session."""
    idle: float = 3600.0
    """Seconds without a request after which a session ends. 0 means never."""
    body: int = 256 * 1024
    """Maximum size of one request in bytes."""
    steps: int = 1000
    """Maximum number of actions of one attempt, because some families answer without end."""
    volume: int = 4 * 1024 * 1024
    """Maximum bytes of all actions of one attempt. They are kept in memory and in the store."""
    owner_rate: float = 300.0
    """Maximum requests per second of one owner, in each process."""
    owner_sessions: int = 1500
    """Maximum number of open sessions of one owner."""
    owner_day: int = 50_000
    """Maximum number of episodes that one owner opens or resets on one day."""
    owner_restore: float = 0.25
    """Share of one core that one owner may use to restore episodes that are not in memory."""


class Bucket:
    """A token bucket: `rate` calls per second on average, and bursts of a few seconds' worth.

    >>> bucket = Bucket(1.0, now=0.0)
    >>> [bucket.wait(now) for now in (0.0, 0.0, 0.0, 1.0)]
    [0.0, 0.0, 1.0, 0.0]
    """

    __slots__ = ("_at", "_left", "_most", "_rate")

    def __init__(self, rate: float, now: float, most: float = 0.0) -> None:
        self._rate = rate
        self._most = most or max(1.0, rate * BURST)
        self._left = self._most
        self._at = now

    def wait(self, now: float) -> float:
        """Take one token and return 0, or return the seconds until one is available."""
        if not self._rate:
            return 0.0
        self._fill(now)
        if self._left >= 1.0:
            self._left -= 1.0
            return 0.0
        return (1.0 - self._left) / self._rate

    def owed(self, now: float) -> float:
        """Return the seconds until all that was spent is paid back."""
        self._fill(now)
        return max(0.0, -self._left) / self._rate if self._rate else 0.0

    def spend(self, amount: float) -> None:
        """Take an amount that is known only afterwards. The bucket may end up in debt."""
        self._left -= amount

    def _fill(self, now: float) -> None:
        self._left = min(self._most, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now


class Fair:
    """What each owner uses of a process: requests, and time to restore episodes.

    Without tokens there is one owner, and only the limits for all hold.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._requests: dict[str, Bucket] = {}
        self._restores: dict[str, Bucket] = {}

    def wait(self, owner: str) -> float:
        """Count a request, and return the seconds until it is permitted."""
        if not owner:
            return 0.0
        now = time.monotonic()
        bucket = self._requests.get(owner)
        if bucket is None:
            bucket = self._requests[owner] = Bucket(self._limits.owner_rate, now)
        return bucket.wait(now)

    @contextmanager
    def restoring(self, owner: str) -> Iterator[None]:
        """Measure the processor time of a restore. Raise Busy if the owner used too much."""
        if not owner:
            yield
            return
        now = time.monotonic()
        with self._lock:
            bucket = self._restores.setdefault(
                owner, Bucket(self._limits.owner_restore, now, most=RESTORES)
            )
            owed = bucket.owed(now)
        if owed:
            raise Busy("too many episodes of this owner are restored: try again later", owed)
        started = time.thread_time()
        try:
            yield
        finally:
            with self._lock:
                bucket.spend(time.thread_time() - started)
