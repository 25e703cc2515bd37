"""What the tests of the sandbox share."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest

from whybench.sandbox.bubblewrap import Bubblewrap
from whybench.sandbox.limits import MIB, Limits

needs_bwrap = pytest.mark.skipif(
    shutil.which("bwrap") is None and "WHYBENCH_REQUIRE_SANDBOX" not in os.environ,
    reason="bubblewrap is not installed",
)

SMALL = Limits(
    seconds=30,
    memory=384 * MIB,
    processes=32,
    file=2 * MIB,
    disk=8 * MIB,
    inodes=600,
    output=16 * 1024,
)


@asynccontextmanager
async def sample(limits: Limits = SMALL) -> AsyncIterator[Bubblewrap]:
    """Open a sandbox as Inspect does for one sample, and see that nothing of it stays."""
    environments = await Bubblewrap.sample_init("test", limits, {})
    box = environments["default"].as_type(Bubblewrap)
    with mount_space(box.room.keeper.pid) as space:
        try:
            yield box
        finally:
            await Bubblewrap.sample_cleanup("test", limits, environments, False)
        assert not box.room.running
        for _ in range(20):  # the kernel takes a moment to take a gigabyte back
            if not in_space(space):
                return
            await anyio.sleep(0.1)
        assert not in_space(space)


@contextmanager
def mount_space(pid: int) -> Iterator[str]:
    """Return the name of a process's mount namespace, which no other gets before the end."""
    file = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    try:
        yield str(Path(f"/proc/self/fd/{file}").readlink())
    finally:
        os.close(file)


def in_space(space: str) -> list[str]:
    """Processes, also of other users, that live in a mount namespace."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                if str((process / "ns" / "mnt").readlink()) == space:
                    found.append((process / "cmdline").read_text())
            except OSError:
                continue
    return found


def descendants() -> list[str]:
    """Names of the processes, zombies among them, that this one has started and not seen end."""
    parents: dict[int, tuple[int, str]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                name, _, rest = (process / "stat").read_text().partition("(")[2].rpartition(")")
            except OSError:
                continue
            parents[int(process.name)] = (int(rest.split()[1]), name)
    ours, found = {os.getpid()}, []
    for pid in sorted(parents):
        if parents[pid][0] in ours:
            ours.add(pid)
            found.append(parents[pid][1])
    return found
