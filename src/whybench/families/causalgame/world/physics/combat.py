"""A fight, for all drones at once.

One uniform number decides a round. With hit probability p, u < p is a hit, and given a hit, u / p
is uniform again. Let the weights of the components that were intact when the fight began be whole
units that sum to W. Then x = u · (W / p) falls into one of W equal cells. The cell gives the
target, and the rest f of x is uniform once more: a hit is critical if f is below the probability c
of a critical hit. The remainder, f / c or (f − c) / (1 − c), spreads the damage. Each step
conditions a uniform number on an interval for which it was tested, so hits, targets, critical hits
and damages have exactly the distribution of independent draws. Of 53 bits, at least 40 are left for
the damage, which has 42 values.

Damage to a component is summed over the whole fight and mitigated once. The mitigated damage never
shrinks as the sum grows, so a drone that is lost halfway stays lost. Rounds are therefore evaluated
in blocks, and later blocks only for drones that are still flying. Only hits on critical components
can lose a drone. Their cells come first (as they do on every sheet), so that one comparison sets
the others aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from whybench.causal.seeds import uniforms_of, words_below
from whybench.families.causalgame.world.fleet import Bools, Floats, Ints, Words
from whybench.families.causalgame.world.physics.formulas import (
    Combat,
    Formulas,
    between,
    mitigated,
    whole,
)

_BLOCK = 6
"""Rounds of the first block; each block ends three times as far as the one before."""

_SLACK = 1 + 1e-9
"""Hits are set aside with so much to spare that rounding cannot set a wrong one aside."""

Places = tuple[int, ...]
"""Components by their place on the sheet."""


class _Cells(NamedTuple):
    """For each set of whole components, as bits: how numbers fall on them."""

    total: Ints
    """W, the number of cells."""
    vital: Ints
    """The number of cells of critical components; they come first."""
    rows: Ints
    """Set × cell: which critical component it is; one more than there are: another component."""


@cache
def _cells(weights: tuple[int, ...], critical: Places) -> _Cells:
    """Return the cells; the last is repeated, for a number that was rounded up to W."""
    k, width = len(weights), sum(weights) + 1
    order = (*critical, *(place for place in range(k) if place not in critical))
    total, vital = np.zeros(1 << k, dtype=np.int64), np.zeros(1 << k, dtype=np.int64)
    rows = np.zeros((1 << k, width), dtype=np.int64)
    for members in range(1, 1 << k):
        cells = [
            min(row, len(critical))
            for row, place in enumerate(order)
            if members >> place & 1
            for _ in range(weights[place])
        ]
        total[members] = len(cells)
        vital[members] = sum(row < len(critical) for row in cells)
        rows[members] = cells + cells[-1:] * (width - len(cells))
    return _Cells(total, vital, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Fight:
    """Drones under attack; arrays have one entry for each drone unless said otherwise."""

    words: Words
    """Drone × round: the words of the numbers that decide the rounds."""
    chance: Floats
    """The chance that a round hits."""
    rounds: Ints
    modifier: Floats
    """Multiplies damage."""
    hp: Ints
    """Component × drone, as the fight begins."""

    def hits(self) -> Bools:
        """Return which rounds hit, drone × round."""
        found: Bools = self.words < words_below(self.chance)[:, None]
        found &= np.arange(self.words.shape[1]) < self.rounds[:, None]
        return found

    def losses(
        self, formulas: Formulas, names: Sequence[str], hit: Bools, critical: Places, defs: Ints
    ) -> Bools:
        """Return which drones lose a critical component."""
        places = list(critical)
        lost = np.zeros(len(self.chance), dtype=np.bool_)
        drones, rounds = np.arange(len(lost)), self.rounds
        blows = self._blows(formulas.combat, names, hit, critical)
        hp, armour = self.hp[places], defs[places, None]
        raw = np.zeros((len(places), len(lost)), dtype=np.int64)
        start, end = 0, _BLOCK
        while drones.size:
            raw += blows.damage(formulas.combat, start, end)
            down = (mitigated(formulas.mitigation, raw, armour) >= hp).any(axis=0)
            lost[drones[down]] = True
            going = np.flatnonzero(~down & (rounds > end))
            drones, rounds, blows = drones[going], rounds[going], blows.of(going)
            hp, raw = hp[:, going], raw[:, going]
            start, end = end, 3 * end
        return lost

    def _blows(self, combat: Combat, names: Sequence[str], hit: Bools, critical: Places) -> _Blows:
        weights = tuple(combat.units[name] for name in names)
        cells = _cells(weights, critical)
        members = np.zeros(len(self.chance), dtype=np.int64)
        for place, hp in enumerate(self.hp):
            members += (hp > 0) * (1 << place)
        total = cells.total[members]
        return _Blows(
            self.words,
            hit,
            words_below(self.chance * _SLACK * cells.vital[members] / total),
            total / self.chance,
            members * cells.rows.shape[1],
            self.modifier,
            cells.rows,
            len(critical),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Blows:
    """The rounds of drones that still stand."""

    words: Words
    hit: Bools
    vital: Words
    """Words from here on hit no critical component."""
    scale: Floats
    """W / p."""
    base: Ints
    """Where the cells of each drone's whole components begin."""
    modifier: Floats
    rows: Ints
    k: int
    """The number of critical components."""

    def of(self, drones: Ints) -> _Blows:
        """Return the rounds of some of the drones."""
        return _Blows(
            self.words[drones],
            self.hit[drones],
            self.vital[drones],
            self.scale[drones],
            self.base[drones],
            self.modifier[drones],
            self.rows,
            self.k,
        )

    def damage(self, combat: Combat, start: int, end: int) -> Ints:
        """Return the raw damage of some rounds, critical component × drone."""
        n, words = len(self.words), self.words[:, start:end]
        hit = words < self.vital[:, None]
        hit &= self.hit[:, start:end]
        drone = np.repeat(np.arange(n), hit.sum(axis=1))
        x = uniforms_of(words[hit])
        x *= self.scale[drone]
        cell = whole(x)
        x -= cell
        cell += self.base[drone]
        c = combat.critical_chance
        critical = x < c
        x = np.where(critical, x / c, (x - c) / (1 - c))
        damage = whole(combat.damage * between(x, combat.spread))
        damage *= np.where(critical, combat.critical_factor, 1)
        damage = whole(damage * self.modifier[drone])
        target = self.rows.ravel()[cell]
        target *= n
        target += drone
        raw = np.bincount(target, weights=damage, minlength=(self.k + 1) * n)
        return whole(raw[: self.k * n]).reshape(self.k, n)
