"""The SQLite file of a store: its tables, and the check that a file is a store."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

MEMORY = ":memory:"
OURS = 0x77687962
"""The application id of SQLite: `whyb`."""
FORMAT = 2
"""Format version of the tables. Stores of other versions are rejected."""

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS sessions (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, began REAL NOT NULL, spoke REAL NOT NULL,
  lasting INTEGER NOT NULL, ended REAL, instance TEXT, template TEXT NOT NULL DEFAULT '',
  attempt INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS open_sessions ON sessions (spoke) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL, instance TEXT NOT NULL, number INTEGER NOT NULL, session TEXT NOT NULL,
  run TEXT NOT NULL, opened REAL NOT NULL, over INTEGER NOT NULL DEFAULT 0,
  counts INTEGER NOT NULL, UNIQUE (scope, instance, number)
);
CREATE INDEX IF NOT EXISTS attempts_of ON attempts (session);
CREATE TABLE IF NOT EXISTS actions (
  attempt INTEGER NOT NULL, number INTEGER NOT NULL, action TEXT NOT NULL,
  at REAL NOT NULL, PRIMARY KEY (attempt, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS receipts (
  receipt TEXT PRIMARY KEY, attempt INTEGER NOT NULL, made REAL NOT NULL
) WITHOUT ROWID;
PRAGMA application_id = {OURS};
PRAGMA user_version = {FORMAT};
COMMIT;
"""


def connected(path: str | Path, *, make: bool) -> sqlite3.Connection:
    """Open a store that only its owner can read. Other files are rejected and not changed."""
    if str(path) != MEMORY:
        file = Path(path)
        if make:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        elif not file.is_file():
            raise ValueError(f"The store {file} does not exist. Give the server's --store.")
    base = sqlite3.connect(str(path), timeout=10.0, isolation_level=None, check_same_thread=False)
    try:
        _checked(base, path, make=make)
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            base.execute(f"PRAGMA {setting}")
    except sqlite3.OperationalError as error:
        base.close()
        raise ValueError(f"{path} cannot be used as a store: {error}") from error
    except sqlite3.DatabaseError:
        base.close()
        raise ValueError(f"{path} is not an SQLite file. Give another --store.") from None
    except ValueError:
        base.close()
        raise
    return base


def _checked(base: sqlite3.Connection, path: str | Path, *, make: bool) -> None:
    """Create the tables in an empty file. Reject a file that is neither empty nor a store."""
    kind, version = (_number(base, f"PRAGMA {what}") for what in ("application_id", "user_version"))
    if (kind, version) == (OURS, FORMAT):
        return
    if kind == OURS:
        raise ValueError(
            f"{path} is a store of format {version}, not {FORMAT}. Give another --store."
        )
    if kind or version or _number(base, "SELECT count(*) FROM sqlite_master"):
        raise ValueError(f"{path} is not a store of this server. Give another --store.")
    if not make:
        raise ValueError(f"{path} is an empty file, not a store. Give the server's --store.")
    base.executescript(_TABLES)


def _number(base: sqlite3.Connection, question: str) -> int:
    return int(base.execute(question).fetchone()[0])
