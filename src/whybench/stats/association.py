"""How two lists of numbers go together: Pearson's r, Spearman's ρ, Kendall's τ, with p-values.

All three p-values are two-sided and test for no association at all. Pearson's comes from the t
distribution on n - 2 degrees of freedom, Spearman's too except for few pairs, where every order is
counted; Kendall's is exact without ties up to 33 pairs.
Without variation on both sides there is nothing to associate, and the answer is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from scipy import stats

Numbers = Sequence[float]

FEWEST = 3
"""With fewer pairs there is no p-value: any two points lie on a line."""

COUNTED = 8
"""Up to so many pairs every order is counted for Spearman's p-value: t is then far too sure."""


@dataclass(frozen=True, slots=True)
class Association:
    """A correlation and the evidence that there is one."""

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
    return _associated(first, second, stats.pearsonr)


def spearman(first: Numbers, second: Numbers) -> Association:
    """Return Spearman's rank correlation; ties share the mean of their ranks.

    >>> found = spearman([1, 2, 3, 40], [1, 3, 2, 4])
    >>> round(found.value, 3), round(found.p, 3)
    (0.8, 0.333)
    """
    found = _associated(first, second, stats.spearmanr)
    if math.isnan(found.p) or found.n > COUNTED:
        return found
    x, y = stats.rankdata(first), stats.rankdata(second)
    sums = (x - x.mean())[np.array(list(permutations(range(found.n))))] @ (y - y.mean())
    as_far = np.abs(sums) >= abs((x - x.mean()) @ (y - y.mean())) - 1e-9
    return Association(found.n, found.value, float(as_far.mean()))


def kendall(first: Numbers, second: Numbers) -> Association:
    """Return Kendall's τ-b: pairs in the same order minus pairs in the other, corrected for ties.

    >>> round(kendall([1, 2, 3, 40], [1, 3, 2, 4]).value, 3)
    0.667
    """
    return _associated(first, second, stats.kendalltau)


def _associated(first: Numbers, second: Numbers, test: Callable[..., Any]) -> Association:
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(x) != len(y):
        raise ValueError(f"{len(x)} and {len(y)} numbers cannot be paired: give equally many")
    n = len(x)
    if n < 2 or _flat(x) or _flat(y):
        return Association(n, math.nan, math.nan)
    found = test(x, y)
    return Association(n, float(found.statistic), float(found.pvalue) if n >= FEWEST else math.nan)


def _flat(values: Any) -> bool:
    """Tell whether values differ by no more than rounding."""
    return bool(np.ptp(values) <= 1e-13 * np.abs(values).max())
