"""Sample a gold SCM and its units (the paper's Table B.1), and generate worlds from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from whybench.causal.boolean import (
    Tree,
    essential,
    formula_of,
    relabelled,
    render,
    truth_table,
)
from whybench.causal.canonical import digest
from whybench.causal.graph import members
from whybench.causal.seeds import Stream, words_below
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.minimal_formulas import tree as smallest_tree
from whybench.families.replayscm.world.replay import simulate
from whybench.families.replayscm.world.world import Mode, Table, names

SIZES = (6, 7, 8, 9, 10)
ROOTS = 3
BOUNDS = (2, 3, 3, *(4,) * 17)
"""The bound on parents, drawn uniformly from these: mostly 4, as in the paper."""
UNITS = (10, 11, 12)
LEVELS = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Shares of units whose root is 1: one is drawn for each root and world."""
MOST_TARGETS = 3
"""The most targets of a world whose assignments are chosen, not drawn."""
BIASES = (0.3, 0.5, 0.7)
"""Chances that a target assigned row by row is 1."""
_BIAS_WORDS: tuple[int, ...] = tuple(words_below(np.array(BIASES)).tolist())
"""A draw is below a bias exactly if its word is below this."""
AST = (3, 14)
DEPTH = (2, 6)
FLOORS = (3, 5, 6, 7)
"""Minimum sizes of formulas with three or more parents; one is drawn for each SCM."""
DEEPEST_DRAW = (3, 7)
LEAF = 0.35
BINARY = 0.8
"""Chance that an operator of two or more arguments has two; else it has three."""


@dataclass(frozen=True, slots=True)
class Latent:
    """A gold SCM, its disclosed bound on parents, and the units that fill its worlds."""

    n: int
    k: int
    order: tuple[int, ...]
    """Variables in a topological order, roots first."""
    formulas: tuple[str, ...]
    thresholds: tuple[tuple[float, ...], ...]
    """For each root (in the order) one number for each unit; below a world's level it is 1."""

    @property
    def roots(self) -> int:
        """The set of roots."""
        return sum(1 << v for v in self.order[:ROOTS])

    @property
    def own(self) -> tuple[int, ...]:
        """The endogenous variables, in order."""
        return self.order[ROOTS:]

    @property
    def units(self) -> int:
        """The number of rows of a world."""
        return len(self.thresholds[0])

    @property
    def name(self) -> str:
        """Names the SCM."""
        return digest([self.order, self.formulas]).hex()[:12]

    def window(self, v: int) -> tuple[int, ...]:
        """Return the last k variables before v, from which its parents were drawn."""
        at = self.order.index(v)
        return self.order[max(0, at - self.k) : at]

    def root_columns(self, levels: Sequence[float]) -> list[int]:
        """Return the roots' columns in a world with these levels, one for each root."""
        return [_below(row, level) for row, level in zip(self.thresholds, levels, strict=True)]

    def see(self, set_to: Mapping[int, int], mode: Mode, levels: Sequence[float]) -> Table:
        """Return the world in which targets are set to columns and everything else follows."""
        columns = [0] * self.n
        for root, column in zip(self.order, self.root_columns(levels), strict=False):
            columns[root] = column
        every = (1 << self.units) - 1
        free = [every] * self.n
        for v, column in set_to.items():
            columns[v], free[v] = column, 0
        seen = simulate(candidate_of(self.formulas), columns, free, self.units)
        targets = sum(1 << v for v in set_to)
        return Table(targets, mode, self.units, tuple(seen))


def sample_latent(stream: Stream, sizes: Sequence[int] = SIZES) -> Latent:
    """Draw a gold SCM: roots first, parents from the last k before, formulas by random trees."""
    n, k = stream.choice(sizes), stream.choice(BOUNDS)
    order = stream.shuffled(range(n))
    while order == sorted(order):
        order = stream.shuffled(range(n))
    formulas = [""] * n
    floor = stream.choice(FLOORS)
    for at in range(ROOTS, n):
        window = order[max(0, at - k) : at]
        count = 2 + stream.below(min(k, len(window)) - 1)
        parents = sorted(stream.sample(window, count))
        formulas[order[at]] = render(_mechanism(stream, parents, floor), names(n))
    units = stream.choice(UNITS)
    thresholds = tuple(tuple(stream.uniform() for _ in range(units)) for _ in range(ROOTS))
    return Latent(n, k, tuple(order), tuple(formulas), thresholds)


def _mechanism(stream: Stream, parents: Sequence[int], floor: int) -> Tree:
    """Draw a function by random trees until all parents matter; return its smallest formula.

    Functions of two parents have only small formulas, so the minimum size applies from three
    parents on. No function is ever replaced by another because it was not found.
    """
    count = len(parents)
    least = floor if count > 2 else AST[0]
    while True:
        deepest = DEEPEST_DRAW[0] + stream.below(DEEPEST_DRAW[1] - DEEPEST_DRAW[0] + 1)
        truth = truth_table(formula_of(_tree(stream, count, deepest)), 4)
        if essential(truth, 4) != (1 << count) - 1:
            continue
        made = smallest_tree(truth)
        formula = formula_of(made)
        if least <= formula.size <= AST[1] and DEPTH[0] <= formula.depth <= DEPTH[1]:
            return relabelled(made, parents)


def _tree(stream: Stream, inputs: int, deepest: int) -> Tree:
    if deepest == 1 or stream.uniform() < LEAF:
        return stream.below(inputs)
    operator = stream.choice(("not", "and", "or", "xor", "iff"))
    arity = 1 if operator == "not" else 2 if stream.uniform() < BINARY else 3
    return (operator, *(_tree(stream, inputs, deepest - 1) for _ in range(arity)))


@dataclass(frozen=True, slots=True)
class Odds:
    """How interventions are drawn."""

    sizes: tuple[float, float, float] = (0.1, 0.45, 0.45)
    """Chances of one, two and three targets."""
    constant: float = 0.2
    """Chance that the targets are set to one value each for the whole world."""


Signature = tuple[str, int, tuple[int, ...]]
"""Mode, targets, and constant values."""


class Intervention(NamedTuple):
    """An intervention on an SCM: targets with their columns, in rising order, and root levels."""

    set_to: Mapping[int, int]
    mode: Mode
    levels: Sequence[float]

    @property
    def targets(self) -> int:
        """The set of targets."""
        return sum(1 << v for v in self.set_to)

    @property
    def signature(self) -> Signature:
        """The key for equality with another: `signature` of the world that it produces."""
        constants: tuple[int, ...] = ()
        if self.mode == "hard_constant":
            constants = tuple(column & 1 for column in self.set_to.values())
        return self.mode, self.targets, constants

    def on(self, latent: Latent) -> Table:
        """Return the world that it produces."""
        return latent.see(self.set_to, self.mode, self.levels)


def sample_intervention(
    latent: Latent, tape: Tape, odds: Odds, focus: int | None = None
) -> Intervention:
    """Draw an intervention; `focus` is a target that must be among them."""
    u = tape.uniform()
    size = 1 + (u >= odds.sizes[0]) + (u >= odds.sizes[0] + odds.sizes[1])
    targets = tape.shuffled(range(latent.n))[:size]
    if focus is not None and focus not in targets:
        targets.append(focus)
    targets.sort()
    levels = tape.choices(LEVELS, ROOTS)
    units = len(latent.thresholds[0])
    if tape.uniform() < odds.constant:
        every = (1 << units) - 1
        constants = {v: every * tape.below(2) for v in targets}
        return Intervention(constants, "hard_constant", levels)
    return Intervention({v: assigned(units, tape) for v in targets}, "hard_assigned", levels)


def sample_world(latent: Latent, tape: Tape, odds: Odds, focus: int | None = None) -> Table:
    """Draw an intervention and return its world; `focus` is a target that must be among them."""
    return sample_intervention(latent, tape, odds, focus).on(latent)


def assigned(units: int, tape: Tape) -> int:
    """Draw a value for each unit; both values occur."""
    column = tape.under(_BIAS_WORDS[tape.below(len(BIASES))], units)
    if column in (0, (1 << units) - 1):
        column ^= 1 << tape.below(units)
    return column


@lru_cache(maxsize=1024)
def _below(thresholds: tuple[float, ...], level: float) -> int:
    """Return the units whose threshold is below a level."""
    return sum(1 << unit for unit, threshold in enumerate(thresholds) if threshold < level)


def observational(latent: Latent) -> Table:
    """Return the first world of every problem: no intervention, all levels in the middle."""
    return latent.see({}, "none", [0.5] * ROOTS)


def signature(table: Table) -> Signature:
    """Return the key for equality of interventions: mode, targets, and constant values."""
    constants: tuple[int, ...] = ()
    if table.mode == "hard_constant":
        constants = tuple(table.columns[v] & 1 for v in members(table.targets))
    return table.mode, table.targets, constants
