"""A store in one SQLite file. What was committed survives a killed process and a power cut."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whybench.interfaces.mcp.store.protocol import Waiting, patience
from whybench.interfaces.mcp.store.sql import Append, Rows, Run, SqlStore
from whybench.interfaces.mcp.store.sqlite_file import MEMORY, connected

_COUNT = (
    "UPDATE attempts SET count = count + 1, over = over OR %s "
    "WHERE id = %s AND count = %s AND NOT over RETURNING id"
)


class SqliteStore(SqlStore):
    """A store in a file or in memory. With `make`, a missing file is created."""

    def __init__(self, path: str | Path, *, make: bool = True) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._waits = 0.0
        self._base = connected(path, make=make)
        self.durable = str(path) != MEMORY

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
    def _together(self, lock: str = "") -> Iterator[Run]:  # noqa: ARG002 - writers are alone here
        with self._connection() as base:
            base.execute("BEGIN IMMEDIATE")
            try:
                yield lambda statement, *values: _rows(base, statement, values)
                base.execute("COMMIT")
            except BaseException:
                if base.in_transaction:
                    base.execute("ROLLBACK")
                raise

    def _run(self, statement: str, *values: Any) -> Rows:
        with self._connection() as base:
            return _rows(base, statement, values)

    def _append_all(self, batch: Sequence[Append]) -> None:
        stored = []
        with self._together() as run:
            for each in batch:
                counted = run(_COUNT, each.over, each.attempt, each.number)
                stored.append(bool(counted))
                if counted:
                    run(
                        "INSERT INTO actions (attempt, number, action, at) VALUES (%s, %s, %s, %s)",
                        *(each.attempt, each.number, each.action, each.at),
                    )
        for each, done in zip(batch, stored, strict=True):
            each.stored = done

    def shut(self) -> None:
        """Close the database."""
        with self._lock:
            self._base.close()


def _rows(base: sqlite3.Connection, statement: str, values: Sequence[Any]) -> Rows:
    return base.execute(statement.replace("%s", "?"), values).fetchall()
