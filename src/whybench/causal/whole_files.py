"""Write files that are there as a whole or not at all. Everything that writes results uses it."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNFINISHED = ".tmp"
"""Ending of the names of files that are being written."""


@contextmanager
def whole(path: Path, *, make_folder: bool = True) -> Iterator[Path]:
    """Give a temporary file in the same folder, and rename it when its writer is done.

    A writer that fails leaves the former file, and removes the temporary one. A writer that is
    killed leaves a hidden temporary file. What is no ordinary file, such as a terminal, is written
    directly, and a link stays a link.
    """
    path = Path(os.path.realpath(path))
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}{UNFINISHED}")
    try:
        yield draft
        _to_disk(draft)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    if os.name == "posix":
        _to_disk(path.parent)


def write_whole(path: Path, data: str | bytes, *, make_folder: bool = True) -> None:
    """Write a file: text as UTF-8 with the line ends that it has."""
    with whole(path, make_folder=make_folder) as draft:
        draft.write_bytes(data.encode() if isinstance(data, str) else data)


def _to_disk(path: Path) -> None:
    """Wait until a file or the names in a folder would survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
