"""Compute the edge F1 of the best answer that uses CausaLab's generator alone.

Run it with `python scripts/causalab_chance.py > src/whybench/families/causalab/world/chance.json`.
The answer is one acyclic set of edges for each kind of suite. A local search chooses it on one half
of the graphs, and its mean edge F1 is measured on the other half. Names are drawn at random, so no
other information helps.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from whybench.causal.graph import Graph
from whybench.causal.seeds import Stream
from whybench.families.causalab.world.generate import CAUSES
from whybench.families.causalab.world.topology import (
    Edges,
    draw,
    draws,
    with_frequency_moved,
)

SUITES, BLOCK = 30, 50
LARGEST_SUITE = 7
"""Systems with more nodes occur only in `fresh`, which draws its graphs one by one."""


def graphs(k: int, least: int, moved: bool) -> list[Edges]:
    """Return the graphs of many suites, or as many single ones."""
    found = [
        one.edges
        for i in range(SUITES if k <= LARGEST_SUITE else 0)
        for one in draws(k, f"chance-{i}", BLOCK, least)
    ]
    if not found:
        found = [draw(k, Stream("chance", k, i), least).edges for i in range(SUITES * BLOCK)]
    if moved:
        return [with_frequency_moved(e, k, Stream("moved", i)) for i, e in enumerate(found)]
    return found


def best(k: int, sample: list[Edges]) -> float:
    """Search on the first half, measure on the second; names are permuted at random."""
    pairs = [(a, b) for a in range(k) for b in range(k) if a != b]
    column = {pair: i for i, pair in enumerate(pairs)}
    table = np.zeros((len(sample), len(pairs)))
    stream = Stream("names", k)
    for row, edges in enumerate(sample):
        names = [0, *stream.shuffled(range(1, k))]
        table[row, [column[names[a], names[b]] for a, b in edges]] = 1
    size = table.sum(axis=1)
    half = len(sample) // 2

    def worth(chosen: frozenset[int], rows: slice) -> float:
        hits = table[rows][:, sorted(chosen)].sum(axis=1)
        return float((2 * hits / (len(chosen) + size[rows])).mean())

    def acyclic(chosen: frozenset[int]) -> bool:
        return Graph.from_edges(k, [pairs[i] for i in chosen]).is_acyclic()

    starts = [
        frozenset(i for i, (a, b) in enumerate(pairs) if b == 0 or 0 < a < b <= a + reach)
        for reach in (0, 1, 2, k)
    ]
    found = []
    for now in starts:
        value = worth(now, slice(0, half))
        while True:
            steps = [now ^ {i} for i in range(len(pairs))]
            offers = [(worth(s, slice(0, half)), sorted(s)) for s in steps if s and acyclic(s)]
            top, chosen = max(offers)
            if top <= value:
                break
            now, value = frozenset(chosen), top
        found.append((value, sorted(now)))
    return round(worth(frozenset(max(found)[1]), slice(half, None)), 3)


def main() -> None:
    """Print the table as JSON."""
    found: dict[str, dict[str, float]] = {}
    for profile, least in (("certified", CAUSES), ("published", 1)):
        for moved in (False, True):
            sizes = (4, 6) if moved else range(3, 13)
            name = f"{profile}, frequency moved" if moved else profile
            found[name] = {str(k): best(k, graphs(k, least, moved)) for k in sizes}
            sys.stderr.write(f"{name} {found[name]}\n")
    json.dump({"script": "scripts/causalab_chance.py", **found}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
