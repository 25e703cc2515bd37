"""The worth of a row: the patterns that it shows for the first time, and the sets it refutes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.families.replayscm.proof.pairs import (
    CELLS,
    HALF,
    MOST,
    Cells,
    Ints,
    Pairs,
    add_up,
    pairs,
)
from whybench.families.replayscm.proof.unsettled import Unsettled

PATTERN_SEEN = 1
"""The worth of a pattern that no row showed before."""
SET_REFUTED = 2
"""The worth of refuting a set, besides its patterns, which need no longer be seen."""


@dataclass(frozen=True, slots=True)
class Gains:
    """The worth that a row gets for showing a cell, for each cell of each unsettled pair."""

    over: Pairs
    pairs: Ints
    """The pairs, by their numbers."""
    of: NDArray[np.int16]
    """[pair, cell]."""
    refuting: NDArray[np.int16]
    """The worth of refuting each set; 0 if it contains the gold parents."""

    @classmethod
    def left(cls, unsettled: Unsettled, seen: Cells) -> Gains:
        """Return what can still be gained, given the cells that were seen."""
        over, left = unsettled.over, unsettled.left(seen)
        unseen = over.unseen(seen)[left]
        worth = (~unsettled.whole[left] * (unseen + SET_REFUTED)).astype(np.int16)
        same = seen[left, None] >> np.arange(CELLS, dtype=np.uint32) & np.uint32(1) == 1
        other = np.roll(same, HALF, axis=1)
        new = (~same & ~other) * np.int16(PATTERN_SEEN)
        return cls(over, left, np.where(other, worth[:, None], new), worth)

    def by_row(self) -> Ints:
        """Return for each variable and each row, as a set, the worth of the row for it.

        A pair's gain depends on few variables, so it is a polynomial of few terms in the bits of a
        row. The polynomials are added, and the sum is evaluated for all rows at once.
        """
        n = self.over.n
        terms = self.of.astype(np.float64) @ _moebius()
        places = _terms(n, self.over.k)[self.pairs].ravel()
        size = n << n
        total = np.bincount(places, terms.ravel(), size + 1)[:size].astype(np.int64)
        values = total.reshape(n, 1 << n)
        add_up(values)
        return values

    def filled(self, rows: Ints, targets: Ints) -> tuple[Ints, Ints]:
        """Choose an option for one unit after the other, in several worlds at once.

        `rows` is [world, unit, option]. What earlier rows of the same world have settled has no
        worth any more. The result is each world's total and its rows.
        """
        worlds, units, _ = rows.shape
        each, count = np.arange(worlds), len(self.pairs)
        free = targets >> self.over.variable[self.pairs][:, None] & 1 == 0
        gains = self.of[:, None, :] * free[:, :, None]
        flat, whole = gains.reshape(-1), gains.reshape(-1, CELLS)
        start = (np.arange(count * worlds) * CELLS).reshape(count, worlds, 1)
        refuting = np.broadcast_to(self.refuting[:, None], (count, worlds))
        cell = self.over.cell[self.pairs]
        totals, chosen = np.zeros(worlds, dtype=np.int64), np.zeros((worlds, units), dtype=np.int64)
        for unit in range(units):
            options = rows[:, unit]
            at = start + cell[:, options]
            gained = flat[at]
            worth = gained.sum(axis=0, dtype=np.int64)
            best = worth.argmax(axis=1)
            totals += worth[each, best]
            chosen[:, unit] = options[each, best]
            at, gained = at[:, each, best], gained[:, each, best]
            new = gained == PATTERN_SEEN
            shown = at[new]
            flat[shown] = 0
            flat[shown ^ HALF] = refuting[new]
            whole[(gained > PATTERN_SEEN).ravel()] = 0
        return totals, chosen


@cache
def _moebius() -> NDArray[np.float64]:
    """Return the matrix that turns values of five bits into coefficients of their products."""
    cells = range(CELLS)
    return np.array(
        [
            [(-1.0) ** (term ^ cell).bit_count() if not cell & ~term else 0.0 for term in cells]
            for cell in cells
        ]
    )


@cache
def _terms(n: int, k: int) -> Ints:
    """Return the place of each pair's terms among all variables' products of row bits.

    Terms with a bit that the pair does not have go to a place of their own, past the others.
    """
    over = pairs(n, k)
    members_of = [list(members(q)) for q in over.sets.tolist()]
    bits = np.array([[1 << u for u in q] + [0] * (MOST - len(q)) for q in members_of])
    bits = np.column_stack((bits, 1 << over.variable))
    term = np.arange(CELLS)
    products = sum(bits[:, i, None] * (term >> i & 1) for i in range(MOST + 1))
    outside = term % HALF >> over.sizes[:, None] != 0
    return np.where(outside, n << n, (over.variable[:, None] << n) + products)
