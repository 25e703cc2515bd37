"""How generation scales: a plain loop, Ray with one worker, Ray with two, in one run.

    python scripts/bench_generate.py [--repeats 3] [--bars 1.7 0.10]

Every measurement has a process of its own and so cold caches; all make the same shards. Start-up
(Ray, imports) is not counted: each worker makes a row of another seed first. The bars: how many
times faster two workers are than one, and what Ray may cost one worker over the plain loop.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from whybench.episode.registry import load_suite
from whybench.interfaces.stored.place import Place
from whybench.interfaces.stored.plan import Plan
from whybench.scale.shard import made, settled
from whybench.scale.task_runner import carried_out, start

CASES = {"replayscm/hid_cert": (120, 10), "causalab/main_7": (1200, 100)}
"""Suite → rows, and rows of a shard: tasks of about a second."""


def warmed(plan: Plan, number: int) -> int:
    made(plan, number)
    time.sleep(0.5)  # so that every worker gets one
    return number


def once(suite: str, workers: int, seed: str) -> dict[str, float]:
    """Measure one way in this process."""
    n, rows = CASES[suite]
    plan = Plan.of(load_suite(suite, seed=seed), n, rows=rows)
    warm = Plan.of(load_suite(suite, seed="warm"), max(1, workers), rows=1)
    if workers:
        import ray

        start(workers, None)
        ray.get(ray.put(0))
    list(carried_out(warmed, (warm,), range(warm.shards), workers=workers))
    with tempfile.TemporaryDirectory() as out:
        started = time.monotonic()
        shards = list(
            carried_out(settled, (plan, Place(out), {}), range(plan.shards), workers=workers)
        )
        seconds = time.monotonic() - started
    return {"seconds": seconds, "rows": sum(shard.rows for shard in shards), "tasks": plan.shards}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--bars", type=float, nargs=2, default=(1.7, 0.10))
    parser.add_argument("--suites", nargs="+", default=list(CASES))
    parser.add_argument("--once", nargs=3, metavar=("SUITE", "WORKERS", "SEED"))
    asked = parser.parse_args()
    if asked.once:
        suite, workers, seed = asked.once
        print(json.dumps(once(suite, int(workers), seed)))
        return
    failed = []
    for suite in asked.suites:
        times: dict[int, list[float]] = {0: [], 1: [], 2: []}
        for repeat in range(asked.repeats):
            for workers in times:
                command = [sys.executable, str(Path(__file__)), "--once", suite, str(workers)]
                said = subprocess.run(
                    [*command, f"bench-{repeat}"], check=True, capture_output=True, text=True
                )
                found = json.loads(said.stdout.splitlines()[-1])
                times[workers].append(found["seconds"])
        rows, tasks = found["rows"], found["tasks"]
        speed = statistics.median(one / two for one, two in zip(times[1], times[2], strict=True))
        cost = statistics.median(
            one / plain - 1 for one, plain in zip(times[1], times[0], strict=True)
        )
        rates = {w: rows / statistics.median(seconds) for w, seconds in times.items()}
        task = statistics.median(times[1]) / tasks
        print(
            f"{suite}: plain loop {rates[0]:.1f} instances/s, Ray with one worker {rates[1]:.1f}, "
            f"with two {rates[2]:.1f}; two against one {speed:.2f} times; Ray over the plain loop "
            f"{cost:+.1%} with tasks of {task:.2f} s",
            flush=True,
        )
        if speed < asked.bars[0] or cost > asked.bars[1]:
            failed.append(suite)
    if failed:
        sys.exit(f"below the bars {asked.bars}: {', '.join(failed)}")


if __name__ == "__main__":
    main()
