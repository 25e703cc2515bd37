"""The location of a stored set: a folder, or any URL that fsspec supports."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec

from whybench.causal.whole_files import whole

DRAFT = re.compile(r"\.[a-z0-9]+\.(?:json|parquet)\.[0-9a-f]{32}\.tmp")
"""Pattern of the names of our temporary files. It matches no other name."""
TRIES = 3
"""Number of attempts to write a temporary file that another process removes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which every file is either complete or absent."""

    address: str
    """The path of a folder is made absolute, because workers have other working folders."""

    def __post_init__(self) -> None:
        if "://" not in self.address:
            object.__setattr__(self, "address", str(Path(self.address).resolve()))

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        files, root = self._opened()
        data: bytes = files.cat_file(f"{root}/{name}")
        return data

    def open(self, name: str) -> Any:
        """Open a file to read parts of it."""
        files, root = self._opened()
        return files.open(f"{root}/{name}", "rb")

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        files, root = self._opened()
        files.invalidate_cache()
        return bool(files.exists(f"{root}/{name}"))

    def commit(self, name: str, data: bytes) -> None:
        """Write a file atomically, so that nobody ever reads a part of it.

        In a folder, the file gets its name only when it is complete. An object store shows an
        object only after the whole upload, so the upload itself is atomic there.
        """
        files, root = self._opened()
        if not _is_local(files):
            files.pipe_file(f"{root}/{name}", data)
            return
        self._placed(Path(root) / name, lambda draft: draft.write_bytes(data))

    def commit_file(self, name: str, path: Path) -> None:
        """Copy a finished local file to this place atomically."""
        files, root = self._opened()
        if not _is_local(files):
            files.put_file(str(path), f"{root}/{name}")
            return
        self._placed(Path(root) / name, lambda draft: shutil.copyfile(path, draft))

    def _placed(self, path: Path, write: Callable[[Path], object]) -> None:
        """Write a temporary file in the same folder, then rename it."""
        for _ in range(TRIES):
            with suppress(FileNotFoundError):  # removed by another run that has just ended
                with whole(path) as draft:
                    write(draft)
                return
        raise OSError(
            f"{path} cannot be written. Check whether another run writes to {self.address}."
        )

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        files, root = self._opened()
        if self.has(name):
            files.rm_file(f"{root}/{name}")

    def sweep(self) -> None:
        """Remove the temporary files of killed writers. Complete files are not touched."""
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
