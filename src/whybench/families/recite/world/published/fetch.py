"""Where the published texts come from: the hub, or a local copy of the same schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whybench.families.recite.world.published import hub

SPLIT = "test"

SUFFIXES = (".parquet", ".jsonl", ".json")
"""Kinds of local files; in a folder the first kind that is there counts."""

BESIDE = ("responses", "evaluations")
"""Files that the hub keeps beside the texts: what models answered, and how it was judged."""


def fetch(source: str) -> tuple[str, list[Any]]:
    """Return the rows of a source, and what to call it in errors and logs.

    A source is `hub`, `hub:NAME`, a Parquet, JSONL or JSON file, or a folder that holds one.
    """
    if hub.means(source):
        return hub.rows(hub.chosen(source), SPLIT)
    path = _file(Path(source))
    try:
        return path.name, _rows(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read ({error}). Download it again.") from error


def _file(path: Path) -> Path:
    """Return the one file that a path means."""
    if path.is_file():
        if path.suffix not in SUFFIXES:
            raise ValueError(
                f"{path.name} has an unknown format. Give a file ending in {', '.join(SUFFIXES)}."
            )
        return path
    if not path.is_dir():
        raise ValueError(
            f"There is no file or folder {str(path)!r}. Give {hub.HUB!r}, or a Parquet or JSONL "
            "copy."
        )
    files = [
        item
        for folder in (path, path / "data")
        for item in sorted(folder.glob("*"))
        if item.suffix in SUFFIXES and item.stem not in BESIDE
    ]
    for suffix in SUFFIXES:
        found = [item for item in files if item.suffix == suffix]
        if len(found) == 1:
            return found[0]
        if found:
            named = ", ".join(item.name for item in found)
            raise ValueError(f"{str(path)!r} contains {named}. Give the file with the texts.")
    raise ValueError(f"{str(path)!r} contains no file ending in {', '.join(SUFFIXES)}.")


def _rows(path: Path) -> list[Any]:
    """Read a table, one record a line, or a JSON file that is one list of them."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return list(parquet.read_table(path).to_pylist())
    text = path.read_text("utf-8-sig").strip()
    if path.suffix == ".json" and text.startswith("["):
        return list(json.loads(text))
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise ValueError(f"line {number} is not JSON: {error}") from error
    return found
