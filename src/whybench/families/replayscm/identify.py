"""Choosing worlds until one SCM is left: targets and row-level assignments optimised, not sampled.

What still has to be ruled out is known exactly: a function of a set Q of parents that fits a
variable's rows and is not gold. Where Q holds the gold parents, every pattern of Q must be seen;
elsewhere two rows must agree on Q and differ in the variable. A row is worth the patterns it shows
and, above all, the sets it refutes; a world is filled row by row with the assignment worth most.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whybench.core.graph import members
from whybench.core.seeds import Stream
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.evidence import Evidence
from whybench.families.replayscm.latent import LEVELS, MOST_TARGETS, ROOTS, Latent, observational
from whybench.families.replayscm.replay import simulate
from whybench.families.replayscm.world import Rows, Scm, Table, Told

MOST_WORLDS = 40
PROPOSED = 60
"""Target sets looked at for each world."""
SHORTLIST = 6
"""Those of them that are filled row by row."""


@dataclass(slots=True)
class Demands:
    """Sets of parents not yet settled, one to an entry of each array."""

    variable: NDArray[np.int64]
    sets: list[int]
    complete: NDArray[np.bool_]
    """Whether the set holds the gold parents, so that all its patterns must be seen."""
    seen: NDArray[np.bool_]
    """[entry, value, pattern]."""
    weight: NDArray[np.int64]
    """What refuting a set is worth: the patterns that need not be seen any more, and one."""

    @classmethod
    def of(cls, evidence: Evidence, gold: Scm) -> Demands:
        """Return what the evidence leaves to be settled."""
        parents = gold.parents
        variable, sets, complete, seen = [], [], [], []
        for v, arguments in enumerate(evidence.arguments):
            patterns = evidence.patterns[v]
            if patterns is None:
                continue
            for q in arguments:
                whole = not gold.roots >> v & 1 and not parents[v] & ~q
                zero, one = (_bits(part, q) for part in (patterns.zero(q), patterns.one(q)))
                if whole and (zero | one).all():
                    continue
                variable.append(v)
                sets.append(q)
                complete.append(whole)
                seen.append((zero, one))
        width = max((len(zero) for zero, _ in seen), default=1)
        stacked = np.ones((len(sets), 2, width), dtype=bool)
        for i, (zero, one) in enumerate(seen):
            stacked[i, 0, : len(zero)], stacked[i, 1, : len(one)] = zero, one
        unseen = (~(stacked[:, 0] | stacked[:, 1])).sum(axis=1)
        return cls(np.array(variable), sets, np.array(complete, dtype=bool), stacked, unseen + 2)

    def worth(
        self, rows: NDArray[np.int64], patterns: NDArray[np.int64], free: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return what each row is worth; `patterns` is [entry, row], `free` by entry."""
        index = np.arange(len(self.sets))[:, None]
        value = rows[None, :] >> self.variable[:, None] & 1
        same = self.seen[index, value, patterns]
        other = self.seen[index, 1 - value, patterns]
        new = ~same & ~other
        refuting = other & ~self.complete[:, None]
        gains = np.where(refuting, self.weight[:, None], new.astype(np.int64))
        return np.asarray((gains * free[:, None]).sum(axis=0))

    def add(self, row: int, patterns: NDArray[np.int64], free: NDArray[np.bool_]) -> None:
        """Take a row in; sets that it refutes count as all seen from now on."""
        value = row >> self.variable & 1
        index = np.arange(len(self.sets))
        refuted = self.seen[index, 1 - value, patterns] & ~self.complete & free
        self.seen[index[free], value[free], patterns[free]] = True
        self.seen[refuted] = True
        self.weight[refuted] = 0

    def copied(self) -> Demands:
        """Return a copy that can be filled on trial."""
        return Demands(
            self.variable, self.sets, self.complete, self.seen.copy(), self.weight.copy()
        )


def _bits(sparse: int, q: int) -> NDArray[np.bool_]:
    """Return a bitset over the patterns of a set as an array."""
    found, at = [], 0
    for _ in range(1 << q.bit_count()):
        found.append(bool(sparse >> at & 1))
        at = (at - q) & q
    return np.array(found)


@lru_cache(maxsize=4096)
def pattern_numbers(q: int, n: int) -> NDArray[np.int64]:
    """Return for each row, as a set, the number of its pattern on Q."""
    rows = np.arange(1 << n)
    return np.asarray(sum((rows >> v & 1) << i for i, v in enumerate(members(q))), dtype=np.int64)


def hidden_roots(latent: Latent) -> Told:
    """Return the widest class: all that is told is the number of roots and the bound k."""
    every = (1 << latent.n) - 1
    return Told(latent.n, latent.k, ROOTS, None, tuple(every & ~(1 << v) for v in range(latent.n)))


def identifying_worlds(
    latent: Latent, heldout: Sequence[Table], stream: Stream
) -> tuple[Table, ...] | None:
    """Return worlds that leave the gold SCM alone in the widest class; None if too many.

    No intervention of a held-out world is among them.
    """
    avoided = {world.targets for world in heldout if world.mode == "hard_assigned"}
    gold = candidate_of(latent.formulas)
    truth = Scm(latent.n, latent.roots, gold.tables)
    told = hidden_roots(latent)
    worlds = [observational(latent)]
    while len(worlds) < MOST_WORLDS:
        demands = Demands.of(Evidence(told, Rows.of(latent.n, worlds)), truth)
        if not demands.sets:
            break
        worlds.append(_best_world(latent, stream, demands, avoided))
    if not is_unique(told, worlds):
        return None
    return tuple(_without_idle(told, worlds))


def is_unique(told: Told, worlds: Sequence[Table]) -> bool:
    """Tell whether one SCM of a class is left."""
    return Evidence(told, Rows.of(told.n, worlds)).count == 1


def _without_idle(told: Told, worlds: Sequence[Table]) -> list[Table]:
    """Leave out worlds that are not needed, the first ones chosen first."""
    kept = list(worlds)
    for world in worlds[1:]:
        fewer = [other for other in kept if other is not world]
        if is_unique(told, fewer):
            kept = fewer
    return kept


def _best_world(
    latent: Latent, stream: Stream, demands: Demands, avoided: Collection[int]
) -> Table:
    """Propose target sets, fill the most promising row by row, and return the best world."""
    subsets = [
        targets
        for size in range(1, MOST_TARGETS + 1)
        for targets in combinations(range(latent.n), size)
        if sum(1 << v for v in targets) not in avoided
    ]
    drafts = [
        _Draft(latent, targets, [stream.choice(LEVELS) for _ in range(ROOTS)])
        for targets in stream.sample(subsets, min(PROPOSED, len(subsets)))
    ]
    drafts.sort(key=lambda draft: -draft.promise(demands))
    filled = [draft.filled(demands) for draft in drafts[:SHORTLIST]]
    return max(filled, key=lambda pair: pair[0])[1]


class _Draft:
    """A world whose targets are chosen and whose assignments are not."""

    def __init__(self, latent: Latent, targets: Sequence[int], levels: Sequence[float]) -> None:
        self.latent, self.targets = latent, targets
        units, choices = latent.units, 1 << len(targets)
        size = units * choices
        columns = [0] * latent.n
        for root, column in zip(latent.order, latent.root_columns(levels), strict=False):
            columns[root] = sum(
                (column >> u & 1) * ((1 << choices) - 1) << (u * choices) for u in range(units)
            )
        free = [(1 << size) - 1] * latent.n
        for i, v in enumerate(targets):
            pattern = sum(1 << c for c in range(choices) if c >> i & 1)
            columns[v] = sum(pattern << (u * choices) for u in range(units))
            free[v] = 0
        seen = simulate(candidate_of(latent.formulas), columns, free, size)
        rows = [sum((column >> r & 1) << v for v, column in enumerate(seen)) for r in range(size)]
        self.rows = np.array(rows, dtype=np.int64).reshape(units, choices)

    def _patterns(self, demands: Demands, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([pattern_numbers(q, self.latent.n)[rows] for q in demands.sets])

    def _free(self, demands: Demands) -> NDArray[np.bool_]:
        clamped = sum(1 << v for v in self.targets)
        return np.asarray((clamped >> demands.variable & 1) == 0)

    def promise(self, demands: Demands) -> int:
        """Return what the units' best rows are worth, each on its own."""
        flat = self.rows.ravel()
        worth = demands.worth(flat, self._patterns(demands, flat), self._free(demands))
        return int(worth.reshape(self.rows.shape).max(axis=1).sum())

    def filled(self, demands: Demands) -> tuple[int, Table]:
        """Choose the assignment of one unit after the other; return the total and the world."""
        trial, free = demands.copied(), self._free(demands)
        total, chosen = 0, []
        for options in self.rows:
            patterns = self._patterns(demands, options)
            worth = trial.worth(options, patterns, free)
            best = int(worth.argmax())
            total += int(worth[best])
            chosen.append(int(options[best]))
            trial.add(chosen[-1], patterns[:, best], free)
        targets = sum(1 << v for v in self.targets)
        return total, Table.of(self.latent.n, targets, "hard_assigned", chosen)
