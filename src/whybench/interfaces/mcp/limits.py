"""Limits of a server: sizes, numbers and rates."""

from __future__ import annotations

from dataclasses import dataclass

BURST = 2.0
"""Seconds of the permitted rate that may arrive in one burst."""


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


class Bucket:
    """A token bucket: `rate` calls per second on average, and bursts of a few seconds' worth.

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
        """Take one token and return 0, or return the seconds until one is available."""
        if not self._rate:
            return 0.0
        self._left = min(self._most, self._left + max(0.0, now - self._at) * self._rate)
        self._at = now
        if self._left >= 1.0:
            self._left -= 1.0
            return 0.0
        return (1.0 - self._left) / self._rate
