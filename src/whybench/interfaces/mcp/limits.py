"""How much a server takes on, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

BURST = 2.0
"""How many seconds' worth of calls may come at once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the operator allows; rates are calls a second, and 0 means no limit."""

    sessions: int = 5000
    """Open sessions, whether in memory or not."""
    live: int = 2000
    """Episodes kept in memory; others are restored from the store when they speak again."""
    rate: float = 1000.0
    """Requests a second in all."""
    session_rate: float = 100.0
    """Requests a second of one session."""
    idle: float = 3600.0
    """Seconds without a request after which a session ends; 0: it never does."""
    body: int = 256 * 1024
    """Bytes of one request."""
    steps: int = 1000
    """Actions of one attempt: some families answer questions for ever."""
    volume: int = 4 * 1024 * 1024
    """Bytes of all actions of one attempt: they are kept in memory and in the store."""


class Bucket:
    """A token bucket: `rate` calls a second in the long run, a burst of a few seconds' worth.

    >>> bucket = Bucket(1.0, now=0.0)
    >>> [bucket.wait(now) for now in (0.0, 0.0, 0.0, 1.0)]
    [0.0, 0.0, 1.0, 0.0]
    """

    __slots__ = ("_at", "_left", "_most", "_rate")

    def __init__(self, rate: float, now: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate * BURST)
        self._left = self._most
        self._at = now

    def wait(self, now: float) -> float:
        """Take one token, or return after how many seconds there will be one."""
        if not self._rate:
            return 0.0
        self._left = min(self._most, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now
        if self._left >= 1.0:
            self._left -= 1.0
            return 0.0
        return (1.0 - self._left) / self._rate
