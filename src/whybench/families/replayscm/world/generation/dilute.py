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

from whybench.causal.seeds import Stream
from whybench.families.replayscm.world.generation.subsampled import Thinned
from whybench.families.replayscm.world.world import Table, Told

NEAR = 0.5
"""How near the bits must come to those asked for."""
SHUFFLES = 200
AHEAD = 2
"""Steps of the bisection that are counted together."""


@dataclass(frozen=True, slots=True)
class Diluted:
    """Evidence of about so many bits, short and long."""

    bits: float
    short: tuple[Table, ...]
    long: tuple[Table, ...]


Kept = list[list[bool]]


class Dilution:
    """Worlds of which rows are dropped, for several figures of bits: what rows show is kept.

    The first row of the first world, which has no targets, always stays.
    """

    def __init__(self, told: Told, worlds: Sequence[Table]) -> None:
        self.n, self.worlds = told.n, worlds
        self.thinned = Thinned(told, worlds)
        self.places = [(w, r) for w, world in enumerate(worlds) for r in range(world.size)]

    def to(self, bits: float, stream: Stream) -> Diluted | None:
        """Drop rows until about so many bits are left; None if no order of dropping meets them."""
        for _ in range(SHUFFLES):
            order = stream.shuffled(range(1, len(self.places)))
            found = self._dropped(bits, order)
            if found is not None:
                dropped, left = found
                kept = _kept(self.worlds, [self.places[at] for at in order[:dropped]])
                short = _short(self.n, self.worlds, kept)
                return Diluted(left, short, _long(self.n, self.worlds, kept, stream))
        return None

    def _dropped(self, bits: float, order: Sequence[int]) -> tuple[int, float] | None:
        """Return how many rows to drop in this order, and the bits left; None if none will do."""
        seen = self.thinned.dropping(order)
        known: dict[int, float] = {}
        low, high = 0, len(order)  # rows dropped: at `low` too few bits, at `high` too many
        while high - low > 1:
            middle = (low + high) // 2
            if middle not in known:
                wanted = _middles(low, high, AHEAD)
                known = dict(zip(wanted, self.thinned.bits(seen[wanted]), strict=True))
            left = known[middle]
            if abs(left - bits) <= NEAR:
                return middle, left
            low, high = (middle, high) if left < bits else (low, middle)
        return None


def _middles(low: int, high: int, deep: int) -> list[int]:
    """Return what the next steps of a bisection may ask for: counting a few at once costs less."""
    if high - low <= 1 or not deep:
        return []
    middle = (low + high) // 2
    return [middle, *_middles(low, middle, deep - 1), *_middles(middle, high, deep - 1)]


def _kept(worlds: Sequence[Table], dropped: Sequence[tuple[int, int]]) -> Kept:
    kept = [[True] * world.size for world in worlds]
    for w, r in dropped:
        kept[w][r] = False
    return kept


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
