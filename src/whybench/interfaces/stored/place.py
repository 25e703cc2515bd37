"""Where a set is kept: a folder, or any address that fsspec knows."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

UNFINISHED = ".tmp"
"""How the names of files end that are being written."""
DRAFT = re.compile(r"\.[a-z0-9]+\.(?:json|parquet)\.[0-9a-f]{32}\.tmp")
"""Names of our own drafts, and of nothing else."""
TRIES = 3
"""How often a draft is written that somebody else takes away."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of files that are there whole or not at all."""

    address: str
    """A folder's is made absolute: workers elsewhere have other working folders."""

    def __post_init__(self) -> None:
        if "://" not in self.address:
            object.__setattr__(self, "address", str(Path(self.address).resolve()))

    def read(self, name: str) -> bytes:
        """Return a file's bytes."""
        files, root = self._opened()
        data: bytes = files.cat_file(f"{root}/{name}")
        return data

    def open(self, name: str) -> Any:
        """Open a file to read parts of it."""
        files, root = self._opened()
        return files.open(f"{root}/{name}", "rb")

    def has(self, name: str) -> bool:
        """Tell whether a file is there."""
        files, root = self._opened()
        files.invalidate_cache()
        return bool(files.exists(f"{root}/{name}"))

    def commit(self, name: str, data: bytes) -> None:
        """Write a file so that nobody ever sees half of it.

        In a folder it gets its name only when it is whole; an object store shows an object only
        when all of it has arrived, so there the upload itself is the commit.
        """
        files, root = self._opened()
        if not _is_local(files):
            files.pipe_file(f"{root}/{name}", data)
            return
        self._placed(Path(root) / name, lambda draft: draft.write_bytes(data))

    def commit_file(self, name: str, path: Path) -> None:
        """Write a file that is ready elsewhere, so that nobody ever sees half of it."""
        files, root = self._opened()
        if not _is_local(files):
            files.put_file(str(path), f"{root}/{name}")
            return
        self._placed(Path(root) / name, lambda draft: shutil.copyfile(path, draft))

    def _placed(self, path: Path, write: Callable[[Path], object]) -> None:
        """Write beside the place, then give it its name."""
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(TRIES):
            draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}{UNFINISHED}")
            with suppress(FileNotFoundError):  # swept by another run that has just ended
                write(draft)
                with draft.open("rb") as file:
                    os.fsync(file.fileno())
                draft.replace(path)
                return
        raise OSError(f"{path} cannot be written: is another run busy at {self.address}?")

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        files, root = self._opened()
        if self.has(name):
            files.rm_file(f"{root}/{name}")

    def sweep(self) -> None:
        """Remove what killed writers left behind; no name of a whole file is touched."""
        files, root = self._opened()
        if _is_local(files):
            for draft in (*Path(root).glob(".*"), *Path(root).glob("*/.*")):
                if DRAFT.fullmatch(draft.name):
                    draft.unlink(missing_ok=True)

    def _opened(self) -> tuple[Any, str]:
        files, root = fsspec.core.url_to_fs(self.address)
        return files, root.rstrip("/")


def _is_local(files: Any) -> bool:
    return "file" in ((files.protocol,) if isinstance(files.protocol, str) else files.protocol)
