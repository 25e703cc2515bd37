"""The SQLite file of a store: its tables, and the check that a file is a store."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from whybench.interfaces.mcp.store.sql import migrations

MEMORY = ":memory:"
OURS = 0x77687962
"""The application id of SQLite: `whyb`."""
FORMAT = 3
"""Format version of the tables. `whybench arena upgrade` brings older stores to it."""


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
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
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
        if 1 < version < FORMAT:
            raise ValueError(
                f"{path} is a store of format {version}, not {FORMAT}. "
                f"Run `whybench arena upgrade --store {path}`."
            )
        raise ValueError(
            f"{path} is a store of format {version}, not {FORMAT}. Give another --store."
        )
    if kind or version or _number(base, "SELECT count(*) FROM sqlite_master"):
        raise ValueError(f"{path} is not a store of this server. Give another --store.")
    if not make:
        raise ValueError(f"{path} is an empty file, not a store. Give the server's --store.")
    _changed(base, 0)


def migrate(path: Path) -> Path | None:
    """Bring an older store to this format, after a copy. Return the copy, or None if not needed."""
    base = sqlite3.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None)
    try:
        kind, version = (_number(base, f"PRAGMA {w}") for w in ("application_id", "user_version"))
        if kind != OURS or version > FORMAT:
            raise ValueError(f"{path} is not a store of this server, or of a newer one.")
        if version == FORMAT:
            return None
        copy = path.with_name(f"{path.name}.format-{version}")
        if copy.exists():
            raise ValueError(f"The copy {copy} exists. Move it away and run the command again.")
        os.close(os.open(copy, os.O_RDWR | os.O_CREAT, 0o600))
        base.execute("VACUUM INTO ?", (str(copy),))
        _changed(base, version)
        return copy
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} cannot be migrated: {error}") from error
    finally:
        base.close()


def _changed(base: sqlite3.Connection, version: int) -> None:
    """Run the numbered changes after a format in one transaction."""
    try:
        base.execute("BEGIN IMMEDIATE")
        if _number(base, "PRAGMA user_version") == version:  # no other process was faster
            for _, text in migrations("sqlite", version):
                for statement in text.split(";\n"):
                    base.execute(statement)
            base.execute(f"PRAGMA application_id = {OURS}")
            base.execute(f"PRAGMA user_version = {FORMAT}")
        base.execute("COMMIT")
    except BaseException:
        if base.in_transaction:
            base.execute("ROLLBACK")
        raise


def _number(base: sqlite3.Connection, question: str) -> int:
    return int(base.execute(question).fetchone()[0])
