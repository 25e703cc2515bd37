"""How long the evidence verdict takes: `python scripts/bench_verdict.py`.

A history is what a random experimenter saw; `fresh` reads the whole history and asks once,
`incremental` asks after every step of a growing history and counts each question.
"""

import argparse
import json
import sys
import time

import numpy as np

from whybench.causal.seeds import Stream
from whybench.episode.registry import load_suite
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.world.world import World

Step = tuple[bool, int, int]


def history(world: World, stream: Stream, length: int) -> list[Step]:
    steps, state = [], world.view.start
    for _ in range(length):
        v = stream.below(world.view.n)
        starts = not state >> v & 1
        state = world.after_start(state, v) if starts else world.after_stop(state, v)
        steps.append((starts, v, state))
    return steps


def fresh(world: World, steps: list[Step]) -> list[float]:
    began = time.perf_counter()
    log = EvidenceLog(world.view)
    for step in steps:
        log.add(*step)
    log.verdict()
    return [time.perf_counter() - began]


def incremental(world: World, steps: list[Step]) -> list[float]:
    spent = []
    log = EvidenceLog(world.view)
    for step in steps:
        began = time.perf_counter()
        log.add(*step)
        log.verdict()
        spent.append(time.perf_counter() - began)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1000)
    options = parser.parse_args()
    report = {}
    for n in (4, 7, 10, 12):
        suite = load_suite("causallink/advanced", parameters={"n": n, "graphs": 200})
        stream = Stream("bench", "verdict", n)
        spent: dict[str, list[float]] = {"fresh": [], "incremental": []}
        for _ in range(options.histories):
            world = suite.family.world(suite[stream.below(len(suite))])
            steps = history(world, stream, 1 + stream.below(2 * n))
            spent["fresh"] += fresh(world, steps)
            spent["incremental"] += incremental(world, steps)
        report[f"n={n}"] = {
            kind: {
                "median_ms": round(float(np.median(values)) * 1000, 3),
                "p95_ms": round(float(np.quantile(values, 0.95)) * 1000, 3),
                "max_ms": round(max(values) * 1000, 3),
                "verdicts": len(values),
            }
            for kind, values in spent.items()
        }
    print(json.dumps(report, indent=2))
    seven = report["n=7"]["fresh"]
    if seven["median_ms"] > 1 or seven["p95_ms"] > 5:
        sys.exit("the verdict at n = 7 misses its bar: median 1 ms, 95 % within 5 ms")


if __name__ == "__main__":
    main()
