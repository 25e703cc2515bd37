"""The rows of one variable, projected onto sets of other variables, for any number of parents."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.causal.boolean import columns, everywhere, transposed
from whybench.causal.graph import members
from whybench.families.replayscm.world.world import Rows

WIDEST = 5
"""Up to this many parents the sums fit 64-bit integers; above, we use Python's integers."""


class Patterns:
    """The rows of one variable, projected onto every set of at most k others.

    `seen[Q]` holds two bitsets over the patterns of Q, one above the other: those seen with the
    variable at 0, and those seen with it at 1. A set is left out if one pattern was seen with both
    values, because no function of the set fits.
    """

    __slots__ = ("k", "n", "seen", "v")

    def __init__(self, rows: Rows, v: int, n: int, k: int, among: int) -> None:
        self.n, self.v, self.k = n, v, k
        self.seen: dict[int, int] = {}
        self._fold(_spread(rows, v, n), among & ~(1 << v))

    def _fold(self, both: int, among: int) -> None:
        """Keep or drop one variable after another; dropping one merges rows."""
        half, every = 1 << self.n, everywhere(self.n)
        masks = _low(self.n)
        others = ((1 << self.n) - 1) & ~among & ~(1 << self.v)
        for u in members(others):
            both = (both | both >> (1 << u)) & masks[u]
        states = [(0, both)]
        for u in members(among):
            shift, mask, bit = 1 << u, masks[u], 1 << u
            kept = []
            for q, bits in states:
                if (bits >> half) & bits & every:
                    continue
                kept.append((q, (bits | bits >> shift) & mask))
                if q.bit_count() < self.k:
                    kept.append((q | bit, bits))
            states = kept
        self.seen = {q: bits for q, bits in states if not (bits >> half) & bits & every}

    def zero(self, q: int) -> int:
        """Return the patterns of Q seen with the variable at 0."""
        return self.seen[q] & everywhere(self.n)

    def one(self, q: int) -> int:
        """Return the patterns of Q seen with the variable at 1."""
        return self.seen[q] >> (1 << self.n)

    def counts(self) -> NDArray[Any]:
        """Return N(Q) for every set Q, as an array indexed by the set."""
        every = everywhere(self.n)
        kind: Any = np.int64 if self.k <= WIDEST else object
        found = np.zeros(1 << self.n, dtype=kind)
        for q, bits in self.seen.items():
            known = ((bits >> (1 << self.n)) | (bits & every)).bit_count()
            found[q] = 1 << ((1 << q.bit_count()) - known)
        return found


def _spread(rows: Rows, v: int, n: int) -> int:
    """Return a variable's rows as two bitsets over the patterns of the others."""
    both = 0
    half = 1 << n
    free = rows.free[v]
    own = rows.columns[v]
    patterns = _row_sets(rows)
    for r in members(free):
        both |= 1 << ((patterns[r] & ~(1 << v)) + (half if own >> r & 1 else 0))
    return both


@lru_cache(maxsize=8)
def _row_sets(rows: Rows) -> tuple[int, ...]:
    return transposed(rows.columns, rows.size)


@cache
def _low(n: int) -> tuple[int, ...]:
    """Return for each variable the patterns in which it is 0, in both halves."""
    every = everywhere(n)
    return tuple((low := every ^ column) | low << (1 << n) for column in columns(n))
