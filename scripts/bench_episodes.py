"""10,000 episodes open at once in one process, 20 random legal actions each.

Run it with `python scripts/bench_episodes.py`.
"""

import argparse
import gc
import json
import statistics
import sys
import time

import psutil

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.registry import load_suite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--actions", type=int, default=20)
    parser.add_argument("--n", type=int, default=10, help="entities; 2n must allow the actions")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    graphs = -(-options.episodes // 6)
    suite = load_suite("causallink/advanced", parameters={"n": options.n, "graphs": graphs})
    family = suite.family
    family.open(suite[0])
    rows = []
    for _ in range(options.repeats):
        gc.collect()
        stream = Stream("bench", "episodes")
        before = psutil.Process().memory_info().rss
        began = time.process_time()
        instances = [suite[i] for i in range(options.episodes)]
        made = time.process_time()
        episodes = [family.open(instance) for instance in instances]
        opened = time.process_time()
        # The requests come from outside: they are drawn before the clock for the actions starts.
        drawn = [
            (stream.choice(("move", "hold")), stream.below(options.n))
            for _ in range(options.actions)
        ]
        requests = [
            [
                Action.of(verb, shape=episode.world.view.names[(v + shift) % options.n])
                for verb, v in drawn
            ]
            for shift, episode in enumerate(episodes)
        ]
        started = time.process_time()
        for turn in range(options.actions):
            for episode, wanted in zip(episodes, requests, strict=True):
                episode.step(wanted[turn])
        ended = time.process_time()
        assert all(episode.count == options.actions and not episode.done for episode in episodes)
        assert not any(s.observation.is_error for e in episodes[:100] for s in e.trace.steps)
        resident = psutil.Process().memory_info().rss - before
        rows.append(
            {
                "instances_per_s": round(options.episodes / (made - began)),
                "opened_per_s": round(options.episodes / (opened - made)),
                "actions_per_s": round(options.episodes * options.actions / (ended - started)),
                "resident_bytes_per_episode": round(resident / options.episodes),
            }
        )
        del instances, episodes, requests
    median = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    # Later repeats reuse freed memory: the first one tells what an episode costs.
    memory = rows[0]["resident_bytes_per_episode"]
    report = {
        "episodes": options.episodes,
        "actions": options.actions,
        "n": options.n,
        "median": median | {"resident_bytes_per_episode": memory},
        "repeats": rows,
    }
    print(json.dumps(report, indent=2))
    if median["actions_per_s"] < 80_000 or memory > 12_000:
        sys.exit("open episodes miss their bar: 80,000 actions/s, 12 kB each")


if __name__ == "__main__":
    main()
