"""The interface of a store for sessions. SQLite and PostgreSQL implement it.

Sessions, owners and receipts are stored as hashes. So a person who reads the store cannot continue
a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from whybench.causal.canonical import Json


def hashed(kind: str, secret: str) -> str:
    """Return the hash under which a secret is stored. Different kinds never collide.

    >>> hashed("session", "x") == hashed("receipt", "x")
    False
    """
    return sha256(f"whybench {kind} {secret}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in the store."""

    key: str
    owner: str
    spoke: float
    instance: dict[str, Json] | None = None
    """The coordinates of the episode, or None if no episode is open."""
    template: str = ""
    attempt: int = 0
    """The id of its latest attempt, or 0 if no episode is open."""
    ended: bool = False


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """One attempt of a session."""

    session: StoredSession
    id: int
    """The id, unique in the store."""
    number: int
    """The number of this attempt on its hidden system, in the scope in which it started."""
    over: bool
    """Whether the attempt is over: it ended, or its score was requested."""
    counts: bool
    """Whether it was the first on its hidden system, and no other attempt could help it."""
    run: str = ""
    count: int = 0
    """The number of its actions."""


class Conflict(Exception):  # noqa: N818 - another process was faster; nothing is broken
    """The stored session differs from the expected state. Nothing was changed."""


class Waiting(Exception):  # noqa: N818 - nothing is broken
    """Another process used the store for too long. Nothing was changed."""


patience: ContextVar[float] = ContextVar("patience", default=10.0)
"""Seconds that a store may wait for other processes."""


class Store(Protocol):
    """A store. A method returns after its change is committed. Any thread may call methods."""

    durable: bool
    """Whether a change waits for a disk. Such a change never runs on the loop of a server."""

    def begin(self, key: str, owner: str, now: float, lasting: bool = False) -> None:
        """Add a session without an open episode. Raise Conflict if the name was used before.

        A lasting session does not expire and does not count against the limit.
        """

    def find(self, key: str) -> StoredSession | None:
        """Return a session."""

    def note(self, spoken: Mapping[str, float]) -> None:
        """Store the times of the last calls of sessions."""

    def end(self, key: str, now: float) -> None:
        """End a session. Its record stays."""

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End sessions idle since before a time, except lasting ones, and return their keys."""

    def count(self, owner: str | None = None) -> int:
        """Return the number of open sessions that can expire, of all owners or of one."""

    def use(self, owner: str, what: str, most: int, now: float) -> bool:
        """Count one use by an owner on this day, or return False if there were `most`."""

    def open(
        self,
        key: str,
        current: int,
        instance: dict[str, Json],
        template: str,
        scope: str,
        run: str,
        now: float,
        system: str = "",
    ) -> StoredAttempt:
        """Begin the next attempt of a session whose attempt is `current`, or raise Conflict.

        Attempts with one `system` are on one hidden system (default: the instance). The number
        counts those on the same instance, and those of other suites: a suite that repeats a system
        does so by design. Open ones of them no longer count, because the new attempt could reveal
        the answer to them. The session's own earlier attempt ends first. A
        further attempt of a session never counts, whatever its number is.
        """

    def append(self, attempt: int, number: int, action: str, over: bool, now: float) -> None:
        """Add an action (its JSON) to an open attempt, or raise Conflict.

        An attempt is open if it is not over. Whatever ends its session, or opens a later attempt
        there, makes it over. The number must be the number of its actions so far.
        """

    def close(self, attempt: int, count: int) -> None:
        """End an attempt after its `count` actions.

        Raise Conflict if it has another number of actions, or if its session ended or started
        another attempt.
        """

    def actions(self, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""

    def attempt(self, attempt: int) -> StoredAttempt | None:
        """Return an attempt by its id."""

    def attempts(self) -> Iterator[StoredAttempt]:
        """Return all attempts in the order in which they started, for the operator."""

    def keep_receipt(self, receipt: str, attempt: int, now: float) -> None:
        """Keep the hash of a receipt for an attempt."""

    def claimed(self, receipt: str) -> StoredAttempt | None:
        """Return the attempt of a receipt, given the hash of the receipt."""

    def shut(self) -> None:
        """Close the database."""
