"""What a server must not forget, as an interface: SQLite now, another database when needed.

Sessions, owners and receipts are stored as hashes: who reads the store can continue no session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from whybench.causal.canonical import Json


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
    template: str = ""
    attempt: int = 0
    """The id of its latest attempt; 0 while nothing is open."""
    ended: bool = False


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """One attempt of a session."""

    session: StoredSession
    id: int
    """Its own in the whole store."""
    number: int
    """Which attempt on its instance it is, within the scope in which it was begun."""
    over: bool
    """Whether it can go on no more: ended, or closed by asking for its score."""
    counts: bool
    """Whether it was the first on its instance, and nothing else was learnt meanwhile."""
    run: str = ""


class Conflict(Exception):  # noqa: N818 - another process was faster; nothing is broken
    """What is stored of a session is not what was believed: nothing was changed."""


class Waiting(Exception):  # noqa: N818 - nothing is broken
    """Others kept the store longer than there was patience to wait: nothing was changed."""


patience: ContextVar[float] = ContextVar("patience", default=10.0)
"""Seconds that a store may wait for others."""


class Store(Protocol):
    """Everything is committed when a method returns; methods may be called from any thread."""

    def begin(self, key: str, owner: str, now: float, lasting: bool = False) -> None:
        """Add a session in which nothing is open; raise Conflict if the name was used before.

        Silence does not end a lasting session, and it takes nobody's place.
        """

    def find(self, key: str) -> StoredSession | None:
        """Return a session."""

    def note(self, spoken: Mapping[str, float]) -> None:
        """Note when sessions spoke."""

    def end(self, key: str, now: float) -> None:
        """End a session; what it did stays."""

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End all sessions that last spoke before a time, but lasting ones; return their keys."""

    def count(self) -> int:
        """Return how many sessions are open that silence would end."""

    def open(
        self,
        key: str,
        current: int,
        instance: dict[str, Json],
        template: str,
        scope: str,
        run: str,
        now: float,
    ) -> StoredAttempt:
        """Begin the next attempt of a session whose attempt is `current`, or raise Conflict.

        Attempts of the scope on the same instance that are not over no longer count: the new one
        could tell them what they should find out. The session's own attempt is over before, and a
        further one never counts, however it is numbered.
        """

    def append(self, attempt: int, number: int, action: str, over: bool, now: float) -> None:
        """Add an action (its JSON) to an attempt that is going on, or raise Conflict.

        It goes on if it is not over, its session has not ended and has no later attempt; and
        there is one action of each number.
        """

    def close(self, attempt: int, count: int) -> None:
        """Let an attempt be over after its `count` actions.

        Raise Conflict if it has another number of them, or its session ended or went on to
        another attempt.
        """

    def actions(self, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""

    def attempt(self, attempt: int) -> StoredAttempt | None:
        """Return an attempt by its id."""

    def attempts(self) -> Iterator[StoredAttempt]:
        """Return all attempts in the order in which they were begun, for the operator."""

    def keep_receipt(self, receipt: str, attempt: int, now: float) -> None:
        """Keep the hash of a receipt for an attempt."""

    def claimed(self, receipt: str) -> StoredAttempt | None:
        """Return the attempt that the hash of a receipt stands for."""

    def shut(self) -> None:
        """Let go of the database."""
