"""Association of two lists of numbers: Pearson's r, Spearman's ρ, Kendall's τ, with p-values.

All three p-values are two-sided and test the hypothesis of no association:

- Pearson's comes from the t distribution with n - 2 degrees of freedom.
- Spearman's does too, except for few pairs, where every order is counted.
- Kendall's is exact without ties up to 33 pairs. Only Kendall's loads `scipy.stats`, whose import
  takes longer than any computation here.

If one side does not vary, the result is nan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Numbers = Sequence[float]
Floats = NDArray[np.float64]

FEWEST = 3
"""With fewer pairs there is no p-value: any two points lie on a line."""

COUNTED = 8
"""Up to this many pairs, Spearman's p-value counts every order, because t is too optimistic."""


@dataclass(frozen=True, slots=True)
class Association:
    """A correlation with its p-value."""

    n: int
    """Pairs."""
    value: float
    """From -1 to 1; nan if one side does not vary."""
    p: float
    """Two-sided p-value; nan with fewer than three pairs."""


def pearson(first: Numbers, second: Numbers) -> Association:
    """Return Pearson's product-moment correlation.

    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]).value, 3)
    0.8
    """
    return _product_moment(*_paired(first, second))


def spearman(first: Numbers, second: Numbers) -> Association:
    """Return Spearman's rank correlation; ties share the mean of their ranks.

    >>> found = spearman([1, 2, 3, 40], [1, 3, 2, 4])
    >>> round(found.value, 3), round(found.p, 3)
    (0.8, 0.333)
    """
    one, other = _paired(first, second)
    if _hopeless(one, other):
        return Association(len(one), math.nan, math.nan)
    x, y = ranked(one), ranked(other)
    found = _product_moment(x, y)
    if math.isnan(found.p) or found.n > COUNTED:
        return found
    sums = (x - x.mean())[np.array(list(permutations(range(found.n))))] @ (y - y.mean())
    as_far = np.abs(sums) >= abs((x - x.mean()) @ (y - y.mean())) - 1e-9
    return Association(found.n, found.value, float(as_far.mean()))


def kendall(first: Numbers, second: Numbers) -> Association:
    """Return Kendall's τ-b: pairs in the same order minus pairs in the other, corrected for ties.

    >>> round(kendall([1, 2, 3, 40], [1, 3, 2, 4]).value, 3)
    0.667
    """
    from scipy.stats import kendalltau

    x, y = _paired(first, second)
    if _hopeless(x, y):
        return Association(len(x), math.nan, math.nan)
    found = kendalltau(x, y)
    p = float(found.pvalue) if len(x) >= FEWEST else math.nan
    return Association(len(x), float(found.statistic), p)


def ranked(values: Numbers | Floats) -> Floats:
    """Return ranks from 1; equal values share the mean of theirs.

    >>> ranked([10.0, 30.0, 10.0]).tolist()
    [1.5, 3.0, 1.5]
    """
    _, place, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    means: Floats = (last - (count - 1) / 2).astype(np.float64)
    return means[place]


def _product_moment(x: Floats, y: Floats) -> Association:
    n = len(x)
    if _hopeless(x, y):
        return Association(n, math.nan, math.nan)
    dx, dy = x - x.mean(), y - y.mean()
    r = float(dx @ dy) / math.sqrt(float(dx @ dx) * float(dy @ dy))
    r = max(-1.0, min(1.0, r))
    if n < FEWEST:
        return Association(n, r, math.nan)
    rest = (1 - r) * (1 + r)
    t = math.inf if rest == 0 else abs(r) * math.sqrt((n - 2) / rest)
    return Association(n, r, float(2 * stdtr(n - 2, -t)))


def _paired(first: Numbers, second: Numbers) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} and {len(y)} numbers cannot be paired. Give equally many.")
    return x, y


def _hopeless(x: Floats, y: Floats) -> bool:
    """Return whether there are too few pairs, or one side does not vary."""
    return len(x) < 2 or _flat(x) or _flat(y)


def _flat(values: Floats) -> bool:
    """Return whether values differ only by rounding."""
    return bool(np.ptp(values) <= 1e-13 * np.abs(values).max())
