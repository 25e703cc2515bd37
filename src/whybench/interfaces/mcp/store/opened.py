"""Open a store by its name: a file of SQLite, or the URL of a PostgreSQL database."""

from __future__ import annotations

from pathlib import Path

from whybench.interfaces.mcp.store.protocol import Store
from whybench.interfaces.mcp.store.sqlite import SqliteStore
from whybench.interfaces.mcp.store.sqlite_file import migrate as migrate_file


def is_postgres(name: str) -> bool:
    """Return whether a name is the URL of a PostgreSQL database."""
    return name.startswith(("postgresql://", "postgres://"))


def opened(name: str, *, make: bool = True) -> Store:
    """Open a store. With `make`, a missing file or missing tables are created."""
    if not is_postgres(name):
        return SqliteStore(name, make=make)
    from whybench.interfaces.mcp.store.postgres import PostgresStore

    return PostgresStore(name, make=make)


def migrate(name: str) -> str:
    """Bring a store to the format of this version, and say what was done."""
    if is_postgres(name):
        opened(name).shut()
        return "The database has the latest format."
    copy = migrate_file(Path(name))
    if copy is None:
        return f"{name} has the latest format already."
    return f"{name} has the latest format. {copy} is a copy of what it was."
