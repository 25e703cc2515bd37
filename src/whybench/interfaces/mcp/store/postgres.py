"""A store in PostgreSQL, for several server processes at once.

A process may lose its connections: the database was restarted or replaced. Work is then done again
on a new connection until patience ends, so that clients see a delay and no failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore
from typing import Any, TypeVar

import psycopg

from whybench.interfaces.mcp.store.protocol import Conflict, Waiting, patience
from whybench.interfaces.mcp.store.sql import DAY, Append, Rows, Run, SqlStore, migrations

T = TypeVar("T")
Base = psycopg.Connection[tuple[Any, ...]]

CONNECTIONS = 8
"""Maximum number of connections of a process."""

PAUSE = 0.05
"""Seconds until a database that does not answer is tried again."""

AHEAD = 3
"""Days for which partitions are made in advance, today included."""

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_APPEND = """
WITH given AS (
  SELECT * FROM unnest(%s::bigint[], %s::integer[], %s::text[], %s::boolean[], %s::float8[])
    WITH ORDINALITY AS g (attempt, number, action, over, at, place)
), counted AS (
  UPDATE attempts a SET count = a.count + 1, over = g.over FROM given g
  WHERE a.id = g.attempt AND a.count = g.number AND NOT a.over
  RETURNING g.place, a.id, g.number, g.action, g.at, floor(a.opened / 86400)::integer AS day
), added AS (
  INSERT INTO actions (attempt, number, action, at, day)
  SELECT id, number, action, at, day FROM counted
)
SELECT place FROM counted
"""
_KEPT = """
SELECT g.place FROM unnest(%s::bigint[], %s::integer[], %s::text[], %s::float8[])
  WITH ORDINALITY AS g (attempt, number, action, at, place)
  JOIN actions x USING (attempt, number, action, at)
"""


class PostgresStore(SqlStore):
    """A store in a database, named by a URL `postgresql://…`. With `make`, tables are created."""

    durable = True

    def __init__(self, url: str, *, make: bool = True) -> None:
        super().__init__()
        self._url = url
        self._idle: list[Base] = []
        self._places = BoundedSemaphore(CONNECTIONS)
        try:
            with psycopg.connect(url, connect_timeout=10) as base:
                prepared(base, make=make)
        except psycopg.Error as error:
            raise ValueError(f"The store cannot be used: {error}") from None
        self._make_partitions(time.time())

    @contextmanager
    def _connection(self) -> Iterator[Base]:
        """Yield a connection. After a failure, none of those that were idle is used again."""
        if not self._places.acquire(timeout=patience.get()):
            raise Waiting
        try:
            try:
                base = self._idle.pop()
            except IndexError:
                base = self._connected()
            try:
                yield base
            except psycopg.OperationalError:
                broken, self._idle = self._idle, []
                for each in (base, *broken):
                    each.close()
                raise
            finally:
                if not base.closed:
                    self._idle.append(base)
        finally:
            self._places.release()

    def _connected(self) -> Base:
        return psycopg.connect(self._url, autocommit=True, connect_timeout=5)

    def _insisted(self, work: Callable[[Base], T]) -> tuple[T, bool]:
        """Run work until the database answers. Return also whether it was tried before.

        Work that was tried before may have been done: the answer alone may be lost.
        """
        until, again = time.monotonic() + patience.get(), False
        while True:
            try:
                with self._connection() as base:
                    return work(base), again
            except psycopg.OperationalError as error:
                again = True
                if time.monotonic() + PAUSE > until:
                    raise Waiting from error
            time.sleep(PAUSE)

    def _run(self, statement: str, *values: Any) -> Rows:
        return self._insisted(lambda base: _rows(base, statement, values))[0]

    @contextmanager
    def _together(self, lock: str = "") -> Iterator[Run]:
        self._insisted(lambda base: base.execute("SELECT 1"))  # drop connections that broke
        try:
            with self._connection() as base, base.transaction():
                if lock:
                    base.execute(_LOCK, (lock,))
                yield lambda statement, *values: _rows(base, statement, values)
        except psycopg.OperationalError as error:
            raise Waiting from error

    def begin(self, key: str, owner: str, now: float, lasting: bool = False) -> None:
        """Add a session without an open episode. Raise Conflict if the name was used before."""
        try:
            super().begin(key, owner, now, lasting)
        except Conflict:
            statement = "SELECT 1 FROM sessions WHERE key = %s AND owner = %s AND began = %s"
            if not self._run(statement, key, owner, now):
                raise

    def expire(self, before: float, now: float) -> Sequence[str]:
        """End all sessions whose last call was before a time, except lasting ones."""
        self._make_partitions(now)
        return super().expire(before, now)

    def actions(self, attempt: int) -> Sequence[str]:
        """Return the actions of an attempt in order."""
        rows = self._run(
            "SELECT action FROM actions WHERE attempt = %s AND day = "
            "(SELECT floor(opened / 86400)::integer FROM attempts WHERE id = %s) ORDER BY number",
            *(attempt, attempt),
        )
        return [action for (action,) in rows]

    def _append_all(self, batch: Sequence[Append]) -> None:
        batch = sorted(batch, key=lambda each: each.attempt)  # so that processes rarely deadlock
        columns = [[getattr(x, name) for x in batch] for name in Append.__slots__[:5]]
        stored, again = self._insisted(lambda base: _rows(base, _APPEND, columns))
        if again:
            attempts, numbers, actions, _, at = columns
            stored = stored + self._run(_KEPT, attempts, numbers, actions, at)
        places = {place - 1 for (place,) in stored}
        for place, each in enumerate(batch):
            each.stored = place in places

    def _make_partitions(self, now: float) -> None:
        """Create the partitions of the next days, before the first attempt of each day."""
        today = int(now // DAY)
        for day in range(today, today + AHEAD):
            name = f"actions_{day}"
            if self._run("SELECT to_regclass(%s)", name) == [(None,)]:
                with suppress(psycopg.errors.IntegrityError):  # actions of this day exist already
                    self._run(
                        f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF actions "
                        f"FOR VALUES FROM ({day}) TO ({day + 1})"
                    )

    def shut(self) -> None:
        """Close all connections."""
        for base in self._idle:
            base.close()
        self._idle = []


def prepared(base: Base, *, make: bool) -> None:
    """Bring a database to the latest format, one process at a time, or reject it."""
    base.execute(_LOCK, ("migrate",))
    base.execute("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)")
    [(version,)] = _rows(base, "SELECT coalesce(max(version), 0) FROM schema_version", ())
    changes = migrations("postgres", version)
    if changes and not make:
        raise ValueError(
            "The database holds no store of this format. Run `whybench arena upgrade`."
        )
    for number, text in changes:
        base.execute(text)
        base.execute("INSERT INTO schema_version VALUES (%s)", (number,))


def _rows(base: Base, statement: str, values: Sequence[Any]) -> Rows:
    done = base.execute(statement, values or None)
    return done.fetchall() if done.description else []
