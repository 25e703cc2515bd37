"""How long a certificate of ReplaySCM takes: `python scripts/bench_certificates.py`.

Instances are fresh: hidden order, ten variables, seeds that nobody ships. Making them takes a few
minutes and is not counted. `certificate` is all of `family.certify`; `evidence` is its exact core:
count what fits, find the contexts, and decide every held-out row. CPU time on one core.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator

import numpy as np

from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.registry import load_suite
from whybench.families.replayscm.parameters import POOLS
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.world.world import Rows, World

VARIABLES = 10
MEDIAN, MOST = 50, 200
"""The bars, in milliseconds: the median, and what 95 % keep within."""


def fresh() -> Iterator[tuple[Suite, Instance]]:
    """Yield instances of the right size, with their worlds at hand."""
    matched = POOLS["hid_roots"].size  # these are made with much that is not needed here
    seed = 0
    while True:
        suite = load_suite("replayscm/hid_full", seed=f"bench-{seed}")
        for index in range(matched, len(suite)):
            instance = suite[index]
            if suite.family.world(instance).view.n == VARIABLES:
                yield suite, instance
        seed += 1


def decide(world: World) -> None:
    evidence = Evidence(world.view.told, Rows.of(world.view.n, world.view.train))
    if not evidence.count:
        raise ValueError("not even the gold SCM fits")
    for table in world.heldout:
        evidence.determines(table.rows(), table.targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=300)
    options = parser.parse_args()
    spent: dict[str, list[float]] = {"certificate": [], "evidence": []}
    for number, (suite, instance) in enumerate(fresh()):
        if number == 0:
            suite.family.certify(instance)  # the catalogue of formulas is built once
            continue
        began = time.process_time()
        suite.family.certify(instance)
        spent["certificate"].append(time.process_time() - began)
        began = time.process_time()
        decide(suite.family.world(instance))
        spent["evidence"].append(time.process_time() - began)
        if number == options.instances:
            break
    report = {
        kind: {
            "median_ms": round(float(np.median(values)) * 1000, 1),
            "p95_ms": round(float(np.quantile(values, 0.95)) * 1000, 1),
            "max_ms": round(max(values) * 1000, 1),
            "instances": len(values),
        }
        for kind, values in spent.items()
    }
    print(json.dumps(report, indent=2))
    certificate = report["certificate"]
    if certificate["median_ms"] > MEDIAN or certificate["p95_ms"] > MOST:
        sys.exit(f"certificates miss their bar: median {MEDIAN} ms, 95 % within {MOST} ms")


if __name__ == "__main__":
    main()
