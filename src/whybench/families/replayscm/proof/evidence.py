"""Count exactly the SCMs that fit rows.

Claim: an SCM replays all rows if and only if each mechanism agrees with every row in which its
variable is free. Proof by induction along the SCM's order: when a variable is computed, all its
arguments have already been replayed correctly.

So the SCMs that fit are the acyclic combinations of mechanisms that fit one by one, and these can
be counted. For a variable V and a set Q, let N(Q) be the number of functions of Q that agree with
V's rows. It is 0 if two rows agree on Q and differ in V. Otherwise it is 2 to the number of
patterns of Q that were never seen with V free. Möbius inversion over subsets gives w(P), the number
of these functions whose essential parents are exactly P. The counts below need only sums of w over
the admissible sets of at most k parents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.causal.acyclic import acyclic_sum
from whybench.causal.graph import members
from whybench.families.replayscm.proof.dense import Dense
from whybench.families.replayscm.proof.pairs import MOST, WIDEST
from whybench.families.replayscm.proof.patterns import Patterns
from whybench.families.replayscm.world.world import Rows, Told


@cache
def _small(n: int, k: int) -> NDArray[np.bool_]:
    return np.array([s.bit_count() <= k for s in range(1 << n)])


def _subset_sums(values: NDArray[Any], sign: int) -> None:
    """Replace, in place, each set's value by the sum over its subsets (or undo that, sign −1)."""
    n = len(values).bit_length() - 1
    for u in range(n):
        view = values.reshape(-1, 2, 1 << u)
        view[:, 1, :] += sign * view[:, 0, :]


class Evidence:
    """Rows, and the SCMs of a class that fit them."""

    def __init__(self, told: Told, rows: Rows) -> None:
        self.told = told
        self.rows = rows

    @cached_property
    def dense(self) -> Dense | None:
        """Arrays over all sets of parents at once, if n and k are small enough."""
        small = self.told.k <= MOST and self.told.n <= WIDEST
        return Dense(self.told, self.rows) if small else None

    @cached_property
    def patterns(self) -> tuple[Patterns | None, ...]:
        """The folded rows of every variable that may have a mechanism."""
        told = self.told
        known = told.roots or 0
        return tuple(
            None if known >> v & 1 else Patterns(self.rows, v, told.n, told.k, told.admissible[v])
            for v in range(told.n)
        )

    @cached_property
    def fitting(self) -> tuple[NDArray[Any], ...]:
        """For each variable and set S, the number of fitting functions with parents in S."""
        if self.dense is not None:
            return tuple(self.dense.fitting)
        none = np.zeros(1 << self.told.n, dtype=np.int64)
        small, sets = _small(self.told.n, self.told.k), np.arange(1 << self.told.n)
        found = []
        for patterns, admissible in zip(self.patterns, self.told.admissible, strict=True):
            if patterns is None:
                found.append(none)
                continue
            values = patterns.counts()
            _subset_sums(values, -1)
            values[~small | (sets & ~admissible != 0)] = 0
            _subset_sums(values, 1)
            found.append(values)
        return tuple(found)

    @cached_property
    def count(self) -> int:
        """The number of SCMs that fit; SCMs count as different if their functions differ."""
        told = self.told
        if told.roots is None:
            return self._acyclic(told.every, 0, tagged=True)
        own = told.every & ~told.roots
        if told.ordered:
            return math.prod(int(self.fitting[v][told.admissible[v]]) for v in members(own))
        return self._acyclic(own, told.roots, tagged=False)

    @property
    def bits(self) -> float:
        """Residual ambiguity: log2 of the count."""
        return math.log2(self.count) if self.count else -math.inf

    def _acyclic(self, own: int, roots: int, *, tagged: bool) -> int:
        """Sum the products of w over all acyclic choices of parents for the variables in `own`.

        If roots are hidden, each variable may also be a root, with a factor z. The result is then
        the coefficient of z^(number of roots). We set z to a power of two so large that the
        coefficients never overlap.
        """
        told = self.told
        members_of = list(members(own))
        size = len(members_of)
        width = told.n * (1 << min(told.k, told.n)) + 16 * told.n
        root = 1 << width if tagged else 0
        spread = [0] * (1 << size)
        for s in range(1, 1 << size):
            low = (s & -s).bit_length() - 1
            spread[s] = spread[s & (s - 1)] | 1 << members_of[low]

        def weights(done: int) -> list[int]:
            at = spread[done] | roots
            return [int(self.fitting[v][at]) + root for v in members_of]

        total = acyclic_sum(size, weights)
        if not tagged:
            return total
        return total >> (width * told.root_count) & ((1 << width) - 1)

    # What is forced.

    def before(self, v: int, roots: int) -> int:
        """Return all variables that can come before a variable, given the roots.

        A variable can be placed next if it has a fitting mechanism from the variables placed so
        far. Having more variables placed never hurts. So a greedy search finds all variables that
        can be placed without v.
        """
        return self._closure(roots, 1 << v)

    def _closure(self, there: int, without: int = 0) -> int:
        told = self.told
        waiting = told.every & ~there & ~without
        moved = True
        while moved:
            moved = False
            for u in members(waiting):
                if self.fitting[u][there] > 0:
                    there |= 1 << u
                    waiting &= ~(1 << u)
                    moved = True
        return there

    @cached_property
    def contexts(self) -> tuple[tuple[int, ...], ...]:
        """For each variable, the largest sets that can come before it in an SCM that fits."""
        told = self.told
        found: list[set[int]] = [set() for _ in range(told.n)]
        for roots in told.root_sets():
            for v in members(told.every & ~roots):
                there = self.before(v, roots)
                if self.fitting[v][there] > 0 and self._closure(there | 1 << v) == told.every:
                    found[v].add(there & told.admissible[v])
        return tuple(
            tuple(s for s in sorted(sets) if not any(s != t and s & ~t == 0 for t in sets))
            for sets in found
        )

    @cached_property
    def arguments(self) -> tuple[tuple[int, ...], ...]:
        """For each variable, the largest sets of parents that some SCM that fits allows."""
        if self.dense is not None:
            return self.dense.largest(self.contexts)
        found = []
        for v, contexts in enumerate(self.contexts):
            patterns = self.patterns[v]
            sets: set[int] = set()
            for context in contexts:
                wide = min(self.told.k, context.bit_count())
                if patterns is not None:
                    sets |= {
                        q for q in patterns.seen if q.bit_count() == wide and q & ~context == 0
                    }
            found.append(tuple(sorted(sets)))
        return tuple(found)

    def is_open(self, row: int, v: int) -> bool:
        """Return whether some SCM that fits first differs from a row at v."""
        patterns = self.patterns[v]
        if patterns is None:
            return False
        half = 1 << self.told.n if row >> v & 1 else 0
        return any(not patterns.seen[q] >> ((row & q) + half) & 1 for q in self.arguments[v])

    def open_cells(self, row: int, targets: int) -> int:
        """Return the variables at which SCMs that fit can first differ from a row.

        The set may contain a few too many variables. Whether it is empty is exact.
        """
        return sum(1 << v for v in members(self.told.every & ~targets) if self.is_open(row, v))

    def open_rows(self, rows: Sequence[tuple[int, int]]) -> int:
        """Return how many rows, each with its targets, some SCM that fits replays wrongly."""
        if self.dense is not None:
            return self.dense.open_rows(rows, self.arguments)
        return sum(bool(self.open_cells(row, targets)) for row, targets in rows)

    def determines(self, rows: Sequence[int], targets: int) -> bool:
        """Return whether every SCM that fits replays the rows exactly."""
        return not any(self.open_cells(row, targets) for row in rows)


@lru_cache(maxsize=16)
def evidence_for(told: Told, rows: Rows) -> Evidence:
    """Return the evidence of rows in a class; the latest are cached with their results."""
    return Evidence(told, rows)
