"""Remove rows until about N bits of ambiguity are open, and fill the gaps.

Rows are dropped in a random order. The fewer rows are left, the more SCMs fit, so bisection finds
the number of rows to drop. The long form replaces dropped rows by rows that add no information. A
row seen under some targets is also a possible row of a world with more targets: the extra targets
are set to the values that they would have had anyway. So the same SCMs fit both forms, and each
world of the long form is as long as the original world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybench.causal.seeds import Stream
from whybench.families.replayscm.world.generation.subsampled import Thinned
from whybench.families.replayscm.world.world import Table, Told

NEAR = 0.5
"""The largest allowed difference from the requested bits."""
SHUFFLES = 200
AHEAD = 2
"""The number of bisection steps that are counted together."""


@dataclass(frozen=True, slots=True)
class Diluted:
    """Evidence with about the requested bits, in short and long form."""

    bits: float
    short: tuple[Table, ...]
    long: tuple[Table, ...]


Kept = list[list[bool]]


class Dilution:
    """Drops rows of worlds for several levels of bits; what the rows show is computed once.

    The first row of the first world, which has no targets, always stays.
    """

    def __init__(self, told: Told, worlds: Sequence[Table]) -> None:
        self.n, self.worlds = told.n, worlds
        self.thinned = Thinned(told, worlds)
        self.places = [(w, r) for w, world in enumerate(worlds) for r in range(world.size)]

    def to(self, bits: float, stream: Stream) -> Diluted | None:
        """Drop rows until about this many bits are open; None if no order of dropping does it."""
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
        """Return the number of rows to drop in this order and the open bits; None if none works."""
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
    """Return the values that the next bisection steps may need; counting several is cheaper."""
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
    """Return the worlds without the dropped rows; empty worlds are removed."""
    found = []
    for world, keep in zip(worlds, kept, strict=True):
        rows = [row for row, stays in zip(world.rows(), keep, strict=True) if stays]
        if rows:
            found.append(Table.of(n, world.targets, world.mode, rows))
    return tuple(found)


def _long(n: int, worlds: Sequence[Table], kept: Kept, stream: Stream) -> tuple[Table, ...]:
    """Return the worlds with uninformative rows in place of the dropped rows."""
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
