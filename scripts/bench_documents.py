"""Made documents of ReCITE a second, on one core: `python scripts/bench_documents.py`.

`matched` are documents like the published ones, each made once as in a suite; `largest` is one of
140 nodes in 170,000 characters. CPU time; fails if the slowest repeat of `matched` is below
`--bar`: by default, what makes 1,000 documents in a minute on two cores. Memory is that of making
the largest document alone (`traced`), and of the whole process at its height (`resident`).
"""

import argparse
import gc
import json
import resource
import statistics
import sys
import time
import tracemalloc
from collections.abc import Sequence

from whybench.families.recite.parameters import matched
from whybench.families.recite.world.generate import Order, made

SUITE, CORES, SECONDS = 1000, 2, 60.0
"""So many documents, on so many cores, within so many seconds."""

NODES, LENGTH = 140, 170_000
"""Size of the largest document."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=40, help="documents of a repeat")
    parser.add_argument("--largest", type=int, default=5, help="largest documents of a repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--bar", type=float, default=SUITE / (CORES * SECONDS), help="matched documents a second"
    )
    given = parser.parse_args()
    made(Order("matched", "warm", 0, matched()))
    rows = {
        "matched": rate("matched", given.documents, given.repeats),
        "largest": rate("long", given.largest, given.repeats, nodes=NODES, length=LENGTH),
    }
    slowest = rows["matched"]["slowest"]
    held = slowest >= given.bar
    print(
        json.dumps(
            {
                "documents_per_second": rows,
                "suite_s": round(SUITE / (CORES * slowest), 1),
                "memory_mb": memory(),
                "bar": round(given.bar, 2),
                "held": held,
            }
        )
    )
    return 0 if held else 1


def rate(
    source: str, count: int, repeats: int, *, nodes: int | None = None, length: int | None = None
) -> dict[str, float]:
    """Return documents per CPU second: slowest, median, fastest repeat; and their mean length."""
    found: list[float] = []
    characters = 0
    for repeat in range(repeats):
        orders = [
            Order(source, f"bench {repeat}", number, matched(), nodes=nodes, length=length)
            for number in range(count)
        ]
        gc.collect()
        began = time.process_time()
        characters += written(orders)
        found.append(count / (time.process_time() - began))
    return {
        "slowest": round(min(found), 1),
        "median": round(statistics.median(found), 1),
        "fastest": round(max(found), 1),
        "characters": round(characters / (count * repeats)),
    }


def written(orders: Sequence[Order]) -> int:
    """Make documents; return how many characters they have."""
    return sum(len(made(order).view.text) for order in orders)


def memory() -> dict[str, float]:
    """Return the megabytes that the largest document takes."""
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    made(Order("long", "memory", 0, matched(), nodes=NODES, length=LENGTH))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    unit = 1 if sys.platform == "darwin" else 1024
    return {"traced": round(peak / 2**20, 1), "resident": round(resident * unit / 2**20, 1)}


if __name__ == "__main__":
    sys.exit(main())
