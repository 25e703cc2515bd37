"""What readings force: every node's equation as a linear system, and the order they imply.

In a crystal, a property v obeys x_v = base + Σ_p w_p · x_p (and u_p · x_p² in quadratic worlds).
The weights are the same everywhere; the base is unknown until v is set, and under `shift` known
from then on. So readings that share a base give differences, and known bases give whole equations,
all linear in the weights. The frequency's base is shared by all crystals. Nothing else is used:
weights and bases may be any real numbers. What moves when v is set depends on v, so v cannot
depend on it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whybench.core.graph import members
from whybench.families.causalab.world import DECIMALS, FREQUENCY, Reading, View

Array = NDArray[np.float64]

EXACT = 1e-7
"""Relative error that exact readings may leave in floating point."""
HALF_UNIT = 0.5 * 10.0**-DECIMALS
"""The most that rounding moves a reading in quadratic worlds."""
RESOLVED = (0.05, 0.0005)
"""Where readings are rounded: a weight, and a weight of a square, must be known as well as this."""


@dataclass(frozen=True, slots=True)
class Equations:
    """The linear equations of one node: `left` · weights = `right`, each within `slack`."""

    left: Array
    right: Array
    slack: Array
    reference: Reading | None = None
    """The first reading of the frequency, which all others are compared with."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The weights that solve a node's equations with given parents."""

    fits: bool
    unique: bool
    weights: Array
    """Weight of every node (and of every node's square); the shortest one, if not unique."""
    error: Array
    """How far off each weight can be because readings are rounded."""
    free: Array
    """Directions, one a row, in which the weights may move without a trace."""

    def parents(self, k: int) -> int:
        """Return the nodes with a weight that cannot be zero."""
        solid = np.abs(self.weights) > np.maximum(self.error, EXACT * 10)
        return sum(1 << p for p in range(k) if solid[p::k].any())


class Evidence:
    """Readings under what an agent is told, and what follows from them."""

    def __init__(self, view: View, readings: Sequence[Reading]) -> None:
        self.view = view
        self.readings = tuple(readings)
        self._rows: dict[int, Equations] = {}
        self.inference: Inference | None = None
        """What follows, once it has been worked out."""
        values = np.array([reading.values for reading in self.readings], dtype=float)
        self.values = values.reshape(-1, view.k)
        self.features = features(self.values, view.quadratic)

    def may_cause(self, v: int) -> int:
        """Return the nodes that may be causes of v as far as it is told."""
        every = (1 << self.view.k) - 1 & ~(1 << v)
        return every & ~(1 << FREQUENCY) if self.view.sink else every

    def equations(self, v: int) -> Equations:
        """Return the equations of a node."""
        if v not in self._rows:
            self._rows[v] = self._gathered(v)
        return self._rows[v]

    def bases(self, v: int) -> list[tuple[float | None, Hashable]]:
        """Return, for each reading, v's base if it is known, and a name for it if it is not.

        Readings with the same name share a base: those of one crystal between two settings of v,
        and of the frequency all.
        """
        known: dict[int, float] = {}
        since: dict[int, int] = {}
        found: list[tuple[float | None, Hashable]] = []
        for i, reading in enumerate(self.readings):
            if reading.target == v:
                since[reading.crystal] = i
                if self.view.semantics == "shift":
                    known[reading.crystal] = reading.setting
            place = (reading.crystal, since.get(reading.crystal, -1))
            found.append((known.get(reading.crystal), "all" if v == FREQUENCY else place))
        return found

    def _gathered(self, v: int) -> Equations:
        left, right, slack = [], [], []
        reference: dict[Hashable, int] = {}
        rounding = HALF_UNIT if self.view.quadratic else 0.0
        for i, (base, place) in enumerate(self.bases(v)):
            if base is not None:
                left.append(self.features[i])
                right.append(self.values[i, v] - base)
                slack.append(rounding)
                continue
            first = reference.setdefault(place, i)
            if first != i:
                left.append(self.features[i] - self.features[first])
                right.append(self.values[i, v] - self.values[first, v])
                slack.append(2 * rounding)
        width = self.features.shape[1]
        return Equations(
            np.array(left, dtype=float).reshape(-1, width),
            np.array(right, dtype=float),
            np.array(slack, dtype=float),
            self.readings[0] if v == FREQUENCY and self.readings else None,
        )

    def has_known_base(self, v: int) -> bool:
        """Tell whether the manipulator's crystal has a known base for v."""
        return self.view.semantics == "shift" and any(
            r.target == v for r in self.readings if r.crystal == self.view.baseline.crystal
        )

    def last_reference(self, v: int) -> int:
        """Return the reading that a new one of the manipulator's crystal is compared with."""
        own = [
            i
            for i, r in enumerate(self.readings)
            if r.crystal == self.view.baseline.crystal and (r.passive or r.target == v)
        ]
        return 0 if v == FREQUENCY else own[-1]

    def solved(self, v: int, parents: int) -> Solution:
        """Solve a node's equations with parents among those given."""
        found = self.equations(v)
        return solve(found, _columns(parents, self.view.k, self.view.quadratic), self.view.k)

    def moved_by(self) -> list[int]:
        """Return, for each node, the nodes that moved when it was set."""
        below = [0] * self.view.k
        before: dict[int, int] = {}
        for i, reading in enumerate(self.readings):
            if reading.target is not None:
                moved = np.abs(self.values[i] - self.values[before[reading.crystal]]) > EXACT
                below[reading.target] |= sum(1 << u for u in np.flatnonzero(moved).tolist())
                below[reading.target] &= ~(1 << reading.target)
            before[reading.crystal] = i
        return below


def features(values: Array, quadratic: bool) -> Array:
    """Return what equations are linear in: the values, and in quadratic worlds their squares."""
    return np.concatenate([values, values**2], axis=-1) if quadratic else values


def _columns(parents: int, k: int, quadratic: bool) -> list[int]:
    own = list(members(parents))
    return own + [k + p for p in own] if quadratic else own


def solve(equations: Equations, columns: list[int], k: int) -> Solution:
    """Solve linear equations for some weights, the others being zero; squares come after k."""
    width = equations.left.shape[1]
    weights, error = np.zeros(width), np.zeros(width)
    part = equations.left[:, columns]
    if not columns:
        fits = bool((np.abs(equations.right) <= _slack(equations)).all())
        return Solution(fits, True, weights, error, np.zeros((0, width)))
    if not len(part):
        free = np.zeros((len(columns), width))
        free[range(len(columns)), columns] = 1.0
        return Solution(True, False, weights, error, free)
    scale = np.abs(part).max(axis=0)
    scale[scale == 0] = 1.0
    u, sizes, v = np.linalg.svd(part / scale, full_matrices=True)
    rank = int((sizes > EXACT * 10 * max(part.shape) * max(sizes[0], 1e-300)).sum())
    inverse = (v[:rank].T / sizes[:rank]) @ u[:, :rank].T / scale[:, None]
    found = inverse @ equations.right
    weights[columns] = found
    error[columns] = np.abs(inverse) @ equations.slack
    free = np.zeros((len(columns) - rank, width))
    free[:, columns] = v[rank:] / scale
    off = np.abs(part @ found - equations.right)
    spread = equations.slack + np.abs(part) @ error[columns]
    allowed = spread + EXACT * (1 + np.abs(equations.right) + np.abs(part) @ np.abs(found))
    fine = np.where(np.array(columns) < k, *RESOLVED)
    resolved = rank == len(columns) and bool((error[columns] < fine).all())
    return Solution(bool((off <= allowed).all()), resolved, weights, error, free)


def _slack(equations: Equations) -> Array:
    return equations.slack + EXACT * (1 + np.abs(equations.right))


@dataclass(frozen=True, slots=True)
class Inference:
    """What follows from readings for every node."""

    solutions: tuple[Solution, ...]
    below: tuple[int, ...]
    """Nodes that are known to depend on each node."""
    k: int

    @property
    def settled(self) -> int:
        """The nodes whose equation is forced."""
        return sum(1 << v for v, solution in enumerate(self.solutions) if solution.unique)

    @property
    def complete(self) -> bool:
        """Whether every equation is forced."""
        return self.settled == (1 << self.k) - 1

    def edges(self) -> list[tuple[int, int]]:
        """Return the edges of all equations that are forced."""
        return [
            (p, v)
            for v, solution in enumerate(self.solutions)
            if solution.unique
            for p in members(solution.parents(self.k))
        ]


def inferred(evidence: Evidence) -> Inference:
    """Solve every node's equations, excluding causes that are known to be effects.

    Sound: whatever is settled holds in every world of the class that shows these readings. Each
    round may learn new dependences from newly settled equations, which exclude further causes.
    """
    if evidence.inference is not None:
        return evidence.inference
    k = evidence.view.k
    below = _closed(evidence.moved_by())
    while True:
        solutions = tuple(evidence.solved(v, evidence.may_cause(v) & ~below[v]) for v in range(k))
        known = list(below)
        for v, solution in enumerate(solutions):
            if solution.unique:
                for p in members(solution.parents(k)):
                    known[p] |= 1 << v
        known = _closed(known)
        if known == below:
            evidence.inference = Inference(solutions, tuple(below), k)
            return evidence.inference
        below = known


def _closed(below: Sequence[int]) -> list[int]:
    reach = list(below)
    for middle in range(len(reach)):
        for v in range(len(reach)):
            if reach[v] >> middle & 1:
                reach[v] |= reach[middle] & ~(1 << v)
    return reach


@dataclass(frozen=True, slots=True)
class Prediction:
    """A frequency that equations give for another crystal."""

    value: float
    forced: bool
    base: float
    """The frequency's base in the equation that was used."""


def predicted(evidence: Evidence, solution: Solution, shown: Sequence[float]) -> Prediction:
    """Return the frequency of a crystal with these properties, and whether it is forced."""
    reference = evidence.equations(FREQUENCY).reference
    if reference is None:
        return Prediction(0.0, False, 0.0)
    quadratic = evidence.view.quadratic
    here = features(np.array(shown, dtype=float), quadratic)
    there = features(np.array(reference.values, dtype=float), quadratic)
    there[FREQUENCY :: evidence.view.k] = here[FREQUENCY :: evidence.view.k] = 0.0
    step = here - there
    value = reference.values[FREQUENCY] + float(solution.weights @ step)
    base = reference.values[FREQUENCY] - float(solution.weights @ there)
    loose = np.abs(solution.free @ step).max(initial=0.0)
    return Prediction(value, solution.fits and bool(loose <= EXACT * 100), base)
