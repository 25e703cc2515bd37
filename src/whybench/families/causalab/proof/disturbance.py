"""Find what readings force under a hidden disturbance of known size and unknown place.

After every intervention the disturbance is −s, 0 or +s. If it does not shift a node, the node's
equations hold exactly. If it does, each reading's equation is off by one of three numbers. A few
readings, with one guess out of three for each, fix the weights. All other readings must then be off
by one of the three numbers too. This leaves a short list of possible equations, and the search is
complete.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.families.causalab.proof.equations import EXACT, Array
from whybench.families.causalab.proof.evidence import Evidence
from whybench.families.causalab.world.world import FREQUENCY

Flags = NDArray[np.bool_]

NEAR = 1e-6
"""Two numbers with a smaller relative difference count as equal."""


@dataclass(frozen=True, slots=True)
class Option:
    """One equation that a node may have."""

    weights: tuple[float, ...]
    """Weight of every node."""
    base: float
    """For the frequency: its base."""
    moved: bool
    """Whether the node would be moved by the disturbance."""
    shifts: tuple[int, ...] = ()
    """The sign of the disturbance at each reading, as far as this node shows it."""

    def parents(self) -> int:
        """Return the nodes with a weight."""
        return sum(1 << p for p, w in enumerate(self.weights) if abs(w) > 1e-5)


@dataclass(frozen=True, slots=True)
class Options:
    """All equations that a node may have; `open_` if there are infinitely many."""

    found: tuple[Option, ...]
    open_: bool

    @property
    def settled(self) -> bool:
        """Whether all of them have the same weights."""
        return not self.open_ and len({option.weights for option in self.found}) == 1

    def best(self) -> Option | None:
        """Return the likeliest equation: undisturbed before disturbed, few parents before many."""
        if not self.found:
            return None
        return min(self.found, key=lambda o: (o.moved, o.parents().bit_count(), o.weights))


def options(evidence: Evidence, v: int, size: float) -> Options:
    """Return every equation that node v may have, with or without the disturbance."""
    view = evidence.view
    left, right, noisy = _equations(evidence, v)
    columns = list(members(evidence.may_cause(v)))
    keep = [*columns, *range(view.k, left.shape[1])]
    part = left[:, keep]
    pivots = _pivots(part, noisy)
    if len(pivots) < part.shape[1]:
        return Options((), True)
    inverse = np.linalg.inv(part[pivots])
    found: dict[tuple[float, ...], Option] = {}
    movable = v != FREQUENCY or view.frequency_disturbed
    choices = [(-1, 0, 1) if noisy[p] and movable else (0,) for p in pivots]
    guesses = np.array(list(product(*choices)), dtype=float)
    solutions = (right[pivots] - size * guesses) @ inverse.T
    off = right[None, :] - solutions @ part.T
    scale = NEAR * (1 + np.abs(right)[None, :] + np.abs(solutions) @ np.abs(part).T)
    signs = np.round(off / size)
    fits = (np.abs(off - signs * size) <= scale) & (np.abs(signs) <= 1)
    fits &= noisy[None, :] | (signs == 0)
    for i in np.flatnonzero(fits.all(axis=1)).tolist():
        weights = [0.0] * view.k
        for column, value in zip(columns, solutions[i], strict=False):
            weights[column] = round(float(value), 9) + 0.0
        base = float(solutions[i][len(columns)]) if v == FREQUENCY else 0.0
        shifts = tuple(int(sign) for sign in signs[i])
        option = Option(tuple(weights), base, any(shifts), shifts)
        key = (*option.weights, float(option.moved))
        found.setdefault(key, option)
    return Options(tuple(found.values()), False)


def _equations(evidence: Evidence, v: int) -> tuple[Array, Array, Flags]:
    """Return each reading as an equation; unknown bases are additional unknowns.

    A reading that shares its unknown base with no other is left out, because it says nothing.
    """
    grounds = evidence.bases(v)
    shared = Counter(place for base, place in grounds if base is None)
    places = [place for place, count in shared.items() if count > 1]
    used = [i for i, (base, place) in enumerate(grounds) if base is not None or shared[place] > 1]
    own = np.array(
        [[float(grounds[i] == (None, place)) for place in places] for i in used]
    ).reshape(len(used), len(places))
    right = np.array([evidence.values[i, v] - (grounds[i][0] or 0.0) for i in used])
    noisy = np.array([not evidence.readings[i].passive for i in used], dtype=bool)
    return np.concatenate([evidence.values[used], own], axis=1), right, noisy


def _pivots(part: Array, noisy: Flags) -> list[int]:
    """Choose equations that fix all unknowns: undisturbed ones first, then the strongest."""
    scale = np.abs(part).max(axis=0, initial=0.0)
    scale[scale == 0] = 1.0
    rest = part / scale
    chosen: list[int] = []
    for allowed in (~noisy, np.ones(len(noisy), dtype=bool)):
        while len(chosen) < part.shape[1]:
            norms = np.where(allowed, (rest**2).sum(axis=1), 0.0)
            best = int(norms.argmax()) if len(norms) else 0
            if not len(norms) or norms[best] <= EXACT:
                break
            direction = rest[best] / np.sqrt(norms[best])
            rest = rest - np.outer(rest @ direction, direction)
            chosen.append(best)
    return chosen
