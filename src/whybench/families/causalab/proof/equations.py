"""Solve a node's equations in floating point, with error bounds for rounded readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import members
from whybench.families.causalab.world.world import DECIMALS, Reading

Array = NDArray[np.float64]

EXACT = 1e-7
"""Largest relative floating-point error with exact readings."""
HALF_UNIT = 0.5 * 10.0**-DECIMALS
"""Largest rounding error of a reading."""
RESOLVED = (0.05, 0.0005)
"""Required precision of linear and square weights if readings are rounded: half of the weakest
linear effect."""
HOPELESS = 1e12
"""The error bound of weights that rounded readings do not bound."""


@dataclass(frozen=True, slots=True)
class Equations:
    """The linear equations of one node: `left` · weights = `right`, each within `slack`.

    If the causes are `rounded` too, `left` is only known within `slack`, and an equation holds
    within `slack` · (1 + the sum of its weights' sizes).
    """

    left: Array
    right: Array
    slack: Array
    causes: Literal["exact", "rounded"]
    reference: Reading | None = None
    """The first reading of the frequency, which all others are compared with."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The weights that solve a node's equations with given parents."""

    fits: bool
    unique: bool
    weights: Array
    """Weight of every node (and of its square); the shortest solution, if not unique."""
    error: Array
    """Error bound of each weight from rounded readings."""
    free: Array
    """Directions, one per row, in which the weights can move without changing a reading."""
    spread: Array
    """How far the slack of each equation, in its column, can move each weight."""
    size: float = 1.0
    """A bound on 1 + the sum of the weights' sizes, if causes are rounded."""

    def parents(self, k: int) -> int:
        """Return the nodes with a weight that cannot be zero."""
        solid = np.abs(self.weights) > np.maximum(self.error, EXACT * 10)
        return sum(1 << p for p in {c % k for c in solid.nonzero()[0].tolist()})


def features(values: Array, quadratic: bool) -> Array:
    """Return the features: the values, and in quadratic systems their squares."""
    return np.concatenate([values, values**2], axis=-1) if quadratic else values


def columns_of(parents: int, k: int, quadratic: bool) -> list[int]:
    """Return the features of some nodes."""
    own = list(members(parents))
    return own + [k + p for p in own] if quadratic else own


def solve(equations: Equations, columns: list[int], k: int) -> Solution:
    """Solve linear equations for some weights; the others are zero, squares come after k."""
    width = equations.left.shape[1]
    weights, error = np.zeros(width), np.zeros(width)
    part = equations.left[:, columns]
    if not columns:
        fits = bool((np.abs(equations.right) <= _slack(equations)).all())
        nothing = np.zeros((width, len(part)))
        return Solution(fits, True, weights, error, np.zeros((0, width)), nothing)
    if not len(part):
        free = np.zeros((len(columns), width))
        free[range(len(columns)), columns] = 1.0
        return Solution(True, False, weights, error, free, np.zeros((width, 0)))
    noisy = equations.causes == "rounded"
    scale = np.ones(len(columns)) if noisy else np.abs(part).max(axis=0)
    scale[scale == 0] = 1.0
    u, sizes, v = np.linalg.svd(part / scale, full_matrices=True)
    least = EXACT * 10 * max(part.shape) * max(sizes[0], 1e-300)
    if noisy:  # rounding alone can give singular values up to this
        least = max(least, float(np.linalg.norm(equations.slack)) * len(columns) ** 0.5)
    rank = int((sizes > least).sum())
    inverse = (v[:rank].T / sizes[:rank]) @ u[:, :rank].T / scale[:, None]
    found = inverse @ equations.right
    weights[columns] = found
    free = np.zeros((len(columns) - rank, width))
    free[:, columns] = v[rank:] / scale
    size = np.abs(part)
    off = np.abs(part @ found - equations.right)
    allowed = EXACT * (1 + np.abs(equations.right) + size @ np.abs(found))
    unique = rank == len(columns)
    spread, bound = np.zeros((width, len(part))), 1.0
    if equations.slack.any():
        slack = equations.slack
        if noisy:
            bound = _bound(inverse, slack, found)
            slack = slack * bound
            if not unique:  # directions that rounding hides may have a weight too
                allowed = allowed + np.abs(u[:, rank : len(sizes)]) @ sizes[rank:] * bound
        spread[columns] = inverse * slack
        error[columns] = np.abs(spread[columns]).sum(axis=1)
        allowed = slack + size @ error[columns] + allowed
        fine = np.where(np.array(columns) < k, *RESOLVED)
        unique = unique and bool((error[columns] < fine).all())
    return Solution(bool((off <= allowed).all()), unique, weights, error, free, spread, bound)


def _bound(inverse: Array, slack: Array, found: Array) -> float:
    """Return a bound on m = 1 + Σ |w| for every w that fits within slack · m.

    Such a w is within |inverse| · slack · m of the weights found, so
    m ≤ 1 + Σ |found| + G · m, where G sums |inverse| · slack.
    """
    gain = float((np.abs(inverse) @ slack).sum())
    return (1 + float(np.abs(found).sum())) / (1 - gain) if gain < 1 else HOPELESS


def _slack(equations: Equations) -> Array:
    return equations.slack + EXACT * (1 + np.abs(equations.right))
