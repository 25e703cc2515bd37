"""What a server must not forget, as an interface: SQLite now, another database when needed.

Sessions, owners and receipts are stored as hashes: who reads the store can continue no session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from whybench.core.canonical import Json


def hashed(kind: str, secret: str) -> str:
    """Return under what name a secret is stored; kinds are never mixed up.

    >>> hashed("session", "x") == hashed("receipt", "x")
    False
    """
    return sha256(f"whybench {kind} {secret}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it stands."""

    key: str
    owner: str
    spoke: float
    instance: dict[str, Json] | None = None
    """The coordinates of the episode; None while nothing is open."""
    skin: str = ""
    attempt: int = 0
    """The number of the attempt that is going on."""
    ended: bool = False


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """One attempt of a session."""

    session: StoredSession
    number: int
    over: bool
    """Whether it can go on no more: ended, or closed by asking for its score."""
    counts: bool
    """Whether it was the first on its instance, and nothing else was learnt meanwhile."""
    run: str = ""


class Conflict(Exception):  # noqa: N818 - another process was faster; nothing is broken
    """Another process went on with the session meanwhile."""


class Store(Protocol):
    """Everything is committed when a method returns; methods may be called from any thread."""

    def begin(self, key: str, owner: str, now: float) -> None:
        """Add a session in which nothing is open."""

    def find(self, key: str) -> StoredSession | None:
        """Return a session."""

    def touch(self, key: str, now: float) -> None:
        """Note that a session spoke."""

    def end(self, key: str, now: float) -> None:
        """End a session; what it did stays."""

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End all sessions that last spoke before a time; return their keys."""

    def count(self) -> int:
        """Return how many sessions are open."""

    def open(
        self, key: str, instance: dict[str, Json], skin: str, scope: str, run: str, now: float
    ) -> int:
        """Begin the next attempt on an instance, and return its number within the scope.

        Attempts of the scope on the same instance that are not over no longer count: the new one
        could tell them what they should find out. The session's own attempt is over before.
        """

    def append(
        self, key: str, attempt: int, number: int, action: str, over: bool, now: float
    ) -> None:
        """Add an action (its JSON) to an attempt; raise Conflict if there is one of this number."""

    def close(self, key: str, attempt: int) -> None:
        """Let an attempt be over as it stands."""

    def actions(self, key: str, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""

    def attempt(self, key: str, number: int) -> StoredAttempt | None:
        """Return an attempt."""

    def attempts(self) -> Iterator[StoredAttempt]:
        """Return all attempts, for the operator."""

    def keep_receipt(self, receipt: str, key: str, attempt: int, now: float) -> None:
        """Keep the hash of a receipt for an attempt."""

    def claimed(self, receipt: str) -> StoredAttempt | None:
        """Return the attempt that the hash of a receipt stands for."""

    def shut(self) -> None:
        """Let go of the database."""
