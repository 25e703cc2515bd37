# ruff: noqa: T201
"""Memory of a sample, seen from outside by a process that shares nothing with the sandbox.

`python -m tests.sandbox.outside` prints the table: attack, outcome, peak, fall of the host's free
memory.
"""

import contextlib
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio

EVERY_SECONDS = 0.01


def kib(path: str, *names: str) -> int:
    """Return the sum of fields in KiB."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(names))


def below(root: int) -> list[int]:
    """Return the processes below one, if they are in a process namespace of their own."""
    found, rest = [], [root]
    while rest:
        pid = rest.pop()
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                rest += [int(child) for child in (task / "children").read_text().split()]
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        if len(status.partition("NSpid:")[2].split("\n")[0].split()) > 1:
            found.append(pid)
    return found


def held(root: int, disks: list[str]) -> int:
    """Return KiB of private memory, page tables and files."""
    total = 0
    for pid in below(root):
        own = kib(f"/proc/{pid}/smaps_rollup", "Pss_Anon:", "Pss_Shmem:")
        total += own or kib(f"/proc/{pid}/status", "RssAnon:")
        total += kib(f"/proc/{pid}/status", "VmPTE:")
    for path in disks:
        have = os.statvfs(path)
        total += (have.f_blocks - have.f_bfree) * have.f_frsize // 1024
    return total


def watch(root: int, disks: list[str]) -> None:
    """Look until the input ends, then print the peak and the fall of free memory, in MiB."""
    before = least = kib("/proc/meminfo", "MemAvailable:")
    peak = 0
    print("ready", flush=True)
    while not select.select([0], [], [], EVERY_SECONDS)[0]:
        peak = max(peak, held(root, disks))
        least = min(least, kib("/proc/meminfo", "MemAvailable:"))
    print(peak // 1024, (before - least) // 1024)


@contextlib.contextmanager
def looking(disks: list[str], seen: list[int]) -> Iterator[None]:
    """Look at everything below this process; add the peak and the fall to `seen`."""
    words = [sys.executable, "-m", "tests.sandbox.outside", str(os.getpid()), *disks]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True) as looker:
        assert looker.stdin is not None
        assert looker.stdout is not None
        looker.stdout.readline()
        yield
        looker.stdin.close()
        seen += [int(word) for word in looker.stdout.read().split()]


async def table(names: list[str]) -> None:
    """Print what each attack on memory held at most."""
    from tests.sandbox.attacks import ATTACKS, Host, through

    host = Host(Path(tempfile.mkdtemp()))
    attacks = [a for a in ATTACKS.values() if a.name in names or (not names and a.kind == "memory")]
    print("attack | meets | peak MiB | fall of free memory MiB | got through")
    for attack in attacks:
        seen: list[int] = []
        with looking([], seen):
            found = await through(attack, host)
        print(attack.name, attack.meets, *seen, found, sep=" | ", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].isdecimal():
        watch(int(sys.argv[1]), sys.argv[2:])
    else:
        anyio.run(table, sys.argv[1:])
