"""Run one command with limits on its time, its output and the memory of all its processes."""

import contextlib
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from whybench.sandbox.room import end

WATCH_SECONDS = 0.1
"""Interval at which the memory of a running command is checked."""
STOP_SECONDS = 2
"""Time that bubblewrap may take to end after its command has ended."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one command."""

    seconds: float
    output: int
    """Bytes of each stream."""
    memory: int
    """Bytes of all processes together."""
    processes: int
    """Maximum number of processes. The kernel's own limit applies first. On kernels before 5.14,
    where that limit does not bind, a command above this number is ended."""


@dataclass(slots=True)
class Finished:
    """The result of a command; `stopped` names the limit that ended it, if any."""

    returncode: int = -9
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    stopped: str = ""


async def finish(
    words: Sequence[str],
    bounds: Bounds,
    running: set[Process],
    *,
    given: bytes = b"",
    inherited: Sequence[int] = (),
    told: int,
) -> Finished:
    """Run a command until it ends or a limit ends it; if cancelled, it leaves no process.

    The descriptors `inherited` are passed to the command and closed here. `told` is a file to which
    bubblewrap writes the id of its first process. The environment is empty, because programs inside
    can read it as `/proc/1/environ`.
    """
    try:
        process = await anyio.open_process(
            words, env={}, start_new_session=True, pass_fds=tuple(inherited)
        )
    finally:
        for number in inherited:
            os.close(number)
    running.add(process)
    result = Finished()
    try:
        with anyio.move_on_after(bounds.seconds) as time:
            async with anyio.create_task_group() as group:
                group.start_soon(_feed, process.stdin, given)
                group.start_soon(_watch, told, bounds, result, group.cancel_scope)
                async with anyio.create_task_group() as readers:
                    for stream, kept in (
                        (process.stdout, result.stdout),
                        (process.stderr, result.stderr),
                    ):
                        readers.start_soon(
                            _read, stream, kept, bounds.output, result, group.cancel_scope
                        )
                result.returncode = await process.wait()
                group.cancel_scope.cancel()
        if time.cancelled_caught:
            result.stopped = "timeout"
    finally:
        await _stop(process, told)
        running.discard(process)
    return result


async def _stop(process: Process, told: int) -> None:
    """End a command, starting with its first process.

    Bubblewrap then reaps that process and ends itself. If bubblewrap were killed first, the process
    would pass to the host's first process, which in a container may never reap it.
    """
    with anyio.CancelScope(shield=True):
        if process.returncode is None and (first := _first(told)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(first), signal.SIGKILL)
            with anyio.move_on_after(STOP_SECONDS):
                await process.wait()
        await end(process)


async def _feed(stream: ByteSendStream | None, given: bytes) -> None:
    if stream is None:
        return
    try:
        if given:
            await stream.send(given)
        await stream.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        return  # the command ended, or closed its input, before it had read all


async def _read(
    stream: ByteReceiveStream | None,
    kept: bytearray,
    most: int,
    result: Finished,
    scope: anyio.CancelScope,
) -> None:
    if stream is None:
        return
    async for chunk in stream:
        kept += chunk[: most - len(kept) + 1]
        if len(kept) > most:
            result.stopped = "output"
            scope.cancel()
            return


async def _watch(told: int, bounds: Bounds, result: Finished, scope: anyio.CancelScope) -> None:
    while not result.stopped:
        await anyio.sleep(WATCH_SECONDS)
        if first := _first(told):
            inside = _inside(first)
            if len(inside) > bounds.processes:
                result.stopped = "processes"
            elif used(inside, bounds.memory) > bounds.memory:
                result.stopped = "memory"
    scope.cancel()


def _first(told: int) -> str:
    """Return the host's id of the first process inside, once bubblewrap has written it."""
    found = re.search(rb'"child-pid": *(\d+)', os.pread(told, 4096, 0))
    return found[1].decode() if found else ""


def _inside(first: str) -> list[Path]:
    """Return the processes inside, from the list that they see themselves.

    Until bubblewrap has mounted the new list, the first process sees the host's: then there is
    nothing to count yet.
    """
    own = Path("/proc", str(first), "root", "proc")
    try:
        if own.stat().st_dev == Path("/proc").stat().st_dev:
            return []
        processes = list(own.iterdir())
    except OSError:
        return []
    return [process for process in processes if process.name.isdecimal()]


def used(inside: list[Path], enough: int) -> int:
    """Return the bytes of memory of all processes inside.

    The quick sum counts pages that processes share after a fork once per process. Only if that sum
    is above `enough` are the pages divided, which is slower.
    """
    quick = sum(_field(process / "status", b"RssAnon:", b"RssShmem:") for process in inside)
    if quick <= enough:
        return quick
    return sum(_field(process / "smaps_rollup", b"Pss:") for process in inside) or quick


def _field(path: Path, *names: bytes) -> int:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(names))
