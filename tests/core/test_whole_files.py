"""A file is written as a whole or not at all."""

import errno
import os
import sys
from pathlib import Path

import pytest

from whybench.causal.whole_files import whole, write_whole


def test_the_file_has_the_bytes_and_nothing_is_left_besides(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    write_whole(path, "één\r\n")
    assert path.read_bytes() == "één\r\n".encode()
    write_whole(path, b"\x00")
    assert path.read_bytes() == b"\x00"
    assert [one.name for one in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails_leaves_the_former_file(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    write_whole(path, "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), full)
    with pytest.raises(OSError, match="full"):
        write_whole(path, "new")
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])


def test_a_writer_that_stops_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with pytest.raises(KeyboardInterrupt), whole(path) as draft:  # noqa: PT012 - it is the test
        draft.write_text("half")
        assert (draft.parent, path.exists()) == (tmp_path, False)
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="no links and devices")
def test_links_stay_links_and_devices_are_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"
    write_whole(Path(os.devnull), "text")
    assert not Path(os.devnull).is_file()
