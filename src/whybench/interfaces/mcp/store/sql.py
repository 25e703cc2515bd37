"""The store in SQL. SQLite and PostgreSQL share all statements but those that a subclass adds."""

from __future__ import annotations

import json
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from whybench.causal.canonical import Json
from whybench.interfaces.mcp.store.protocol import (
    Conflict,
    StoredAttempt,
    StoredSession,
    Waiting,
    patience,
)

DAY = 86400
GATHER = 0.0005
"""Seconds in which a batch is gathered if the last one had several actions."""

Rows = list[tuple[Any, ...]]
Run = Callable[..., Rows]
"""Runs a statement with values, and returns its rows."""

_SESSION = "s.key, s.owner, s.spoke, s.instance, s.template, s.attempt, s.ended"
_ATTEMPT = (
    f"SELECT {_SESSION}, a.id, a.number, a.over, a.counts, a.run, a.count "  # noqa: S608 - fixed
    "FROM attempts a JOIN sessions s ON s.key = a.session"
)
_CLOSE = (
    "UPDATE attempts SET over = true WHERE id = %s AND count = %s AND EXISTS (SELECT 1 "
    "FROM sessions s WHERE s.key = attempts.session AND s.ended IS NULL "
    "AND s.attempt = attempts.id) RETURNING id"
)
_USE = (
    "INSERT INTO used (owner, day, what, n) VALUES (%s, %s, %s, 1) ON CONFLICT (owner, day, what) "
    "DO UPDATE SET n = used.n + 1 WHERE used.n < %s RETURNING n"
)


@dataclass(slots=True, eq=False)
class Append:
    """An action that waits to be stored."""

    attempt: int
    number: int
    action: str
    over: bool
    at: float
    stored: bool | None = None
    """Whether it was stored; None: not known yet."""
    failure: BaseException | None = None


class SqlStore:
    """What both databases share. All waiting appends of a process are committed together."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._waiting: list[Append] = []
        self._leading = False
        self._last = 0
        """Size of the last batch."""

    @abstractmethod
    def _run(self, statement: str, *values: Any) -> Rows:
        """Run one statement and commit it."""

    @abstractmethod
    def _together(self, lock: str = "") -> AbstractContextManager[Run]:
        """Run a block as one transaction, alone among those with the same lock."""

    @abstractmethod
    def _append_all(self, batch: Sequence[Append]) -> None:
        """Store those actions of a batch whose numbers are next, and note which."""

    def begin(self, key: str, owner: str, now: float, lasting: bool = False) -> None:
        """Add a session without an open episode. Raise Conflict if the name was used before."""
        made = self._run(
            "INSERT INTO sessions (key, owner, began, spoke, lasting) VALUES (%s, %s, %s, %s, %s) "
            "ON CONFLICT (key) DO NOTHING RETURNING key",
            *(key, owner, now, now, lasting),
        )
        if not made:
            raise Conflict

    def find(self, key: str) -> StoredSession | None:
        """Return a session."""
        rows = self._run(f"SELECT {_SESSION} FROM sessions s WHERE key = %s", key)  # noqa: S608
        return _session(rows[0]) if rows else None

    def note(self, spoken: Mapping[str, float]) -> None:
        """Store the times of the last calls of sessions."""
        with self._together("sweep") as run:
            for key, when in sorted(spoken.items()):
                run("UPDATE sessions SET spoke = %s WHERE key = %s AND spoke < %s", when, key, when)

    def end(self, key: str, now: float) -> None:
        """End a session. Its record stays."""
        with self._together() as run:
            run("UPDATE sessions SET ended = %s WHERE key = %s AND ended IS NULL", now, key)
            run("UPDATE attempts SET over = true WHERE session = %s", key)

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End all sessions whose last call was before a time, except lasting ones."""
        with self._together("sweep") as run:
            keys = run(
                "UPDATE sessions SET ended = %s WHERE ended IS NULL AND NOT lasting "
                "AND spoke < %s RETURNING key",
                *(now, before),
            )
            for (key,) in keys:
                run("UPDATE attempts SET over = true WHERE session = %s", key)
        return [key for (key,) in keys]

    def count(self, owner: str | None = None) -> int:
        """Return the number of open sessions that can expire, of all owners or of one."""
        statement = "SELECT count(*) FROM sessions WHERE ended IS NULL AND NOT lasting"
        whose = () if owner is None else (owner,)
        return int(self._run(statement + " AND owner = %s" * len(whose), *whose)[0][0])

    def use(self, owner: str, what: str, most: int, now: float) -> bool:
        """Count one use by an owner on this day, or return False if there were `most`."""
        return bool(self._run(_USE, owner, int(now // DAY), what, most))

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
        """Begin the next attempt of a session whose attempt is `current`, or raise Conflict."""
        name = f"{instance['family']}/{instance['id']}"
        suite = f"{instance['family']}/{instance['suite']}"
        place = (scope, system or name)
        with self._together("\n".join(place)) as do:
            took = (
                "UPDATE sessions SET spoke = %s WHERE key = %s AND ended IS NULL AND attempt = %s"
            )
            if not do(f"{took} RETURNING key", now, key, current):
                raise Conflict
            do("UPDATE attempts SET over = true WHERE session = %s", key)
            same = "scope = %s AND system = %s AND (instance = %s OR suite <> %s)"
            those = (*place, name, suite)
            do(f"UPDATE attempts SET counts = false WHERE {same} AND NOT over", *those)  # noqa: S608
            [(before,)] = do(f"SELECT count(*) FROM attempts WHERE {same}", *those)  # noqa: S608
            [(made,)] = do(
                "INSERT INTO attempts (scope, system, suite, instance, number, session, run, "
                "opened, counts) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id",
                *(*place, suite, name, before + 1, key, run, now, not before and not current),
            )
            do(
                "UPDATE sessions SET instance = %s, template = %s, attempt = %s WHERE key = %s",
                *(json.dumps(instance), template, made, key),
            )
            [row] = do(f"{_ATTEMPT} WHERE a.id = %s", made)
        return _attempt(row)

    def append(self, attempt: int, number: int, action: str, over: bool, now: float) -> None:
        """Add an action (its JSON) to an open attempt, or raise Conflict.

        The first thread that waits commits the actions of all threads that wait.
        """
        mine = Append(attempt, number, action, over, now)
        until = time.monotonic() + patience.get()
        with self._turn:
            self._waiting.append(mine)
            while self._leading and mine.stored is None and mine.failure is None:
                self._turn.wait(max(0.01, until - time.monotonic()))
                if mine in self._waiting and time.monotonic() >= until:
                    self._waiting.remove(mine)
                    raise Waiting
            lead = mine in self._waiting
            self._leading = self._leading or lead
        if lead:
            self._lead()
        if mine.failure is not None:
            raise mine.failure
        if not mine.stored:
            raise Conflict

    def _lead(self) -> None:
        if self._last > 1:
            time.sleep(GATHER)  # those of the last batch are on their way
        with self._turn:
            batch, self._waiting = self._waiting, []
        self._last = len(batch)
        failure: BaseException | None = None
        try:
            self._append_all(batch)
        except BaseException as error:  # noqa: BLE001 - every waiting thread raises it
            failure = error
        with self._turn:
            for each in batch:
                each.failure = failure
            self._leading = False
            self._turn.notify_all()

    def close(self, attempt: int, count: int) -> None:
        """End an attempt after its `count` actions, or raise Conflict."""
        if not self._run(_CLOSE, attempt, count):
            raise Conflict

    def actions(self, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""
        statement = "SELECT action FROM actions WHERE attempt = %s ORDER BY number"
        return [action for (action,) in self._run(statement, attempt)]

    def attempt(self, attempt: int) -> StoredAttempt | None:
        """Return an attempt."""
        rows = self._run(f"{_ATTEMPT} WHERE a.id = %s", attempt)
        return _attempt(rows[0]) if rows else None

    def attempts(self) -> Iterator[StoredAttempt]:
        """Return all attempts in the order in which they started, for the operator."""
        return map(_attempt, self._run(f"{_ATTEMPT} ORDER BY a.id"))

    def keep_receipt(self, receipt: str, attempt: int, now: float) -> None:
        """Keep the hash of a receipt for an attempt."""
        self._run(
            "INSERT INTO receipts VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", receipt, attempt, now
        )

    def claimed(self, receipt: str) -> StoredAttempt | None:
        """Return the attempt of a receipt, given the hash of the receipt."""
        rows = self._run("SELECT attempt FROM receipts WHERE receipt = %s", receipt)
        return self.attempt(*rows[0]) if rows else None


def migrations(database: str, after: int) -> list[tuple[int, str]]:
    """Return the numbered changes of a database after a format: plain SQL files, in order."""
    folder = files(__package__) / "migrations" / database
    found = sorted((int(file.name.split(".")[0]), file) for file in folder.iterdir())
    return [(number, file.read_text("utf-8")) for number, file in found if number > after]


def _session(row: tuple[Any, ...]) -> StoredSession:
    key, owner, spoke, instance, template, attempt, ended = row
    where = None if instance is None else json.loads(instance)
    return StoredSession(key, owner, spoke, where, template, attempt, ended is not None)


def _attempt(row: tuple[Any, ...]) -> StoredAttempt:
    id_, number, over, counts, run, count = row[7:]
    return StoredAttempt(_session(row[:7]), id_, number, bool(over), bool(counts), run, count)
