"""Kill everything that writes, and give it a failing disk. Nothing may be lost or half-written.

    python scripts/kill [--repetitions 200] [--writers store results] > docs/runs/kill.txt
    python scripts/kill --every

With --every, a writer is killed once at each of its steps. With --unsafe, files are written in
place, which must be noticed.

A repetition runs a writer in a process of its own, with one fault: SIGKILL at a random moment,
SIGKILL in the middle of one step (a write, sync, creation, renaming or removal of a file), a disk
that is full from a step on, one input/output error at a step, or a write that ends half-way on a
disk that is then full. The steps are spread over all steps of the writer. Every other repetition
starts with files of an earlier run. After the fault, no file under its final name may be a part of
one, nothing that was confirmed may be missing, and the same call without a fault must complete the
folder. A writer that returns without an error must have written everything.

A power cut is not simulated: what the kernel has taken is on the disk here.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from whybench.causal import whole_files

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

FAULTS = ("SIGKILL at a step", "full disk", "I/O error", "short write", "SIGKILL at random")
"""The first four in the order of their numbers in `failing_disk.c`."""

SHARES = {"generate": 45, "results": 35, "report": 20, "prepare": 40, "store": 40, "inspect": 20}
"""Repetitions of each writer among 200; those of the costly ones are fewer."""

OUTCOMES = ("killed", "refused", "done")
Rows = Counter[tuple[str, str, str]]
"""Counts by writer, fault and what is counted."""

LAYOUT = struct.Struct("lll1000s")


class Disk:
    """The failing disk of this process and its children."""

    def __init__(self, file: str) -> None:
        with Path(file).open("r+b") as held:
            self._state = mmap.mmap(held.fileno(), LAYOUT.size)

    def set(self, folder: Path | None, fault: int = 0, at: int = 0) -> None:
        """Watch a folder, or nothing."""
        LAYOUT.pack_into(self._state, 0, 0, at, fault, str(folder or "").encode())

    @property
    def steps(self) -> int:
        """Steps so far."""
        return int(LAYOUT.unpack_from(self._state)[0])


@contextmanager
def in_place(path: Path, **_: bool) -> Iterator[Path]:
    """Write a file directly, as nothing should."""
    path.parent.mkdir(parents=True, exist_ok=True)
    yield path


def child(
    call: Callable[[Path], None], folder: Path, said: Path, kill_after: float | None = None
) -> int:
    """Run a call in a process of its own; return its status, or minus the signal that ended it."""
    folder.mkdir(parents=True, exist_ok=True)
    pid = os.fork()
    if pid == 0:
        try:
            out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(out, 1)
            os.dup2(out, 2)
            call(folder)
            status = 0
        except BaseException:  # noqa: BLE001 - every kind is an outcome
            os.write(2, traceback.format_exc().encode())
            status = 1
        os._exit(status)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def repeated(name: str, count: int | None, scratch: Path, disk: Disk, rows: Rows) -> list[str]:
    """Repeat one writer; count the outcomes and return what went wrong.

    Without a count, kill it at every step.
    """
    from writers import WRITERS, contents

    scratch.mkdir()
    with redirect_stdout(sys.stderr):  # words of the engine
        writer = WRITERS[name](scratch)
    rng, said = random.Random(name), scratch / "said.txt"
    steps, span = [0, 0], 0.0
    for after in (0, 1):
        quiet = scratch / f"quiet{after}"
        if after:
            child(writer.before, quiet, said)
        disk.set(quiet)
        start = time.monotonic()
        if child(writer.run, quiet, said):
            raise SystemExit(f"{name} fails without a fault:\n{said.read_text()[-3000:]}")
        span, steps[after] = time.monotonic() - start, disk.steps
        disk.set(None)
        if not after:
            writer.accept(quiet)
    wrong: list[str] = []
    faults = FAULTS if count else FAULTS[:1]
    for number in range(count or steps[0]):
        turn, fault = divmod(number, len(faults))
        turns = -(-(count or steps[0]) // len(faults))
        after = turn % 2 if count else 0
        at = 1 + int((turn + (rng.random() if count else 0)) * steps[after] / turns)
        folder = scratch / str(number)
        folder.mkdir()
        if after:
            child(writer.before, folder, said)
        writer.earlier = contents(folder)
        last = fault == len(FAULTS) - 1
        disk.set(folder, 0 if last else fault + 1, at)
        status = child(writer.run, folder, said, rng.random() * span if last else None)
        disk.set(None)
        ended = "killed" if status < 0 else "refused" if status else "done"
        flaws = [*writer.flaws(folder)]
        if ended == "done":
            flaws += [f"returned without {what}" for what in writer.short(folder)]
        if child(writer.run, folder, said):
            flaws.append(f"cannot go on: {said.read_text()[-600:]}")
        else:
            flaws += [f"after going on: no {what}" for what in writer.short(folder)]
        for what in ("repetitions", ended, *(["flawed"] if flaws else [])):
            rows[name, FAULTS[fault], what] += 1
        place = "" if last else f", step {at} of {steps[after]}"
        wrong += [f"{name}, {FAULTS[fault]}{place}, {ended}: {one}" for one in flaws]
        shutil.rmtree(folder)
    rows[name, "", "steps"] = steps[0]
    return wrong


def main() -> int:
    """Repeat, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--writers", nargs="+", default=list(SHARES), choices=list(SHARES))
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--unsafe", action="store_true")
    given = parser.parse_args()
    if given.unsafe:
        whole_files.whole = in_place
    share = sum(SHARES[name] for name in given.writers)
    rows: Rows = Counter()
    wrong: list[str] = []
    disk = Disk(os.environ["FAILING_DISK"])
    print(f"python scripts/kill {' '.join(sys.argv[1:])}")
    print("| writer | steps | fault | repetitions | killed | refused | done | flawed |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name in given.writers:
            count = None if given.every else round(given.repetitions * SHARES[name] / share)
            wrong += repeated(name, count, Path(scratch) / name, disk, rows)
            for fault in FAULTS[: 1 if given.every else None]:
                told = [rows[name, fault, what] for what in ("repetitions", *OUTCOMES, "flawed")]
                cells = " | ".join(str(one) for one in told)
                print(f"| {name} | {rows[name, '', 'steps']} | {fault} | {cells} |", flush=True)
    total = sum(count for (_, _, what), count in rows.items() if what == "repetitions")
    flawed = sum(count for (_, _, what), count in rows.items() if what == "flawed")
    print(f"\n{total} repetitions, {flawed} with a flaw")
    print("\n".join(wrong[:40]))
    return int(flawed > 0)


def under_the_disk() -> int:
    """Build the failing disk, and start this program again on it."""
    with tempfile.TemporaryDirectory() as folder:
        library, state = f"{folder}/failing_disk.so", f"{folder}/state"
        source = str(HERE / "failing_disk.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        Path(state).write_bytes(bytes(LAYOUT.size))
        more = {"LD_PRELOAD": library, "FAILING_DISK": state}
        asked = [sys.executable, str(HERE), *sys.argv[1:]]
        return subprocess.run(asked, env=os.environ | more, check=False).returncode


if __name__ == "__main__":
    sys.exit(main() if "FAILING_DISK" in os.environ else under_the_disk())
