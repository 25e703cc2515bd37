"""Run `whybench data generate` and write down how fast it is and how much memory it takes.

    python scripts/measured_run.py SUITE --n 1000000 --out PATH [--every 60] [--workers 2]

Prints one line every so many seconds: rows committed, rows a second, and the memory of the driver
and of its largest worker (unique set size: what no other process shares). At the end the figures
of the command and the largest memory seen in each tenth of the run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import psutil


def memory(process: psutil.Process) -> float:
    """Return megabytes that a process has for itself."""
    try:
        return float(process.memory_full_info().uss) / 2**20
    except psutil.Error:
        return 0.0


def working(driver: psutil.Process) -> list[psutil.Process]:
    found = []
    for process in driver.children(recursive=True):
        try:
            if process.cmdline()[:1] and process.cmdline()[0].startswith("ray::settled"):
                found.append(process)
        except psutil.Error:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite")
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", default="public")
    parser.add_argument("--workers", default="2")
    parser.add_argument("--every", type=float, default=60.0)
    asked = parser.parse_args()
    command = [
        sys.executable, "-m", "whybench", "data", "generate", asked.suite, "--n", str(asked.n),
        "--rows", str(asked.rows), "--out", str(asked.out), "--seed", asked.seed,
        "--workers", asked.workers,
    ]  # fmt: skip
    print("whybench", *command[3:10], "--workers", asked.workers, "--seed", asked.seed, flush=True)
    folder = asked.out / "instances"
    before = len(list(folder.glob("[0-9]*.parquet"))) if folder.is_dir() else 0
    run = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    driver = psutil.Process(run.pid)
    started = time.monotonic()
    seen: list[tuple[int, float, float]] = []
    while run.poll() is None:
        time.sleep(min(asked.every, 5.0) if time.monotonic() - started < 60 else asked.every)
        if run.poll() is not None:
            break
        shards = len(list(folder.glob("[0-9]*.parquet"))) if folder.is_dir() else 0
        workers = working(driver)
        entry = shards * asked.rows, memory(driver), max(map(memory, workers), default=0.0)
        seen.append(entry)
        seconds = time.monotonic() - started
        rate = (shards - before) * asked.rows / seconds
        print(
            f"{seconds:7.0f} s  {entry[0]:9,} rows  {rate:7.1f} a second  driver {entry[1]:5.0f} MB"
            f"  largest of {len(workers)} workers {entry[2]:5.0f} MB",
            flush=True,
        )
    print(run.communicate()[0].decode())
    for tenth in range(1, 11):
        near = [e for e in seen if asked.n * (tenth - 1) / 10 < e[0] <= asked.n * tenth / 10]
        if near:
            print(
                f"tenth {tenth:2}: driver at most {max(e[1] for e in near):.0f} MB, "
                f"worker at most {max(e[2] for e in near):.0f} MB"
            )
    sys.exit(run.returncode)


if __name__ == "__main__":
    main()
