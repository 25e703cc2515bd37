"""Measure what a filter on difficulty costs for each draw, against a bare draw."""

from __future__ import annotations

import argparse
from itertools import islice
from statistics import median
from time import process_time

from whybench import Choice, load_suite

CASES = {
    "causallink/advanced": "bits <= 12 and tokens < 2000",
    "causalab/main_4": "bits <= 12 and tokens < 2000",
    "replayscm/lab": "bits <= 40",
    "prism/main": "bits <= 6 and tokens < 2000",
    "recite/short": "prompt_tokens < 2500",
}


def per_draw(choice: Choice, number: int, seed: int) -> float:
    """Return CPU milliseconds of a draw."""
    start = process_time()
    for _ in islice(choice.seeded(seed), number):
        pass
    return 1000 * (process_time() - start) / number


def main() -> None:
    """Print the medians of some repeats."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    print("suite, filter: CPU ms of a bare draw, of a filtered draw")
    for path, where in CASES.items():
        suite = load_suite(path)
        bare, filtered = [], []
        for repeat in range(asked.repeats):  # other seeds, so that no cache helps
            choice = Choice.of(suite, "train", endless=True)
            bare.append(per_draw(choice, asked.draws, 2 * repeat))
            choice = Choice.of(suite, "train", endless=True, where=where)
            filtered.append(per_draw(choice, asked.draws, 2 * repeat + 1))
        print(f"{path}, {where}: {median(bare):.2f}, {median(filtered):.2f}", flush=True)


if __name__ == "__main__":
    main()
