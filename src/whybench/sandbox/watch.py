# It runs without the package and looks often: plain calls of `os`.
# ruff: noqa: PERF401, PTH115, PTH116, PTH118, PTH123, PTH208, SIM105, T201
"""The process that keeps a sample's file system and watches the memory of its commands.

Its text is run by a plain interpreter in the sample's mount namespace, apart from the run itself,
so that a busy run does not delay it. Lines of its input say what to watch; it answers `end` with
the limit that it enforced, if any, and the most bytes that it counted. It ends with its input.

It counts what programs can hold: private memory, page tables, mappings, the disks, and the buffers
of pipes and sockets. The system-call filter refuses what it could not count.
"""

import os
import select
import signal
import sys
import time
from typing import Any

RATE = 4 * 1024**3
"""Bytes per second by which the memory of one core's programs can grow, without huge pages."""
SHORTEST, LONGEST = 0.004, 0.1
"""Seconds between two looks."""
MAPPING = 320
"""Bytes of the kernel for one mapping of a process."""
PIPE = 16 * 4096
WATCHED = 64 * 1024
"""Bytes of the kernel for a descriptor that watches others."""


def number(path: str, otherwise: int) -> int:
    """Read a number."""
    try:
        with open(path, "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return otherwise


SOCKET = 2 * number("/proc/sys/net/core/wmem_default", 212992)
"""Bytes of the buffers of one socket: what was sent, and what the kernel adds to it."""


def fields(path: str, *names: bytes) -> int:
    """Return the sum of fields, in bytes."""
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))


def disk(path: str) -> int:
    """Return the bytes that files use."""
    have = os.statvfs(path)
    return (have.f_blocks - have.f_bfree) * have.f_frsize


def inside(first: int) -> list[str]:
    """Return the processes of a command, from the list that they see themselves.

    Until bubblewrap has mounted that list, the first process sees the host's: then there is nothing
    to count yet.
    """
    own = os.path.join("/proc", str(first), "root", "proc")
    try:
        if os.stat(own).st_dev == os.stat("/proc").st_dev:
            return []
        return [f"{own}/{name}" for name in os.listdir(own) if name.isdecimal()]
    except OSError:
        return []


def descriptors(process: str) -> list[str]:
    """Return what the descriptors of a process are."""
    found = []
    try:
        for name in os.listdir(f"{process}/fd"):
            found.append(os.readlink(f"{process}/fd/{name}"))
    except OSError:
        pass
    return found


def quick(processes: list[str]) -> int:
    """Return at least the bytes of all processes: shared pages count once per process."""
    total = 0
    for process in processes:
        total += fields(f"{process}/status", b"RssAnon:", b"RssShmem:", b"VmPTE:", b"VmSwap:")
        try:
            total += SOCKET * (os.stat(f"{process}/fd").st_size or 256)
        except OSError:
            continue
    return total


def exact(processes: list[str], disks: int) -> int:
    """Return the bytes of all processes, with shared pages divided and each buffer once."""
    private = shared = 0
    buffers: dict[str, int] = {}
    for process in processes:
        rollup = f"{process}/smaps_rollup"
        private += fields(rollup, b"Pss_Anon:") or fields(f"{process}/status", b"RssAnon:")
        private += fields(f"{process}/status", b"VmPTE:", b"VmSwap:")
        shared += fields(rollup, b"Pss_Shmem:")
        for name in descriptors(process):
            if name.startswith("socket:"):
                buffers[name] = SOCKET
            elif name.startswith("pipe:"):
                buffers[name] = PIPE
            elif name == "anon_inode:[eventpoll]":
                private += WATCHED
    return private + max(shared - disks, 0) + sum(buffers.values())


def mappings(processes: list[str]) -> int:
    """Return the bytes that the kernel keeps for the mappings of all processes."""
    total = 0
    for process in processes:
        try:
            with open(f"{process}/maps", "rb") as file:
                total += MAPPING * file.read().count(b"\n")
        except OSError:
            continue
    return total


class Command:
    """One command under watch."""

    def __init__(self, first: int, processes: int) -> None:
        self.first, self.processes = first, processes
        self.handle = os.pidfd_open(first)
        self.counted = self.mapped = 0
        self.looked = time.monotonic()
        self.reason = "-"

    def stop(self, reason: str) -> None:
        """End all of its processes."""
        self.reason = reason
        try:
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        except OSError:
            return


class Watch:
    """All commands of one sample, with their disks."""

    def __init__(self, memory: int, disks: list[str]) -> None:
        self.memory, self.disks = memory, disks
        self.commands: dict[int, Command] = {}
        self.peak = 0

    def heed(self, line: str) -> None:
        """Follow one line of the input."""
        verb, *given = line.split()
        first = int(given[0])
        if verb == "begin":
            try:
                os.sched_setaffinity(first, {int(given[2])})
                self.commands[first] = Command(first, int(given[1]))
            except OSError:
                pass  # it has ended already
            print("begun", flush=True)
        elif verb == "end":
            command = self.commands.pop(first, None)
            if command is not None:
                os.close(command.handle)
            print(command.reason if command else "-", self.peak, flush=True)
            if not self.commands:
                self.peak = 0

    def look(self) -> float:
        """Count everything once, end what is above a limit; return the seconds to wait."""
        disks = sum(disk(path) for path in self.disks)
        for command in self.commands.values():
            processes = inside(command.first)
            if len(processes) > command.processes:
                command.stop("processes")
            if time.monotonic() > command.looked + 0.5:
                command.mapped, command.looked = mappings(processes), time.monotonic()
            command.counted = quick(processes)
            if disks + command.counted + command.mapped > self.memory:
                command.counted = exact(processes, disks)
            command.counted += command.mapped
        total = disks + sum(command.counted for command in self.commands.values())
        self.peak = max(self.peak, total)
        if total > self.memory and self.commands:
            max(self.commands.values(), key=lambda command: command.counted).stop("memory")
        return min(max((self.memory - total) / RATE, SHORTEST), LONGEST)


def keep(memory: int, disks: list[str]) -> None:
    """Watch until the input ends."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -10)
    except OSError:
        pass  # only root may
    watch, rest = Watch(memory, disks), b""
    pause: float | None = None
    while True:
        if select.select([0], [], [], pause)[0]:
            chunk = os.read(0, 4096)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                watch.heed(line.decode())
        pause = watch.look() if watch.commands else None


def main(words: list[Any]) -> None:
    """Say that the file system stands, then watch."""
    print("ready", words[0], flush=True)
    keep(int(words[1]), words[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
