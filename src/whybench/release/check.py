"""Check a release: rebuild its rows, and compare their hashes."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from whybench.release.data import Part, Release
from whybench.release.make import row_hash


def rows_of(release: Release, which: str, limit: int | None = None) -> list[tuple[Part, int]]:
    """Return rows of a set; with a limit, as many of each suite, in hashed order."""
    found: list[tuple[Part, int]] = []
    for part in release.parts:
        rows = sorted(
            part.rows[which], key=lambda row: sha256(f"check {part.path} {row}".encode()).digest()
        )
        found += [(part, row) for row in rows[:limit]]
    return found


def differences(release: Release, rows: list[tuple[Part, int]]) -> Iterator[str | None]:
    """Yield for each row what differs from the release, or None."""
    for part, row in rows:
        played = release.families[part.family]
        suite = part.load()
        if suite.family.version != part.version:
            yield f"{part.path}: version {suite.family.version}, not {part.version}"
            continue
        found = row_hash(suite, suite.row(row), played.protocol, played.templates)
        same = found == part.hashes[row]
        yield None if same else f"{part.path} row {row}: {found}, not {part.hashes[row]}"
