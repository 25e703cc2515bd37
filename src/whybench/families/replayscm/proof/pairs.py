"""Pair every variable with every set of at most k others, and store what rows show of each pair.

A function of a set Q is determined pattern by pattern. A *cell* is a pattern of Q with a value of
the variable, numbered `16 * value + pattern`. The cells that rows show of one pair are a bitset of
32 bits, and several rows show the union of their cells. So evidence is an array with one number per
pair. Adding rows is `|`, and a few array operations answer a question about all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MOST = 4
"""The most members of a set: its patterns must fit half of 32 bits."""
WIDEST = 12
"""The most variables: the table of all pairs has a column for each of 2^n rows."""
HALF = 1 << MOST
CELLS = 2 * HALF

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Cells = NDArray[np.uint32]
"""For each pair, the cells that rows show."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs (v, Q), those of the first variable first, one to an entry of each array."""

    n: int
    k: int
    variable: Ints
    sets: Ints
    sizes: Ints
    cell: NDArray[np.uint8]
    """[pair, row]: the cell that a row, as a set, shows."""

    def shown(self, rows: Sequence[int] | Ints, targets: int) -> Cells:
        """Return what rows show under an intervention; of its targets they show nothing."""
        bits = np.uint32(1) << self.cell[:, np.asarray(rows)].astype(np.uint32)
        bits[targets >> self.variable & 1 == 1] = 0
        return united(bits, axis=1)

    def each_shown(self, rows: Sequence[int] | Ints, targets: Sequence[int] | Ints) -> Cells:
        """Return what each of some rows shows, with its own targets, as [row, pair]."""
        bits = np.uint32(1) << self.cell[:, np.asarray(rows)].T.astype(np.uint32)
        bits[np.asarray(targets)[:, None] >> self.variable & 1 == 1] = 0
        return bits

    def unseen(self, seen: Cells) -> Ints:
        """Return for each pair how many patterns no row shows."""
        return unseen(seen, self.sizes)


def united(shown: Cells | Sequence[Cells], axis: int = 0) -> Cells:
    """Return what several rows or worlds show together."""
    found: Cells = np.bitwise_or.reduce(shown, axis=axis)
    return found


def unseen(seen: Cells, sizes: Ints) -> Ints:
    """Return how many patterns of sets with so many members no row shows."""
    known = (seen | seen >> np.uint32(HALF)) & np.uint32((1 << HALF) - 1)
    return (1 << sizes) - ones(known)


def refuted(seen: Cells) -> Bools:
    """Tell for each pair whether a pattern was seen with both values, so that no function fits."""
    return np.asarray(seen & (seen >> np.uint32(HALF)) != 0)


@cache
def pairs(n: int, k: int) -> Pairs:
    """Return all pairs of n variables and sets of at most k."""
    if not 0 <= k <= MOST:
        raise ValueError(f"sets of at most {k} members: give 0 … {MOST}")
    listed = [
        (v, inputs)
        for v in range(n)
        for size in range(k + 1)
        for inputs in combinations([u for u in range(n) if u != v], size)
    ]
    variable = np.array([v for v, _ in listed])
    rows = np.arange(1 << n, dtype=np.uint16)
    cell = (rows >> variable[:, None].astype(np.uint16) & 1).astype(np.uint8) << np.uint8(MOST)
    for i in range(k):
        has = np.array([len(inputs) > i for _, inputs in listed], dtype=np.uint16)
        at = np.array([inputs[i] if len(inputs) > i else 0 for _, inputs in listed], np.uint16)
        cell |= ((rows >> at[:, None] & has[:, None]) << i).astype(np.uint8)
    return Pairs(
        n,
        k,
        variable,
        np.array([sum(1 << u for u in inputs) for _, inputs in listed]),
        np.array([len(inputs) for _, inputs in listed]),
        cell,
    )


def ones(numbers: NDArray[np.integer]) -> Ints:
    """Return how many bits are 1 in each of some numbers of 16 bits."""
    found: Ints = _bit_counts()[numbers]
    return found


@cache
def _bit_counts() -> Ints:
    return np.array([number.bit_count() for number in range(1 << HALF)])


def add_up(values: Ints, sign: int = 1) -> None:
    """Replace, in place, each set's value by the sum over its subsets (or undo that, sign −1).

    Sets are on the last axis.
    """
    size = values.shape[-1]
    for u in range(size.bit_length() - 1):
        halves = values.reshape(*values.shape[:-1], -1, 2, 1 << u)
        halves[..., 1, :] += sign * halves[..., 0, :]
