"""Credits in an exam, given and right, and the mean credits that fit a judge's mean score.

The exam shows, for each kind of element, the credit x that it deserves and the mean credit y that
the judge gives. A sample with shares p of the kinds has the mean score sum p y and deserves sum p
x: a point in the convex hull of the kinds' points. The credits that a sample with a given mean
score may deserve are therefore the slice of the hull at that height. The slice is one point if the
judge's error lies on a line. It is wide if the judge gives the same credit to elements that deserve
different credits, because then no mean can distinguish them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DIGITS = 9
"""Means closer than this are equal."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """A credit that is right, the credit that was given, and how much they weigh."""

    right: float
    given: float
    weight: float = 1.0
    kind: str = ""
    """The pass of the element, and the credit of its key; elements of one kind are alike."""


Points = Mapping[str, Sequence[Sequence[Point]]]
"""Score by name → papers → points: one for each element, or one for the paper (F1)."""


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 if both are.

    >>> f1(0.5, 0.5), f1(0.0, 0.0)
    (0.5, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def kind_sums(exam: Sequence[Sequence[Point]]) -> Floats:
    """Return, for papers and kinds, the weight and the weighted sums of right and given credit."""
    kinds = sorted({_kind(point) for paper in exam for point in paper if point.weight > 0})
    place = {kind: at for at, kind in enumerate(kinds)}
    found = np.zeros((len(exam), len(kinds), 3))
    for own, paper in zip(found, exam, strict=True):
        for point in paper:
            if point.weight > 0:
                sums = (point.weight, point.weight * point.right, point.weight * point.given)
                own[place[_kind(point)]] += sums
    return found


def possible(right: Floats, given: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and the highest mean credit that fit a mean score.

    Args:
        right: Credit that each kind deserves: rows are draws, columns kinds.
        given: Credit that the judge gives to each.
        mean: The mean score of each draw; if no mixture gives it, the nearest possible one.

    >>> low, high = possible(np.array([[0, 0.5, 1]]), np.array([[0, 1, 1]]), np.array([0.8]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.4, 0.8)

    """
    given = np.round(given, _DIGITS)
    level = np.clip(np.round(mean, _DIGITS), given.min(axis=1), given.max(axis=1))[:, None, None]
    below, above = given[:, :, None], given[:, None, :]
    gap = above - below
    share = np.where(gap > 0, (level - below) / np.where(gap > 0, gap, 1.0), 0.0)
    between = right[:, :, None] + share * (right[:, None, :] - right[:, :, None])
    fits = (below <= level) & (level <= above)
    low: Floats = np.where(fits, between, math.inf).min(axis=(1, 2))
    high: Floats = np.where(fits, between, -math.inf).max(axis=(1, 2))
    return low, high


def _kind(point: Point) -> str:
    return point.kind or f" {point.right:.3f}"
