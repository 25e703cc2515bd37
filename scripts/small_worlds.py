"""Print what the suites `small` hold: bits, distinct systems, experiments of the exact agent, CPU.

Systems are counted up to renaming (`Family.system`) over the first rows of the suite's endless
list. The exact agent plays the first `--played` of them.

    python scripts/small_worlds.py --rows 1000 --played 100
"""

from __future__ import annotations

import argparse
from statistics import median
from time import process_time

import whybench as wb


def main() -> None:
    """Print a row for each family that has a suite `small`."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=1000)
    asked.add_argument("--played", type=int, default=100)
    options = asked.parse_args()
    print("| suite | bits: least, median, most | systems | in `eval` | experiments | exact | ms |")
    print("|---|---|---|---|---|---|---|")
    for name, family in wb.installed_families().items():
        if "small" not in family.suites:
            continue
        suite = wb.load_suite(f"{name}/small")
        systems, bits = {}, []
        began = process_time()
        for row in range(options.rows):
            instance = suite.row(row)
            systems[str(family.system(family.world(instance)))] = wb.part_of(suite, instance)
            bits.append(family.bits_left(family.open(instance)))
        spent = 1000 * (process_time() - began) / options.rows
        results = list(wb.solve(suite, "exact", map(suite.row, range(options.played))))
        steps = [len(family.experiments(one.trace)) for one in results]
        right = sum(one.score.values[family.headline] or 0.0 for one in results) / len(results)
        kept = sum(part == "eval" for part in systems.values())
        print(
            f"| `{suite.path}` | {min(bits):.2f}, {median(bits):.2f}, {max(bits):.2f} "
            f"| {len(systems)} | {kept} | {min(steps)} to {max(steps)} | {right:.2f} "
            f"| {spent:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
