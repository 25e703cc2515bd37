"""Run one command of a sample with limits on its time and output, and have its memory watched."""

import contextlib
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from whybench.sandbox.room import Room, end

STOP_SECONDS = 2
"""Time that bubblewrap may take to end after its command has ended."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one command."""

    seconds: float
    output: int
    """Bytes of each stream."""


@dataclass(slots=True)
class Finished:
    """The result of a command; `stopped` names the limit that ended it, if any."""

    returncode: int = -9
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    stopped: str = ""
    first: int = 0
    """The host's id of the first process inside."""
    peak: int = 0
    """The most bytes that the sample was seen to hold, disks included."""


class Gate:
    """Two pipes to bubblewrap: it tells its first process and waits until that one is watched."""

    def __init__(self) -> None:
        self.told, self.tell = os.pipe()
        self.wait, self.release = os.pipe()

    def words(self) -> list[str]:
        """Return bubblewrap's options."""
        return ["--info-fd", str(self.tell), "--block-fd", str(self.wait)]

    def close(self, *numbers: int) -> None:
        """Close ends that are not needed any more."""
        for number in numbers:
            with contextlib.suppress(OSError):
                os.close(number)


async def finish(
    words: Sequence[str],
    bounds: Bounds,
    room: Room,
    gate: Gate,
    *,
    given: bytes = b"",
    inherited: Sequence[int] = (),
) -> Finished:
    """Run a command until it ends or a limit ends it; if cancelled, it leaves no process.

    The descriptors `inherited` are passed to the command and closed here. The environment is empty,
    because programs inside can read it as `/proc/1/environ`.
    """
    ours = (gate.tell, gate.wait, *inherited)
    result = Finished()
    try:
        try:
            process = await anyio.open_process(words, env={}, start_new_session=True, pass_fds=ours)
        finally:
            gate.close(*ours)
        room.running.add(process)
        try:
            with anyio.move_on_after(bounds.seconds) as time:
                async with anyio.create_task_group() as group:
                    group.start_soon(_feed, process.stdin, given)
                    group.start_soon(_start, room, gate, result)
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
            await _stop(process, result.first)
            room.running.discard(process)
            if result.first:
                reason, result.peak = await room.finish(result.first)
                result.stopped = reason or result.stopped
    finally:
        gate.close(gate.told, gate.release)
    return result


async def _start(room: Room, gate: Gate, result: Finished) -> None:
    """Have the command watched, then let it go on."""
    said = b""
    while not (found := re.search(rb'"child-pid": *(\d+)\D', said)):
        await anyio.wait_readable(gate.told)
        chunk = os.read(gate.told, 4096)
        if not chunk:
            return  # bubblewrap has failed; it says why on its error stream
        said += chunk
    result.first = int(found[1])
    await room.begin(result.first)
    os.write(gate.release, b"x")


async def _stop(process: Process, first: int) -> None:
    """End a command, starting with its first process.

    Bubblewrap then reaps that process and ends itself. If bubblewrap were killed first, the process
    would pass to the host's first process, which in a container may never reap it.
    """
    with anyio.CancelScope(shield=True):
        if process.returncode is None and first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)
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
