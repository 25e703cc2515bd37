"""Choose worlds until one SCM is left, with optimised targets and row-level assignments.

It is known exactly what must still be ruled out: every function of a set Q of parents that fits a
variable's rows and is not gold. If Q contains the gold parents, every pattern of Q must be seen.
Otherwise two rows must agree on Q and differ in the variable. The worth of a row comes from the
patterns that it shows and, above all, from the sets that it refutes. A world is filled row by row
with the assignment of the highest worth.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.proof.pairs import Cells, Ints, united
from whybench.families.replayscm.proof.unsettled import Unsettled
from whybench.families.replayscm.world.generation.gains import Gains
from whybench.families.replayscm.world.gold_scm import (
    LEVELS,
    MOST_TARGETS,
    ROOTS,
    Latent,
    observational,
)
from whybench.families.replayscm.world.replay import simulate
from whybench.families.replayscm.world.world import Table, scm_of

MOST_WORLDS = 40
PROPOSED = 60
"""Target sets looked at for each world."""
SHORTLIST = 6
"""Those of them that are filled row by row."""
CHOICES = 1 << MOST_TARGETS
"""The most ways to set a row's targets."""


def identifying_worlds(
    latent: Latent, heldout: Sequence[Table], stream: Stream
) -> tuple[Table, ...] | None:
    """Return worlds that only the gold SCM fits, in the widest class; None if too many are needed.

    They contain no intervention of a held-out world.
    """
    unsettled = Unsettled.of(scm_of(latent.formulas), latent.k)
    proposals = _Proposals(
        latent, {world.targets for world in heldout if world.mode == "hard_assigned"}
    )
    worlds = [observational(latent)]
    shown = [unsettled.over.shown(worlds[0].rows(), 0)]
    while len((gains := Gains.left(unsettled, united(shown))).pairs):
        if len(worlds) == MOST_WORLDS:
            return None
        worlds.append(proposals.best(stream, gains))
        shown.append(unsettled.over.shown(worlds[-1].rows(), worlds[-1].targets))
    return tuple(worlds[i] for i in _needed(unsettled, shown))


def _needed(unsettled: Unsettled, shown: Sequence[Cells]) -> list[int]:
    """Remove worlds that are not needed, trying the first chosen first; return the rest."""
    kept = list(range(len(shown)))
    for i in range(1, len(shown)):
        fewer = [j for j in kept if j != i]
        if not len(unsettled.left(united([shown[j] for j in fewer]))):
            kept = fewer
    return kept


class _Proposals:
    """Worlds of an SCM with chosen targets and open assignments."""

    def __init__(self, latent: Latent, avoided: Collection[int]) -> None:
        self.latent = latent
        self.subsets = [
            targets
            for size in range(1, MOST_TARGETS + 1)
            for targets in combinations(range(latent.n), size)
            if sum(1 << v for v in targets) not in avoided
        ]
        self.masks = np.array([sum(1 << v for v in targets) for targets in self.subsets])
        self.outcomes = _outcomes(latent, self.subsets)
        columns = [latent.root_columns([level] * ROOTS) for level in LEVELS]
        units = np.arange(latent.units)
        self.roots = np.array(columns)[:, :, None] >> units & 1
        """[level, root, unit]."""

    def best(self, stream: Stream, gains: Gains) -> Table:
        """Propose target sets, fill the most promising row by row, and return the best world."""
        count = min(PROPOSED, len(self.subsets))
        drawn = np.array(stream.sample(range(len(self.subsets)), count))
        levels = np.array([stream.below(len(LEVELS)) for _ in range(ROOTS * count)])
        levels = levels.reshape(count, ROOTS)
        units = sum(self.roots[levels[:, root], root] << root for root in range(ROOTS))
        rows = self.outcomes[drawn[:, None], units]
        masks = self.masks[drawn]
        promise = self._promise(gains, rows, masks)
        short = np.argsort(-promise, kind="stable")[:SHORTLIST]
        totals, chosen = gains.filled(rows[short], masks[short])
        best = int(totals.argmax())
        targets = int(masks[short[best]])
        return Table.of(self.latent.n, targets, "hard_assigned", chosen[best].tolist())

    def _promise(self, gains: Gains, rows: Ints, masks: Ints) -> Ints:
        """Return the worth of each unit's best row on its own."""
        by_row = gains.by_row()
        worth = by_row.sum(axis=0)[rows]
        for v in range(self.latent.n):
            clamped = masks >> v & 1 == 1
            worth[clamped] -= by_row[v][rows[clamped]]
        return np.asarray(worth.max(axis=2).sum(axis=1))


def _outcomes(latent: Latent, subsets: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    """Return the row, as a set, of each subset of targets, setting of the roots, and assignment.

    Where there are fewer assignments than `CHOICES`, the last one is repeated.
    """
    block = CHOICES << ROOTS
    places = np.arange(block)
    roots, choices = places // CHOICES, places % CHOICES
    bits = np.zeros((latent.n, len(subsets), block), dtype=bool)
    free = np.ones((latent.n, len(subsets), block), dtype=bool)
    for i, root in enumerate(latent.order[:ROOTS]):
        bits[root] = roots >> i & 1
    for at, targets in enumerate(subsets):
        choice = np.minimum(choices, (1 << len(targets)) - 1)
        for i, v in enumerate(targets):
            bits[v, at], free[v, at] = choice >> i & 1, False
    size = len(subsets) * block
    columns = [_packed(bits[v]) for v in range(latent.n)]
    where = [_packed(free[v]) for v in range(latent.n)]
    seen = simulate(candidate_of(latent.formulas), columns, where, size)
    rows = sum(_unpacked(column, size).astype(np.int64) << v for v, column in enumerate(seen))
    return np.asarray(rows).reshape(len(subsets), 1 << ROOTS, CHOICES)


def _packed(bits: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(bits.ravel(), bitorder="little").tobytes(), "little")


def _unpacked(column: int, size: int) -> NDArray[np.uint8]:
    packed = np.frombuffer(column.to_bytes(-(-size // 8), "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=size, bitorder="little")
