"""Where the published texts come from: the hub, or a local copy of the same schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HUB = "hub"
"""The source that stands for the published data set itself."""

DATA_SET = "RyanSaklad/ReCast"
SPLIT = "test"

SUFFIXES = (".parquet", ".jsonl", ".json")
"""Kinds of local files; in a folder the first kind that is there counts."""

BESIDE = ("responses", "evaluations")
"""Files that the hub keeps beside the texts: what models answered, and how it was judged."""


def fetch(source: str) -> tuple[str, list[Any]]:
    """Return the rows of a source, and what to call it in errors.

    A source is `hub`, a Parquet, JSONL or JSON file, or a folder that holds one.
    """
    if source == HUB:
        return DATA_SET, hub_rows(DATA_SET)
    path = _file(Path(source))
    try:
        return path.name, _rows(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read ({error}). Download it again.") from error


def hub_rows(path: str) -> list[dict[str, Any]]:
    """Fetch the split of a data set through `datasets`: a name on the hub, or a local folder."""
    try:
        import datasets
    except ImportError as missing:
        raise RuntimeError(
            "The published texts are downloaded with `datasets`. Install it with "
            "`pip install 'whybench[hub]'`, or give a local Parquet or JSONL copy."
        ) from missing
    try:
        rows: list[dict[str, Any]] = datasets.load_dataset(path, split=SPLIT).to_list()
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise ValueError(
            f"{path} cannot be downloaded ({type(error).__name__}: {str(error)[:200]}). Check the "
            f"connection, or give a local Parquet or JSONL copy of its split {SPLIT!r}."
        ) from error
    return rows


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
            f"There is no file or folder {str(path)!r}. Give {HUB!r}, or a Parquet or JSONL copy."
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
