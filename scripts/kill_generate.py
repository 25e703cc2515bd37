"""Kill workers and drivers of `whybench data generate` at random moments; the set must not show it.

    python scripts/kill_generate.py [--repetitions 20] [--n 3000] [--rows 50]

Each repetition generates the same set into an empty folder. Several times a worker process is
killed with SIGKILL, once the driver itself and in every other repetition the whole node, after
which the command is run again.
In the end every file must equal that of an undisturbed run, with none missing and none besides.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

import psutil

from whybench.causal.seeds import Stream


def command(suite: str, n: int, rows: int, out: Path) -> list[str]:
    return [
        sys.executable, "-m", "whybench", "data", "generate", suite, "--n", str(n),
        "--rows", str(rows), "--out", str(out), "--workers", "2",
    ]  # fmt: skip


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def below(driver: psutil.Process, *titles: str) -> list[psutil.Process]:
    """Return the processes under a driver whose command begins with one of these."""
    try:
        return [p for p in driver.children(recursive=True) if _title(p).startswith(titles)]
    except psutil.NoSuchProcess:
        return []


def _title(process: psutil.Process) -> str:
    """Return the last part of a command's path: `raylet`, or what a worker is doing."""
    try:
        said = process.cmdline()
    except psutil.Error:
        return ""
    return said[0] if said and said[0].startswith("ray::") else Path(said[0]).name if said else ""


def _await_work(run: subprocess.Popen[bytes], driver: psutil.Process) -> None:
    while run.poll() is None and not below(driver, "ray::settled"):
        time.sleep(0.05)


def disturbed(asked: list[str], stream: Stream, span: float) -> dict[str, int]:
    """Run the command until it ends by itself, killing on the way; count the kills."""
    counts = {"workers": 0, "nodes": 0, "drivers": 0}
    ends = ["drivers", *(["nodes"] if stream.below(2) else [])]
    while True:
        end = ends.pop() if ends else None
        with tempfile.TemporaryFile() as said:
            run = subprocess.Popen(asked, stderr=said, stdout=said, start_new_session=True)
            driver = psutil.Process(run.pid)
            strikes = sorted(stream.uniform() * span for _ in range(2 + stream.below(3)))
            if stream.below(4):  # else even while it starts
                _await_work(run, driver)
            started = time.monotonic()
            struck = False
            for moment in strikes:
                time.sleep(max(0.0, started + moment - time.monotonic()))
                if run.poll() is not None:
                    break
                if end is not None and moment == strikes[-1]:
                    victims = [driver] if end == "drivers" else below(driver, "raylet")
                    struck = bool(victims)
                    counts[end] += struck
                else:
                    victims = below(driver, "ray::settled", "ray::IDLE")
                    counts["workers"] += bool(victims)
                if victims:
                    os.kill(stream.choice(victims).pid, signal.SIGKILL)
            if run.wait(600) == 0:
                if end is None:
                    return counts
                shutil.rmtree(asked[asked.index("--out") + 1])  # it was too quick for us
                ends.append(end)
            elif not struck:
                said.seek(0)
                raise SystemExit(f"the command failed: {said.read().decode()[-3000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", default="causallink/advanced")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--rows", type=int, default=50)
    asked = parser.parse_args()
    stream = Stream("kill", asked.suite, asked.n)
    with tempfile.TemporaryDirectory() as scratch:
        quiet = Path(scratch) / "quiet"
        with subprocess.Popen(
            command(asked.suite, asked.n, asked.rows, quiet),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            _await_work(run, psutil.Process(run.pid))
            started = time.monotonic()
            if run.wait():
                raise SystemExit("the undisturbed run failed")
        span = time.monotonic() - started
        wanted = hashes(quiet)
        print(f"undisturbed: {len(wanted)} files in {span:.1f} s of work", flush=True)
        different = 0
        for repetition in range(asked.repetitions):
            out = Path(scratch) / f"{repetition}"
            counts = disturbed(command(asked.suite, asked.n, asked.rows, out), stream, span)
            same = hashes(out) == wanted
            different += not same
            told = ", ".join(f"{count} {what}" for what, count in counts.items())
            print(
                f"{repetition + 1}: killed {told}; {'identical' if same else 'DIFFERENT'}",
                flush=True,
            )
            shutil.rmtree(out)
    print(f"{asked.repetitions - different} of {asked.repetitions} identical")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
