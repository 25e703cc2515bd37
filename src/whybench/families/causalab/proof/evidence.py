"""Find what readings force: every node's equation as a linear system, and the order they imply.

In a crystal, a property v obeys x_v = base + Σ_p w_p · x_p (and u_p · x_p² in quadratic systems).
The weights are the same in all crystals. The base is unknown until v is set; under `shift` it is
known from then on. Readings that share a base give differences, and known bases give whole
equations. All of them are linear in the weights. All crystals share the frequency's base. A
quantity that moves when v is set depends on v, so v cannot depend on it.

Weights and bases may be any real numbers. If readings are rounded, each equation holds only within
a bound, and weights below `WEAKEST` in size count as none; the prompt states this.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from whybench.causal.graph import members
from whybench.causal.linear import ContradictionError, only_solution
from whybench.families.causalab.proof.equations import (
    EXACT,
    HALF_UNIT,
    Array,
    Equations,
    Solution,
    columns_of,
    features,
    solve,
)
from whybench.families.causalab.world.world import DECIMALS, FREQUENCY, Reading, Readings, View

Pairs: TypeAlias = tuple[tuple[int, float, int | None], ...]
"""Equations of a node: a reading, and the known base or the reading to compare with."""

UNITS: int = 10**DECIMALS
"""Readings are multiples of one over this number."""
COUNTED = 1e9
"""Readings below this convert to whole numbers without rounding."""


class Evidence:
    """The view and the readings of an agent, and what follows from them.

    Results are cached here; `evidence_of` caches recent evidence.
    """

    def __init__(self, view: View, readings: Sequence[Reading]) -> None:
        self.view = view
        self.readings = tuple(readings)
        self._crystals = len({reading.crystal for reading in self.readings})
        self._counted = not (view.quadratic or view.rounded) and all(
            abs(x) < COUNTED and x == round(x, DECIMALS) for r in self.readings for x in r.values
        )
        self._rows: dict[int, Equations] = {}
        self._solved: dict[tuple[int, int], Solution] = {}
        self.inference: Inference | None = None
        """The result of `inferred`, once computed."""

    @cached_property
    def values(self) -> Array:
        """All readings, one per row."""
        values = np.array([reading.values for reading in self.readings], dtype=float)
        return values.reshape(-1, self.view.k)

    @cached_property
    def features(self) -> Array:
        """The features of all readings, one reading per row."""
        return features(self.values, self.view.quadratic)

    def may_cause(self, v: int) -> int:
        """Return the nodes that may cause v according to the prompt."""
        every = (1 << self.view.k) - 1 & ~(1 << v)
        return every & ~(1 << FREQUENCY) if self.view.sink else every

    def bases(self, v: int) -> list[tuple[float | None, Hashable]]:
        """Return, for each reading, v's base if it is known, otherwise a name for it.

        Readings with the same name share a base: those of one crystal between two settings of v,
        and all readings of the frequency.
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

    def pairs(self, v: int) -> Pairs:
        """Return v's equations: readings with a known base, or with an earlier one to compare."""
        first: dict[Hashable, int] = {}
        return tuple(
            (i, base, None) if base is not None else (i, 0.0, first[place])
            for i, (base, place) in enumerate(self.bases(v))
            if base is not None or first.setdefault(place, i) != i
        )

    def equations(self, v: int) -> Equations:
        """Return the equations of a node as arrays."""
        if v not in self._rows:
            self._rows[v] = self._gathered(v)
        return self._rows[v]

    def _gathered(self, v: int) -> Equations:
        pairs = self.pairs(v)
        rounding = HALF_UNIT if self.view.quadratic or self.view.rounded else 0.0
        left = self.features[[i for i, _, _ in pairs]]
        right = self.values[[i for i, _, _ in pairs], v]
        slack = np.full(len(pairs), rounding)
        for row, (_, base, first) in enumerate(pairs):
            if first is None:
                right[row] -= base
            else:
                left[row] -= self.features[first]
                right[row] -= self.values[first, v]
                slack[row] += rounding
        reference = self.readings[0] if v == FREQUENCY and self.readings else None
        noisy = self.view.rounded and not self.view.quadratic
        return Equations(left, right, slack, "rounded" if noisy else "exact", reference)

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
        key = v, parents
        if key not in self._solved:
            columns = columns_of(parents, self.view.k, self.view.quadratic)
            self._solved[key] = solve(self.equations(v), columns, self.view.k)
        return self._solved[key]

    def forced(self, v: int, causes: int) -> int | None:
        """Return v's parents if exactly one equation with causes among these fits, else None.

        The first reading of a crystal gives no equation, and neither does the first reading of the
        frequency. With too few other readings the result is None at once.
        """
        unknowns = causes.bit_count() * (2 if self.view.quadratic else 1)
        silent = 1 if v == FREQUENCY else self._crystals
        if len(self.readings) - silent < unknowns:
            return None
        if self._counted:
            try:
                return self._forced_exactly(v, list(members(causes)))
            except ContradictionError:
                pass  # readings of weights with many decimals are rounded
        solution = self.solved(v, causes)
        return solution.parents(self.view.k) if solution.unique else None

    def _forced_exactly(self, v: int, causes: list[int]) -> int | None:
        rows, asked = [], [*causes, v]
        for i, base, first in self.pairs(v):
            own = _counts(self.readings[i].values)
            if first is None:
                rows.append([*(own[p] for p in causes), own[v] - _count(base)])
            else:
                other = _counts(self.readings[first].values)
                rows.append([own[p] - other[p] for p in asked])
        found = only_solution(rows) if len(rows) >= len(causes) else None
        if found is None:
            return None
        return sum(1 << p for p, weight in zip(causes, found[0], strict=True) if weight)

    def moved_by(self) -> list[int]:
        """Return, for each node, the nodes that moved when it was set."""
        below = [0] * self.view.k
        before: dict[int, Readings] = {}
        for reading in self.readings:
            now, target = reading.values, reading.target
            if target is not None:
                for u, (new, old) in enumerate(zip(now, before[reading.crystal], strict=True)):
                    if abs(new - old) > EXACT and u != target:
                        below[target] |= 1 << u
            before[reading.crystal] = now
        return below


def _count(value: float) -> int:
    return round(value * UNITS)


@lru_cache(maxsize=1024)
def _counts(values: Readings) -> tuple[int, ...]:
    """Return readings as whole numbers of their last decimal."""
    return tuple(map(_count, values))


@lru_cache(maxsize=512)
def evidence_of(view: View, readings: tuple[Reading, ...]) -> Evidence:
    """Return evidence with its cached results; many episodes begin in the same way."""
    return Evidence(view, readings)


@dataclass(frozen=True, slots=True)
class Inference:
    """What follows from readings for every node."""

    causes: tuple[int, ...]
    """Nodes that may be causes of each node; its equation is solved with these."""
    below: tuple[int, ...]
    """Nodes that are known to depend on each node."""
    parents: tuple[int | None, ...]
    """The causes of each node whose equation is forced; None if it is not."""

    @property
    def settled(self) -> int:
        """The nodes whose equation is forced."""
        return sum(1 << v for v, parents in enumerate(self.parents) if parents is not None)

    @property
    def complete(self) -> bool:
        """Whether every equation is forced."""
        return None not in self.parents

    def edges(self) -> list[tuple[int, int]]:
        """Return the edges of all equations that are forced."""
        return [(p, v) for v, parents in enumerate(self.parents) for p in members(parents or 0)]


def inferred(evidence: Evidence) -> Inference:
    """Solve every node's equations, excluding causes that are known to be effects.

    The inference is sound: every forced equation holds in all laws of the class that give these
    readings. In each round, newly forced equations can show new dependences, which exclude further
    causes.
    """
    if evidence.inference is None:
        evidence.inference = _worked_out(evidence)
    return evidence.inference


def _worked_out(evidence: Evidence) -> Inference:
    k = evidence.view.k
    below = _closed(evidence.moved_by())
    causes: list[int] = [-1] * k
    parents: list[int | None] = [None] * k
    while True:
        known = list(below)
        for v in range(k):
            before, causes[v] = causes[v], evidence.may_cause(v) & ~below[v]
            if parents[v] is None and causes[v] != before:  # what is forced stays forced
                parents[v] = evidence.forced(v, causes[v])
            for p in members(parents[v] or 0):
                known[p] |= 1 << v
        known = _closed(known)
        if known == below:
            return Inference(tuple(causes), tuple(below), tuple(parents))
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
    """A predicted frequency of another crystal."""

    value: float
    forced: bool
    base: float
    """The base in the equation that was used."""
    error: float = 0.0
    """The most by which rounded readings can move the value."""
    not_free: bool = False
    """Whether every equation that fits gives the value, within the error."""


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
    forced = solution.fits and bool(loose <= EXACT * 100)
    view = evidence.view
    if not (view.rounded or view.quadratic):
        return Prediction(value, forced, base, not_free=forced)
    error = float(np.abs(step @ solution.spread).sum()) + 2 * HALF_UNIT * solution.size
    precise = error < view.tolerance or not view.rounded
    return Prediction(value, forced and precise, base, error, not_free=forced)
