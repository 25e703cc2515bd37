"""The store in one SQLite file. A killed process loses nothing that was committed (WAL)."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whybench.core.canonical import Json
from whybench.interfaces.mcp.store import Conflict, StoredAttempt, StoredSession

MEMORY = ":memory:"
FORMAT = 1
"""The format of the tables; a store of another one is refused."""

_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, began REAL NOT NULL, spoke REAL NOT NULL,
  ended REAL, instance TEXT, skin TEXT NOT NULL DEFAULT '', attempt INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS open_sessions ON sessions (spoke) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS attempts (
  scope TEXT NOT NULL, instance TEXT NOT NULL, number INTEGER NOT NULL, session TEXT NOT NULL,
  run TEXT NOT NULL, opened REAL NOT NULL, over INTEGER NOT NULL DEFAULT 0,
  counts INTEGER NOT NULL, PRIMARY KEY (scope, instance, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS attempts_of ON attempts (session, number);
CREATE TABLE IF NOT EXISTS actions (
  session TEXT NOT NULL, attempt INTEGER NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL,
  at REAL NOT NULL, PRIMARY KEY (session, attempt, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS receipts (
  receipt TEXT PRIMARY KEY, session TEXT NOT NULL, attempt INTEGER NOT NULL, made REAL NOT NULL
) WITHOUT ROWID;
"""
_ATTEMPT = (
    "SELECT s.key, s.owner, s.spoke, s.instance, s.skin, s.attempt, s.ended, "
    "a.number, a.over, a.counts, a.run FROM attempts a JOIN sessions s ON s.key = a.session"
)


class SqliteStore:
    """A store in a file, or in memory; made when it is missing, for its owner's eyes only."""

    def __init__(self, path: str | Path) -> None:
        if str(path) != MEMORY:
            file = Path(path)
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        self._lock = threading.Lock()
        self._base = sqlite3.connect(
            str(path), timeout=10.0, isolation_level=None, check_same_thread=False
        )
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            self._base.execute(f"PRAGMA {setting}")
        found = self._base.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, FORMAT):
            raise ValueError(f"{path} is a store of format {found}, not {FORMAT}: give another")
        if not found:
            self._base.executescript(f"{_TABLES} PRAGMA user_version = {FORMAT};")

    @contextmanager
    def _together(self) -> Iterator[sqlite3.Connection]:
        """Commit all of a block, or nothing."""
        with self._lock:
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield self._base
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._base.execute(statement, values).fetchall()

    def begin(self, key: str, owner: str, now: float) -> None:
        """Add a session in which nothing is open."""
        statement = "INSERT INTO sessions (key, owner, began, spoke) VALUES (?, ?, ?, ?)"
        self._run(statement, key, owner, now, now)

    def find(self, key: str) -> StoredSession | None:
        """Return a session."""
        columns = "key, owner, spoke, instance, skin, attempt, ended"
        rows = self._run(f"SELECT {columns} FROM sessions WHERE key = ?", key)  # noqa: S608 - fixed
        return _session(rows[0]) if rows else None

    def touch(self, key: str, now: float) -> None:
        """Note that a session spoke."""
        self._run("UPDATE sessions SET spoke = ? WHERE key = ?", now, key)

    def end(self, key: str, now: float) -> None:
        """End a session; what it did stays."""
        with self._together() as base:
            base.execute(
                "UPDATE sessions SET ended = ? WHERE key = ? AND ended IS NULL", (now, key)
            )
            base.execute("UPDATE attempts SET over = 1 WHERE session = ?", (key,))

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End all sessions that last spoke before a time; return their keys."""
        statement = "UPDATE sessions SET ended = ? WHERE ended IS NULL AND spoke < ? RETURNING key"
        with self._together() as base:
            keys = base.execute(statement, (now, before)).fetchall()
            base.executemany("UPDATE attempts SET over = 1 WHERE session = ?", keys)
        return [key for (key,) in keys]

    def count(self) -> int:
        """Return how many sessions are open."""
        return int(self._run("SELECT count(*) FROM sessions WHERE ended IS NULL")[0][0])

    def open(
        self, key: str, instance: dict[str, Json], skin: str, scope: str, run: str, now: float
    ) -> int:
        """Begin the next attempt on an instance, and return its number within the scope."""
        place = (scope, f"{instance['family']}/{instance['id']}")
        with self._together() as base:
            base.execute("UPDATE attempts SET over = 1 WHERE session = ?", (key,))
            base.execute(
                "UPDATE attempts SET counts = 0 WHERE scope = ? AND instance = ? AND NOT over",
                place,
            )
            last = "SELECT coalesce(max(number), 0) FROM attempts WHERE scope = ? AND instance = ?"
            number = int(base.execute(last, place).fetchone()[0]) + 1
            base.execute(
                "INSERT INTO attempts (scope, instance, number, session, run, opened, counts) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*place, number, key, run, now, number == 1),
            )
            base.execute(
                "UPDATE sessions SET instance = ?, skin = ?, attempt = ?, spoke = ? WHERE key = ?",
                (json.dumps(instance), skin, number, now, key),
            )
        return number

    def append(
        self, key: str, attempt: int, number: int, action: str, over: bool, now: float
    ) -> None:
        """Add an action (its JSON) to an attempt; raise Conflict if there is one of this number."""
        values = (key, attempt, number, action, now)
        statement = "INSERT INTO actions VALUES (?, ?, ?, ?, ?)"
        try:
            if not over:
                self._run(statement, *values)
                return
            with self._together() as base:
                base.execute(statement, values)
                base.execute(_OVER, (key, attempt))
        except sqlite3.IntegrityError:
            raise Conflict from None

    def close(self, key: str, attempt: int) -> None:
        """Let an attempt be over as it stands."""
        self._run(_OVER, key, attempt)

    def actions(self, key: str, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""
        statement = "SELECT action FROM actions WHERE session = ? AND attempt = ? ORDER BY number"
        return [action for (action,) in self._run(statement, key, attempt)]

    def attempt(self, key: str, number: int) -> StoredAttempt | None:
        """Return an attempt."""
        rows = self._run(f"{_ATTEMPT} WHERE a.session = ? AND a.number = ?", key, number)
        return _attempt(rows[0]) if rows else None

    def attempts(self) -> Iterator[StoredAttempt]:
        """Return all attempts, for the operator."""
        return map(_attempt, self._run(f"{_ATTEMPT} ORDER BY a.opened, a.scope, a.instance"))

    def keep_receipt(self, receipt: str, key: str, attempt: int, now: float) -> None:
        """Keep the hash of a receipt for an attempt."""
        self._run("INSERT INTO receipts VALUES (?, ?, ?, ?)", receipt, key, attempt, now)

    def claimed(self, receipt: str) -> StoredAttempt | None:
        """Return the attempt that the hash of a receipt stands for."""
        rows = self._run("SELECT session, attempt FROM receipts WHERE receipt = ?", receipt)
        return self.attempt(*rows[0]) if rows else None

    def shut(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._base.close()


_OVER = "UPDATE attempts SET over = 1 WHERE session = ? AND number = ?"


def _session(row: tuple[Any, ...]) -> StoredSession:
    key, owner, spoke, instance, skin, attempt, ended = row
    where = None if instance is None else json.loads(instance)
    return StoredSession(key, owner, spoke, where, skin, attempt, ended is not None)


def _attempt(row: tuple[Any, ...]) -> StoredAttempt:
    return StoredAttempt(_session(row[:7]), row[7], bool(row[8]), bool(row[9]), row[10])
