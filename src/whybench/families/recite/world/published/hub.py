"""The published texts on the hub: which data set, at which commit."""

from __future__ import annotations

import re
import tomllib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HUB = "hub"
"""The source that stands for the published data set itself."""

PLACES = Path(__file__).with_name("hub.toml")

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Place:
    """A data set on the hub."""

    name: str
    repository: str
    revision: str = ""
    """The commit to read; empty: the newest one."""


def places(path: Path = PLACES) -> dict[str, Place]:
    """Return the known data sets by name; the first is the default."""
    listed = tomllib.loads(path.read_text("utf-8"))
    return {name: Place(name, **fields) for name, fields in listed.items()}


def means(source: str) -> bool:
    """Return whether a source is on the hub.

    >>> means("hub"), means("hub:ReCITE"), means("hub.jsonl")
    (True, True, False)
    """
    return source.partition(":")[0] == HUB


def chosen(source: str) -> Place:
    """Return the data set that `hub` or `hub:NAME` means."""
    known = places()
    name = source.partition(":")[2] or next(iter(known))
    if name not in known:
        raise ValueError(f"The hub has no data set {name!r} here. Use {' or '.join(known)}.")
    return known[name]


def rows(place: Place, split: str) -> tuple[str, list[dict[str, Any]]]:
    """Fetch a split through `datasets`; return `REPOSITORY@COMMIT` and the records."""
    try:
        import datasets
    except ImportError as missing:
        raise RuntimeError(
            "The published texts are downloaded with `datasets`. Install it with "
            "`pip install 'whybench[hub]'`, or give a local Parquet or JSONL copy."
        ) from missing
    path = place.repository
    try:
        commit = place.revision or newest(path)
        if not place.revision:
            warnings.warn(
                f"No commit of {path} is fixed. This run reads {commit}, and its log says so. "
                "Later runs may read another one. "
                f"`whybench recite revision {place.name}` fixes it.",
                stacklevel=2,
            )
        found: list[dict[str, Any]] = datasets.load_dataset(
            path, split=split, revision=commit
        ).to_list()
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise ValueError(
            f"{path} cannot be downloaded ({type(error).__name__}: {str(error)[:200]}). Check the "
            f"connection, or give a local Parquet or JSONL copy of its split {split!r}."
        ) from error
    return f"{path}@{commit}", found


def newest(repository: str) -> str:
    """Ask the hub for the newest commit of a data set."""
    from huggingface_hub import HfApi

    return str(HfApi().dataset_info(repository).sha)


def fix(name: str, commit: str = "", path: Path = PLACES) -> Place:
    """Write the commit of a data set into the data file; by default the newest one."""
    known = places(path)
    if name not in known:
        raise ValueError(f"The hub has no data set {name!r} here. Use {' or '.join(known)}.")
    commit = commit or newest(known[name].repository)
    if not COMMIT.fullmatch(commit):
        raise ValueError(f"{commit!r} is not a commit. Give its 40 hexadecimal digits.")
    before, mark, after = path.read_text("utf-8").partition(f"[{name}]\n")
    filled = re.sub(r'(?m)^revision = ".*"$', f'revision = "{commit}"', after, count=1)
    path.write_text(before + mark + filled, "utf-8")
    return places(path)[name]
