"""What evidence leaves open in the widest class, where only the number of roots is known.

This gives the same results as `Evidence.arguments` and `Evidence.count == 1`, for a known gold SCM
and bounds that `pairs` supports. It is hundreds of times faster, because the choice of worlds needs
the result after every world.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.families.replayscm.proof.pairs import (
    Bools,
    Cells,
    Ints,
    Pairs,
    add_up,
    pairs,
    refuted,
)
from whybench.families.replayscm.world.gold_scm import ROOTS
from whybench.families.replayscm.world.world import Scm


@dataclass(frozen=True, slots=True)
class Unsettled:
    """Computes which pairs are not settled yet, for one gold SCM."""

    over: Pairs
    whole: Bools
    """Whether a set holds the gold parents of its variable, so that all patterns must be seen."""

    @classmethod
    def of(cls, gold: Scm, k: int) -> Unsettled:
        """Prepare the computation for a gold SCM and a bound on parents."""
        over = pairs(gold.n, k)
        parents = np.array(gold.parents)[over.variable]
        root = gold.roots >> over.variable & 1 == 1
        return cls(over, ~root & (parents & ~over.sets == 0))

    def left(self, seen: Cells) -> Ints:
        """Return the pairs that have to be settled: none are left if only gold fits.

        Consider the largest sets Q that some SCM that fits allows as parents. If Q contains the
        gold parents, every pattern of Q must be seen. Otherwise Q must be refuted.
        """
        fits = ~refuted(seen)
        done = self.whole & (self.over.unseen(seen) == 0)
        return np.flatnonzero(fits & ~done & _allowed(self.over, fits))


def _allowed(over: Pairs, fits: Bools) -> Bools:
    """Tell for each pair whether the set is a largest set of parents of some SCM that fits."""
    before = _before(over, fits)
    # Sets that hold a set, summed: as sums over subsets, with complements in place of sets.
    holding = np.zeros((over.n, 1 << over.n), dtype=np.int64)
    holding[:, ::-1] = before
    add_up(holding)
    count = holding[:, ::-1][over.variable, over.sets]
    itself = before[over.variable, over.sets]
    return np.asarray(np.where(over.sizes == over.k, count > 0, itself & (count == 1)))


def _before(over: Pairs, fits: Bools) -> Bools:
    """Mark for each variable everything that can come before it, for each choice of the roots.

    A variable can be placed next if it has a fitting mechanism from those placed; see
    `Evidence.before`.
    """
    n = over.n
    possible = np.zeros((n, 1 << n), dtype=np.int64)
    possible[over.variable, over.sets] = fits
    add_up(possible)
    sets = np.arange(1 << n)
    step = sets | ((possible > 0) << np.arange(n)[:, None]).sum(axis=0)
    roots, v = _root_choices(n)
    there = _closed(step, roots, ~(1 << v))
    good = (possible[v, there] > 0) & (_closed(step, there | 1 << v, -1) == (1 << n) - 1)
    found = np.zeros((n, 1 << n), dtype=bool)
    found[v[good], there[good]] = True
    return found


def _closed(step: Ints, there: Ints, within: Ints | int) -> Ints:
    """Place every variable that can be placed, until none is left."""
    while True:
        more = step[there] & within
        if (more == there).all():
            return more
        there = more


@cache
def _root_choices(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every set of roots with every variable outside it."""
    chosen = [sum(1 << v for v in roots) for roots in combinations(range(n), ROOTS)]
    every = (1 << n) - 1
    listed = [(roots, v) for roots in chosen for v in members(every & ~roots)]
    return np.array([roots for roots, _ in listed]), np.array([v for _, v in listed])
