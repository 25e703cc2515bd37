"""How long the exact agent needs for a problem, on one core, and how it compares with others.

For each pool: CPU time of the exact agent from the view to the answer (median, 95th percentile,
largest), train and held-out exactness, and the paired difference of `heldout_exact` to
`structure_dsl` with its bootstrap interval over latent SCMs (`--compare`, needs the extra
`structure`).
"""

import argparse
import sys
import time

from whybench.episode.episode import play
from whybench.episode.registry import load_suite
from whybench.stats.paired import paired_bootstrap

POOLS = ("ord_full", "hid_full", "block", "hid_roots")
BAR = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--pools", nargs="+", default=POOLS)
    given = parser.parse_args()
    missed = False
    for name in given.pools:
        suite = load_suite(f"replayscm/{name}")
        family, times = suite.family, []
        scores: dict[str, dict[str, float]] = {"exact": {}, "structure_dsl": {}}
        train = 0.0
        for instance in suite:
            episode = family.open(instance)
            begin = time.process_time()
            trace = play(episode, family.agent("exact", instance))
            times.append(time.process_time() - begin)
            values = family.score(instance, trace).values
            train += values["train_exact"]
            scores["exact"][instance.id] = values["heldout_exact"]
            if given.compare:
                other = play(family.open(instance), family.agent("structure_dsl", instance))
                found = family.score(instance, other).values
                scores["structure_dsl"][instance.id] = found["heldout_exact"]
        times.sort()
        late = times[int(0.95 * len(times))]
        right = sum(scores["exact"].values()) / len(suite)
        print(
            f"{name}: {len(suite)} problems, train_exact {train / len(suite):.3f}, heldout_exact "
            f"{right:.3f}; median {times[len(times) // 2] * 1e3:.0f} ms, 95 % {late * 1e3:.0f} ms, "
            f"largest {times[-1] * 1e3:.0f} ms (bar {BAR * 1e3:.0f})"
        )
        if given.compare:
            paired = paired_bootstrap(scores["exact"], scores["structure_dsl"])
            print(
                f"  minus structure_dsl: {paired.estimate:+.3f} "
                f"[{paired.low:+.3f}, {paired.high:+.3f}]"
            )
            missed |= paired.high < 0
        missed |= late > BAR or train < len(suite)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
