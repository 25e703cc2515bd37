"""A store in one SQLite file. A killed process loses nothing that was committed (WAL)."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whybench.causal.canonical import Json
from whybench.interfaces.mcp.store.protocol import (
    Conflict,
    StoredAttempt,
    StoredSession,
    Waiting,
    patience,
)
from whybench.interfaces.mcp.store.sqlite_file import connected

_SESSION = "s.key, s.owner, s.spoke, s.instance, s.template, s.attempt, s.ended"
_ATTEMPT = (
    f"SELECT {_SESSION}, a.id, a.number, a.over, a.counts, a.run "  # noqa: S608 - fixed
    "FROM attempts a JOIN sessions s ON s.key = a.session"
)
_CURRENT = (
    "SELECT 1 FROM sessions s WHERE s.key = attempts.session AND s.ended IS NULL "
    "AND s.attempt = attempts.id"
)
"""Whether an attempt is the current attempt of its session."""
_APPEND = (
    "INSERT INTO actions (attempt, number, action, at) "  # noqa: S608 - fixed
    "SELECT id, ?, ?, ? FROM attempts "
    f"WHERE id = ? AND NOT over AND EXISTS ({_CURRENT})"
)
_CLOSE = (
    "UPDATE attempts SET over = 1 WHERE id = ? "  # noqa: S608 - fixed
    "AND ? = (SELECT count(*) FROM actions WHERE attempt = attempts.id) "
    f"AND EXISTS ({_CURRENT})"
)


class SqliteStore:
    """A store in a file or in memory. With `make`, a missing file is created."""

    def __init__(self, path: str | Path, *, make: bool = True) -> None:
        self._lock = threading.Lock()
        self._waits = 0.0
        self._base = connected(path, make=make)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection. Raise Waiting if another process uses the store for too long."""
        seconds = patience.get()
        if not self._lock.acquire(timeout=seconds):
            raise Waiting
        try:
            if seconds != self._waits:
                self._base.execute(f"PRAGMA busy_timeout = {int(1000 * seconds)}")
                self._waits = seconds
            yield self._base
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)
            if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise Waiting from error
            raise
        finally:
            self._lock.release()

    @contextmanager
    def _together(self) -> Iterator[sqlite3.Connection]:
        """Run a block as one transaction."""
        with self._connection() as base:
            base.execute("BEGIN IMMEDIATE")
            try:
                yield base
                base.execute("COMMIT")
            except BaseException:
                if base.in_transaction:
                    base.execute("ROLLBACK")
                raise

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._connection() as base:
            return base.execute(statement, values).fetchall()

    def begin(self, key: str, owner: str, now: float, lasting: bool = False) -> None:
        """Add a session without an open episode. Raise Conflict if the name was used before."""
        statement = (
            "INSERT INTO sessions (key, owner, began, spoke, lasting) VALUES (?, ?, ?, ?, ?)"
        )
        try:
            self._run(statement, key, owner, now, now, lasting)
        except sqlite3.IntegrityError:
            raise Conflict from None

    def find(self, key: str) -> StoredSession | None:
        """Return a session."""
        rows = self._run(f"SELECT {_SESSION} FROM sessions s WHERE key = ?", key)  # noqa: S608
        return _session(rows[0]) if rows else None

    def note(self, spoken: Mapping[str, float]) -> None:
        """Store the times of the last calls of sessions."""
        with self._together() as base:
            base.executemany(
                "UPDATE sessions SET spoke = max(spoke, ?) WHERE key = ?",
                [(when, key) for key, when in spoken.items()],
            )

    def end(self, key: str, now: float) -> None:
        """End a session. Its record stays."""
        with self._together() as base:
            base.execute(
                "UPDATE sessions SET ended = ? WHERE key = ? AND ended IS NULL", (now, key)
            )
            base.execute("UPDATE attempts SET over = 1 WHERE session = ?", (key,))

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End all sessions whose last call was before a time, except lasting ones."""
        statement = (
            "UPDATE sessions SET ended = ? WHERE ended IS NULL AND NOT lasting AND spoke < ? "
            "RETURNING key"
        )
        with self._together() as base:
            keys = base.execute(statement, (now, before)).fetchall()
            base.executemany("UPDATE attempts SET over = 1 WHERE session = ?", keys)
        return [key for (key,) in keys]

    def count(self) -> int:
        """Return the number of open sessions that can expire."""
        statement = "SELECT count(*) FROM sessions WHERE ended IS NULL AND NOT lasting"
        return int(self._run(statement)[0][0])

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
        """Begin the next attempt of a session whose attempt is `current`, or raise Conflict."""
        place = (scope, f"{instance['family']}/{instance['id']}")
        with self._together() as base:
            at = "SELECT 1 FROM sessions WHERE key = ? AND ended IS NULL AND attempt = ?"
            if base.execute(at, (key, current)).fetchone() is None:
                raise Conflict
            base.execute("UPDATE attempts SET over = 1 WHERE session = ?", (key,))
            base.execute(
                "UPDATE attempts SET counts = 0 WHERE scope = ? AND instance = ? AND NOT over",
                place,
            )
            last = "SELECT coalesce(max(number), 0) FROM attempts WHERE scope = ? AND instance = ?"
            number = int(base.execute(last, place).fetchone()[0]) + 1
            made = base.execute(
                "INSERT INTO attempts (scope, instance, number, session, run, opened, counts) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*place, number, key, run, now, number == 1 and not current),
            ).lastrowid
            base.execute(
                "UPDATE sessions SET instance = ?, template = ?, attempt = ?, spoke = ? "
                "WHERE key = ?",
                (json.dumps(instance), template, made, now, key),
            )
            row = base.execute(f"{_ATTEMPT} WHERE a.id = ?", (made,)).fetchone()
        return _attempt(row)

    def append(self, attempt: int, number: int, action: str, over: bool, now: float) -> None:
        """Add an action (its JSON) to an open attempt, or raise Conflict."""
        values = (number, action, now, attempt)
        try:
            if not over:
                with self._connection() as base:
                    added = base.execute(_APPEND, values).rowcount
            else:
                with self._together() as base:
                    added = base.execute(_APPEND, values).rowcount
                    if added:
                        base.execute("UPDATE attempts SET over = 1 WHERE id = ?", (attempt,))
        except sqlite3.IntegrityError:
            raise Conflict from None
        if added != 1:
            raise Conflict

    def close(self, attempt: int, count: int) -> None:
        """End an attempt after its `count` actions, or raise Conflict."""
        with self._connection() as base:
            if base.execute(_CLOSE, (attempt, count)).rowcount != 1:
                raise Conflict

    def actions(self, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""
        statement = "SELECT action FROM actions WHERE attempt = ? ORDER BY number"
        return [action for (action,) in self._run(statement, attempt)]

    def attempt(self, attempt: int) -> StoredAttempt | None:
        """Return an attempt."""
        rows = self._run(f"{_ATTEMPT} WHERE a.id = ?", attempt)
        return _attempt(rows[0]) if rows else None

    def attempts(self) -> Iterator[StoredAttempt]:
        """Return all attempts in the order in which they started, for the operator."""
        return map(_attempt, self._run(f"{_ATTEMPT} ORDER BY a.id"))

    def keep_receipt(self, receipt: str, attempt: int, now: float) -> None:
        """Keep the hash of a receipt for an attempt."""
        self._run("INSERT INTO receipts VALUES (?, ?, ?)", receipt, attempt, now)

    def claimed(self, receipt: str) -> StoredAttempt | None:
        """Return the attempt of a receipt, given the hash of the receipt."""
        rows = self._run("SELECT attempt FROM receipts WHERE receipt = ?", receipt)
        return self.attempt(*rows[0]) if rows else None

    def shut(self) -> None:
        """Close the database."""
        with self._lock:
            self._base.close()


def _session(row: tuple[Any, ...]) -> StoredSession:
    key, owner, spoke, instance, template, attempt, ended = row
    where = None if instance is None else json.loads(instance)
    return StoredSession(key, owner, spoke, where, template, attempt, ended is not None)


def _attempt(row: tuple[Any, ...]) -> StoredAttempt:
    return StoredAttempt(_session(row[:7]), row[7], row[8], bool(row[9]), bool(row[10]), row[11])
