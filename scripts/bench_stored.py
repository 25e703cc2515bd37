"""How soon Inspect plays the first sample of a large stored set.

    python scripts/bench_stored.py --data PATH [--n 1000] [--repeat 3]

The clock runs from the making of the task to the start of the first sample's solver, in one
process: for n instances as a list of samples in memory (made before the clock starts), for the
first n of the set as a window (`-T rows=n`), and for the same as a limit (`--limit n`), where
Inspect goes over the ids of the whole set four times; `cpu_ours` is what it takes to show them to
it as often, and the rest is Inspect's own. The run ends with the first sample's start.
"""

import argparse
import json
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from inspect_ai import Task, task_with
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import MemoryDataset
from inspect_ai.solver import Generate, Solver, TaskState, solver

from whybench.interfaces.inspectai.runner import task_of
from whybench.interfaces.stored.reading import StoredSet

Clock = tuple[float, float]
PASSES = 4
"""How often Inspect goes over a whole dataset before it plays."""
ENOUGH = "the first sample has started"


def now() -> Clock:
    """Return CPU seconds and wall seconds."""
    return time.process_time(), time.perf_counter()


@solver
def watch(seen: list[Clock]) -> Solver:
    """Note when the first sample starts, and end the run."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        seen.append(now())
        raise EOFError(ENOUGH)

    return solve


def started(make: Callable[[], Task], limit: int | None = None) -> dict[str, float]:
    """Return the seconds from the making of a task to its first sample, and the making's share."""
    seen: list[Clock] = []
    begun = now()
    task = make()
    made = now()
    (log,) = inspect_eval(
        task_with(task, solver=watch(seen)), model="whybench/null", limit=limit, score=False,
        display="none", log_realtime=False,
    )  # fmt: skip
    if log.error is None or ENOUGH not in log.error.message:
        raise RuntimeError(f"{log.status}: {log.error}")
    (cpu, wall), (cpu_made, _) = (
        (moment[0] - begun[0], moment[1] - begun[1]) for moment in (seen[0], made)
    )
    return {"cpu": cpu, "wall": wall, "cpu_task": cpu_made}


def shown(make: Callable[[], Task]) -> float:
    """Return the CPU seconds of passes over a whole dataset in which nothing is done."""
    begun = now()
    dataset = make().dataset
    for _ in range(PASSES):
        deque(dataset, maxlen=0)
    return now()[0] - begun[0]


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    data = str(Path(given.data).resolve()) if Path(given.data).exists() else given.data
    stored = StoredSet(data)
    args: dict[str, Any] = {"data": data, "profile": stored.plan.profile}
    task = task_of(stored.suite.path)
    if "suite" not in task.fixed:
        args["suite"] = stored.suite.name
    make = import_module("whybench.interfaces.inspectai.tasks").tasks()[task.name]
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_DATA_HOME": f"{folder}/data", "INSPECT_LOG_DIR": f"{folder}/logs"}
        whole = make(**args, rows=given.n)
        begun = now()
        samples = [sample.model_copy() for sample in whole.dataset]
        rendering = now()[0] - begun[0]
        ways: dict[str, Callable[[], dict[str, float]]] = {
            "memory": lambda: started(lambda: task_with(whole, dataset=MemoryDataset(samples))),
            "window": lambda: started(lambda: make(**args, rows=given.n)),
            "limit": lambda: started(lambda: make(**args), given.n),
        }
        started(lambda: make(**args, rows=1))
        found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
        for _ in range(given.repeat):
            for way, measured in ways.items():
                found[way].append(measured())
    best = {
        way: {k: round(min(run[k] for run in runs), 3) for k in runs[0]}
        for way, runs in found.items()
    }
    best["limit"]["cpu_ours"] = round(shown(lambda: make(**args)), 3)
    told = {"rows": len(stored), "n": given.n, "cpu_to_make_all_samples": round(rendering, 3)}
    print(json.dumps(told | best, indent=1))


if __name__ == "__main__":
    main()
