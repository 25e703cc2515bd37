"""The file of all prepared records: each with its paper's name, so that runs add to one another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whybench.causal.whole_files import write_whole

NAME = "texts.jsonl"

PAPER = "paper"
"""The field with the name of a paper's file; the published schema has none, and its readers skip
it."""


def read_texts(path: Path) -> dict[str, dict[str, Any]]:
    """Return the records by their papers' names, in their order; none if there is no file."""
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    ids: set[int] = set()
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _wrong(path, number, f"is no JSON ({error})") from error
        if not isinstance(row, dict) or not isinstance(row.get(PAPER), str):
            raise _wrong(path, number, f"is no record with the name of its `{PAPER}`")
        if type(row.get("id")) is not int:
            raise _wrong(path, number, "has no `id` that is a whole number")
        if row[PAPER] in found or row["id"] in ids:
            raise _wrong(path, number, "has the paper or the id of a line before")
        found[row[PAPER]] = row
        ids.add(row["id"])
    return found


def write_texts(path: Path, texts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write records by their papers' names."""
    rows = ({**record, PAPER: name} for name, record in texts.items())
    write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _wrong(path: Path, number: int, why: str) -> ValueError:
    return ValueError(
        f"{path}, line {number} {why}. Correct it, move the file away, or use another folder."
    )
