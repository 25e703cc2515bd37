"""Evidence over all sets of at most four parents at once: the content of `Patterns`, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from whybench.families.replayscm.proof.pairs import (
    HALF,
    Bools,
    Ints,
    add_up,
    pairs,
    refuted,
    united,
)
from whybench.families.replayscm.world.minimal_formulas import smallest_sizes
from whybench.families.replayscm.world.world import Rows, Told

UNFIT = 10_000
"""The size of a formula where none fits: more than any SCM costs."""


class Dense:
    """What rows show of each pair of a variable and a set; which pairs are admissible and fit."""

    def __init__(self, told: Told, rows: Rows) -> None:
        self.over = pairs(told.n, told.k)
        variable = self.over.variable
        values, free = (_row_sets(columns, rows.size) for columns in (rows.columns, rows.free))
        distinct = np.unique(values | free << told.n)
        values, targets = distinct & told.every, ~(distinct >> told.n)
        shown = self.over.each_shown(values, targets)
        self.seen = united(shown)
        root = (told.roots or 0) >> variable & 1 == 1
        self.allowed: Bools = ~root & (self.over.sets & ~np.array(told.admissible)[variable] == 0)
        self.fits: Bools = self.allowed & ~refuted(self.seen)

    @cached_property
    def fitting(self) -> Ints:
        """For each variable and set S, how many functions with parents in S fit."""
        at = self.over.variable, self.over.sets
        values = np.zeros((self.over.n, 1 << self.over.n), dtype=np.int64)
        values[at] = np.where(self.fits, 1 << self.over.unseen(self.seen), 0)
        add_up(values, -1)
        found = np.zeros_like(values)
        found[at] = np.where(self.allowed, values[at], 0)
        add_up(found)
        return found

    @cached_property
    def sizes(self) -> Ints:
        """For each pair, the size of the smallest formula that fits."""
        found = np.full(len(self.over.sets), UNFIT)
        for size in range(self.over.k + 1):
            some = np.flatnonzero(self.fits & (self.over.sizes == size))
            found[some] = smallest_sizes(*self.partial(some), size)
        return found

    @cached_property
    def costs(self) -> Ints:
        """For each variable and set S, the size of the smallest fitting formula over S."""
        n = self.over.n
        found = np.full((n, 1 << n), UNFIT)
        found[self.over.variable, self.over.sets] = self.sizes
        for u in range(n):
            halves = found.reshape(n, -1, 2, 1 << u)
            np.minimum(halves[:, :, 1], halves[:, :, 0], out=halves[:, :, 1])
        return found

    def partial(self, some: Ints) -> tuple[Ints, Ints]:
        """Return what rows say of functions of sets: patterns seen, and those that give 1."""
        seen = self.seen[some].astype(np.int64)
        ones = seen >> HALF
        return (seen | ones) & ((1 << HALF) - 1), ones

    def within(self, v: int, there: int) -> Ints:
        """Return the pairs of a variable and parents from a set that fit, smallest sets first."""
        of_v = self.fits & (self.over.variable == v) & (self.over.sets & ~there == 0)
        found = np.flatnonzero(of_v)
        return found[np.argsort(self.over.sets[found])]

    def largest(self, contexts: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Return for each variable the largest sets that fit within what can come before it."""
        found = []
        for v, before in enumerate(contexts):
            sets: set[int] = set()
            for context in before:
                some = self.over.sets[self.within(v, context)]
                wide = min(self.over.k, context.bit_count())
                sets.update(q for q in some.tolist() if q.bit_count() == wide)
            found.append(tuple(sorted(sets)))
        return tuple(found)

    def open_rows(self, rows: Sequence[tuple[int, int]], arguments: Sequence[Sequence[int]]) -> int:
        """Return how many rows have a free variable for which one of its sets is wrong."""
        chosen = np.zeros(len(self.over.sets), dtype=bool)
        for v, sets in enumerate(arguments):
            chosen |= (self.over.variable == v) & np.isin(self.over.sets, sets)
        at = np.flatnonzero(chosen)
        shown = self.over.cell[at][:, [row for row, _ in rows]].astype(np.uint32)
        new = self.seen[at, None] >> shown & np.uint32(1) == 0
        targets = np.array([targets for _, targets in rows], dtype=np.int64)
        free = targets >> self.over.variable[at, None] & 1 == 0
        return int((new & free).any(axis=0).sum())


def _row_sets(columns: tuple[int, ...], size: int) -> Ints:
    """Return each row as a set, from columns of all rows."""
    found = np.zeros(size, dtype=np.int64)
    for v, column in enumerate(columns):
        packed = np.frombuffer(column.to_bytes(-(-size // 8), "little"), dtype=np.uint8)
        found |= np.unpackbits(packed, count=size, bitorder="little").astype(np.int64) << v
    return found
