"""Draw instances for training and for evaluation, and count the hidden systems that they share.

`python scripts/check_splits.py --draws 2000` draws 1,000 for each part from the endless list of
every certified suite, or of the families and suites that are named. Systems are compared up to
renaming. `docs/how-to/splits.md` has the result.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from time import process_time

from whybench import Choice, Suite, digest, installed_families, load_suite
from whybench.episode.split import PARTS, Part


def drawn(suite: Suite, part: Part, number: int) -> set[bytes] | None:
    """Return the systems of some draws; None if the suite has none of this part."""
    family = suite.family
    instances = islice(Choice(suite, part, endless=True).seeded(0), number)
    try:
        return {digest([family.system(family.world(one))]) for one in instances}
    except ValueError:
        return None


def main() -> None:
    """Print a line for each suite. The exit code is 1 if parts share a system."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200, help="draws per suite, both parts")
    parser.add_argument("suites", nargs="*", metavar="FAMILY[/SUITE]")
    asked = parser.parse_args()
    total = shared = 0
    for name, family in installed_families().items():
        seen: dict[str, set[bytes]] = {part: set() for part in PARTS}
        for suite in family.suites:
            path = f"{name}/{suite}"
            if asked.suites and not {name, path} & set(asked.suites):
                continue
            if "certified" not in family.profiles_of(suite):
                continue
            start, told = process_time(), []
            for part in PARTS:
                found = drawn(load_suite(path), part, asked.draws // 2)
                told.append("none" if found is None else f"{len(found)}")
                total += 0 if found is None else asked.draws // 2
                seen[part] |= found or set()
            cost = 1000 * (process_time() - start) / asked.draws
            print(f"{path}: {told[0]} | {told[1]} systems, {cost:.1f} ms", flush=True)
        both = len(seen["train"] & seen["eval"])
        shared += both
        if any(seen.values()):
            print(f"{name}: {both} systems in both parts", flush=True)
    print(f"{total} draws, {shared} shared systems")
    sys.exit(1 if shared else 0)


if __name__ == "__main__":
    main()
