"""Interventions a second of CausaLab, observations built, on one core.

Run it with `python scripts/bench_interventions.py`; `--bar N` fails below N in the median round.
"""

import argparse
import gc
import json
import statistics
import sys
import time

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.registry import load_suite

SUITES = ("main_4", "main_7", "quad_hard", "hidden_count_3")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interventions", type=int, default=12_000, help="a round and suite")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--bar", type=float, default=20_000, help="interventions a second")
    options = parser.parse_args()
    rows = {name: rate(name, options.interventions, options.repeats) for name in SUITES}
    held = min(rows["main_4"]["median"], rows["main_7"]["median"]) >= options.bar
    print(json.dumps({"interventions_per_second": rows, "bar": options.bar, "held": held}))
    sys.exit(0 if held else 1)


def rate(name: str, interventions: int, repeats: int) -> dict[str, float]:
    """Return interventions per CPU second: slowest, median and fastest round."""
    suite = load_suite(f"causalab/{name}", parameters={"regime": "2o24i"})
    family = suite.family
    instances = list(suite)
    stream = Stream("bench", name)
    found = []
    for _ in range(repeats):
        episodes = [
            family.open(instances[i % len(instances)]) for i in range(-(-interventions // 24))
        ]
        # Requests come from outside: they are made before the clock starts.
        requests = [
            [
                Action.of(
                    "intervene",
                    property=stream.choice([e.view.names[v] for v in e.view.targets()]),
                    value=str(stream.below(101)),
                )
                for _ in range(24)
            ]
            for e in episodes
        ]
        gc.collect()
        began = time.process_time()
        for episode, wanted in zip(episodes, requests, strict=True):
            for action in wanted:
                episode.step(action)
        spent = time.process_time() - began
        if any(episode.used != 24 for episode in episodes):
            raise SystemExit("an intervention was not carried out")
        found.append(24 * len(episodes) / spent)
    return {
        "slowest": round(min(found)),
        "median": round(statistics.median(found)),
        "fastest": round(max(found)),
    }


if __name__ == "__main__":
    main()
