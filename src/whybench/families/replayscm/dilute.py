"""Taking evidence away until about so many bits of ambiguity are left, and filling the gap.

Rows are dropped in a random order; the fewer are left, the more SCMs fit, so the place where the
bits come within reach is found by bisection. The long form puts rows that say nothing new where
rows were dropped: a row seen under fewer targets is also a row of the world with more of them, the
extra targets being set to what they would have been anyway. So both forms leave the same SCMs, and
the long one has, world by world and row by row, the length of the evidence it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybench.core.seeds import Stream
from whybench.families.replayscm.evidence import Evidence
from whybench.families.replayscm.world import Rows, Table, Told

NEAR = 0.5
"""How near the bits must come to those asked for."""
SHUFFLES = 200


@dataclass(frozen=True, slots=True)
class Diluted:
    """Evidence of about so many bits, short and long."""

    bits: float
    short: tuple[Table, ...]
    long: tuple[Table, ...]


Kept = list[list[bool]]


def diluted(told: Told, worlds: Sequence[Table], bits: float, stream: Stream) -> Diluted | None:
    """Drop rows of worlds until about `bits` are left; None if no order of dropping meets them.

    The first row of the first world, which has no targets, always stays.
    """
    places = [(w, r) for w, world in enumerate(worlds) for r in range(world.size)][1:]
    for _ in range(SHUFFLES):
        order = stream.shuffled(places)
        low, high = 0, len(order)  # rows dropped: at `low` too few bits, at `high` too many
        while high - low > 1:
            middle = (low + high) // 2
            kept = _kept(worlds, order[:middle])
            left = _bits(told, _short(told.n, worlds, kept))
            if abs(left - bits) <= NEAR:
                short = _short(told.n, worlds, kept)
                long = _long(told.n, worlds, kept, stream)
                return Diluted(left, short, long)
            low, high = (middle, high) if left < bits else (low, middle)
    return None


def _kept(worlds: Sequence[Table], dropped: Sequence[tuple[int, int]]) -> Kept:
    kept = [[True] * world.size for world in worlds]
    for w, r in dropped:
        kept[w][r] = False
    return kept


def _bits(told: Told, worlds: Sequence[Table]) -> float:
    return Evidence(told, Rows.of(told.n, worlds)).bits


def _short(n: int, worlds: Sequence[Table], kept: Kept) -> tuple[Table, ...]:
    """Return the worlds without the rows dropped; empty worlds go."""
    found = []
    for world, keep in zip(worlds, kept, strict=True):
        rows = [row for row, stays in zip(world.rows(), keep, strict=True) if stays]
        if rows:
            found.append(Table.of(n, world.targets, world.mode, rows))
    return tuple(found)


def _long(n: int, worlds: Sequence[Table], kept: Kept, stream: Stream) -> tuple[Table, ...]:
    """Return the worlds with rows that say nothing new in place of those dropped."""
    known = [
        (world.targets, row)
        for world, keep in zip(worlds, kept, strict=True)
        for row, stays in zip(world.rows(), keep, strict=True)
        if stays
    ]
    found = []
    for world, keep in zip(worlds, kept, strict=True):
        fillers = [row for targets, row in known if not targets & ~world.targets]
        rows = [
            row if stays else stream.choice(fillers)
            for row, stays in zip(world.rows(), keep, strict=True)
        ]
        found.append(Table.of(n, world.targets, world.mode, rows))
    return tuple(found)
