"""A laboratory: which answers its experiments can show, and the best plan of experiments.

Systems that agree on every allowed design form a cell: no experiment distinguishes them. The label
of a cell is yes or no if all its systems give this answer, and `cannot` if they differ. So `cannot`
is a fact about the laboratory, not about what an agent happened to try. A laboratory has no hidden
input, and the same design always shows the same outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import log2

import numpy as np

from whybench.causal.experiments import Experiments
from whybench.causal.version_space import MOST_HELD, Design, Ints, Row, Space, System, VersionSpace
from whybench.families.prism.world.questions import masks, tally
from whybench.families.prism.world.world import Answer, Lab, Question, World


def allowed(space: Space, holdable: Sequence[int]) -> list[Design]:
    """Return the designs of a laboratory: all inputs, at most two variables held."""
    return [
        Design(targets, values | inputs)
        for size in range(MOST_HELD + 1)
        for held in combinations(holdable, size)
        for at in product((0, 1), repeat=size)
        for targets, values in [masks(tuple(zip(held, at, strict=True)))]
        for inputs in range(1 << space.roots)
    ]


class Closure(Experiments[Answer]):
    """The cells of a laboratory, as sets of bits."""

    def __init__(self, found: VersionSpace, question: Question, holdable: Sequence[int]) -> None:
        self.space, self.found = found.space, found
        self.designs = allowed(found.space, holdable)
        places = [found.space.tables.place[design] for design in self.designs]
        shown = found.codes[0][:, places]
        cells, self.cell = np.unique(shown, axis=0, return_inverse=True)
        self.cell = self.cell.reshape(-1)
        hits, total = tally(found, question, ())
        yes, cases = (np.bincount(self.cell, some) for some in (hits, total))
        labels: list[Answer] = [
            "no" if not a else "yes" if a == b else "cannot"
            for a, b in zip(yes, cases, strict=True)
        ]
        parts: list[dict[int, int]] = [{} for _ in self.designs]
        for part, column in zip(parts, cells.T.tolist(), strict=True):
            for c, code in enumerate(column):
                part[code] = part.get(code, 0) | 1 << c
        super().__init__(labels, np.bincount(self.cell).tolist(), parts)

    def after(self, state: int, row: Row) -> int:
        """Return the cells that also fit a trial of the laboratory."""
        design = self.space.design(row)
        return self.parts[self.designs.index(design)].get(row.values, 0) & state

    def cell_of(self, system: System) -> int:
        """Return the cell of a system."""
        number, roots = self.space.tables.number, self.space.roots
        rules = [number[v, rule] for v, rule in enumerate(system, roots)]
        return int(self.cell[int(np.flatnonzero((self.found.rules == rules).all(axis=1))[0])])

    def posterior(self, state: int, hits: Ints, total: Ints) -> Fraction:
        """Return the probability of yes, if only some cells are left."""
        some = np.array([state >> int(c) & 1 for c in self.cell], dtype=np.int64)
        return Fraction(int((hits * some).sum()), int((total * some).sum()))

    def bits(self, state: int) -> float:
        """Return the entropy of the label, if only some cells are left."""
        sizes = [self.weight(state & some) for some in self.of_label.values()]
        return sum(-size / sum(sizes) * log2(size / sum(sizes)) for size in sizes if size)


@lru_cache(maxsize=64)
def closure_for(
    space: Space, rows: tuple[Row, ...], question: Question, lab: Lab | None
) -> Closure:
    """Return the cells of a laboratory that opens with some trials; cached."""
    if lab is None:
        raise ValueError("this problem has no laboratory")
    found = VersionSpace.of(space, rows, 100_000)
    if found is None:
        raise ValueError("too many systems fit the opening of this laboratory")
    return Closure(found, question, lab.holdable)


def closure_of(world: World) -> Closure:
    """Return the cells of a world's laboratory; cached."""
    return closure_for(world.space, world.rows, world.question, world.lab)


def state_after(world: World, rows: Sequence[Row]) -> int:
    """Return the cells that fit the shown trials and further ones of the laboratory."""
    found = closure_of(world)
    state = found.every
    for row in rows[len(world.trials) :]:
        state = found.after(state, row)
    return state


def labels(world: World, rows: Sequence[Row]) -> frozenset[Answer]:
    """Return the labels that trials leave open: the shown trials, then those of the agent."""
    return closure_of(world).left(state_after(world, rows))


def posterior(world: World, rows: Sequence[Row]) -> Fraction:
    """Return the probability of yes, given the shown trials and those of the agent."""
    found, state = closure_of(world), state_after(world, rows)
    return found.posterior(state, *tally(found.found, world.question, rows))


def bits(world: World, rows: Sequence[Row]) -> float:
    """Return the entropy of the label, given the shown trials and those of the agent."""
    return closure_of(world).bits(state_after(world, rows))
