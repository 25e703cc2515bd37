"""Count the SCMs that fit when rows are left out, for many choices of rows at once.

The counts equal `Evidence.count` for known roots, which describes the method. Every sum over
parents is a fixed combination of the N(Q), so one product of matrices gives all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.families.replayscm.proof.pairs import (
    Cells,
    Ints,
    ones,
    pairs,
    refuted,
    united,
    unseen,
)
from whybench.families.replayscm.world.world import Table, Told

MOST_VARIABLES = 16
SAFE = 2.0**62
"""Counts below this fit 64 bits. Sums wrap around, so intermediate values may be larger."""


class Thinned:
    """Rows of worlds, some of which may be left out, and the SCMs of a class that fit the rest."""

    def __init__(self, told: Told, worlds: Sequence[Table]) -> None:
        if told.roots is None:
            raise ValueError("the roots must be known")
        own = tuple(members(told.every & ~told.roots))
        subsets = np.arange(1 << len(own))
        there = told.roots + np.zeros_like(subsets)
        for i, v in enumerate(own):
            there |= (subsets >> i & 1) << v
        over = pairs(told.n, told.k)
        sets = over.sets.reshape(told.n, -1)
        self.sums = tuple(
            _sums(sets[v], there & (told.admissible[v] & ~(1 << v)), told.k) for v in own
        )
        free = told.roots >> over.variable & 1 == 0
        self.sizes = over.sizes[free]
        rows = [(row, world.targets) for world in worlds for row in world.rows()]
        shown = over.each_shown([row for row, _ in rows], [at for _, at in rows])
        self.shown: Cells = shown[:, free]
        """What each row shows of every pair whose variable is no root."""

    def dropping(self, order: Sequence[int]) -> Cells:
        """Return what is left of all rows when the first 0, 1, 2 … of an order are dropped."""
        rest = np.ones(len(self.shown), dtype=bool)
        rest[np.asarray(order)] = False
        left = np.concatenate((united(self.shown[rest])[None], self.shown[np.asarray(order)[::-1]]))
        np.bitwise_or.accumulate(left, axis=0, out=left)
        return left[::-1]

    def counts(self, seen: Cells) -> list[int]:
        """Return how many SCMs fit, for each row of `seen`."""
        fitting = np.where(refuted(seen), 0.0, np.exp2(unseen(seen, self.sizes)))
        by_variable = fitting.reshape(len(seen), len(self.sums), -1)
        weights = np.stack([by_variable[:, i] @ sums for i, sums in enumerate(self.sums)], axis=1)
        most = weights[:, :, -1].prod(axis=1).max()
        return [int(count) for count in _acyclic(weights, np.int64 if most < SAFE else object)]

    def bits(self, seen: Cells) -> list[float]:
        """Return log2 of the counts: at least one SCM, the one that made the rows, always fits."""
        return [math.log2(count) for count in self.counts(seen)]


def _sums(sets: Ints, before: Ints, k: int) -> NDArray[np.float64]:
    """Return the matrix that turns N(Q) into sums of w over at most k parents from each `before`.

    Let s be the number of variables that may come before. If s ≤ k, the sum is N of all of them.
    Otherwise a set Q of j members has the weight (−1)^(k−j) times the number of ways to choose
    k − j of s − j − 1.
    """
    within = sets[:, None] & ~before == 0
    size = ones(sets)[:, None]
    found: NDArray[np.float64] = _shares(k)[ones(before), size] * within
    return found


@cache
def _shares(k: int) -> NDArray[np.float64]:
    """Return what a set of j counts in a sum over s variables, as [s, j]."""
    found = np.zeros((MOST_VARIABLES + 1, k + 1))
    for s in range(MOST_VARIABLES + 1):
        for j in range(min(s, k) + 1):
            found[s, j] = s == j if s <= k else (-1) ** (k - j) * math.comb(s - j - 1, k - j)
    return found


def _acyclic(weights: NDArray[np.float64], kind: Any) -> NDArray[Any]:
    """Sum the products over acyclic choices, sinks included and excluded: `Evidence._acyclic`.

    `weights` is [count, variable, set before it].
    """
    batch, size, subsets = weights.shape
    minus = -weights.astype(np.int64).astype(kind)
    products = np.empty((batch, subsets, subsets), dtype=kind)  # [.., set before, set of sinks]
    products[:, :, 0] = -1
    for i in range(size):
        low = products[:, :, : 1 << i]
        products[:, :, 1 << i : 2 << i] = low * minus[:, i, :, None]
    totals = np.zeros((batch, subsets), dtype=kind)
    totals[:, 0] = 1
    for sets, before in _levels(size):
        terms = totals[:, before] * products[:, before, sets[:, None] ^ before]
        totals[:, sets] = terms.sum(axis=2)
    return totals[:, -1]


@cache
def _levels(size: int) -> tuple[tuple[Ints, Ints], ...]:
    """Return the sets of 1, 2 … members, with all proper subsets of each."""
    found = []
    for count in range(1, size + 1):
        sets = [sum(1 << i for i in chosen) for chosen in combinations(range(size), count)]
        below = [[t for t in range(s) if not t & ~s] for s in sets]
        found.append((np.array(sets), np.array(below)))
    return tuple(found)
