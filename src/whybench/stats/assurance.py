"""The uncertainty of a spread that was estimated from a pilot, and a spread to plan with.

A plan that treats the spread of a pilot as exact is too small about as often as too large. Power
falls faster than it rises, so on average such a plan has less power than it states. A plan
therefore uses an upper bound of the variance. With probability `assurance` over all possible
pilots, the true variance is below the bound, and the planned power is reached or exceeded.

We assume that the estimate has a chi-squared distribution around the truth. Its degrees of freedom
are matched to the variation of the squared sums of the clusters, and are at most clusters - 1. They
are fewer if a few clusters make up most of the variance, for example if two systems differ on only
a few instances.

References:
    R. H. Browne (1995), On the use of a pilot sample for sample size determination, Statistics in
        Medicine 14: the upper bound.
    F. E. Satterthwaite (1946), An approximate distribution of estimates of variance components,
        Biometrics Bulletin 2: the degrees of freedom.

"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from whybench.stats.spread import Spread


def freedom_of(values: Sequence[float], clusters: Iterable[Hashable]) -> float:
    """Return the degrees of freedom of the variance of a mean with one value per instance.

    >>> freedom_of([1, -1, 1, -1, 1, -1], "abcdef")
    5.0
    >>> round(freedom_of([0] * 99 + [1], range(100)), 1)
    2.1
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    if len(numbers) < 2:
        raise ValueError("Data of fewer than two clusters show no spread. Pass a Spread instead.")
    scores = np.array(values, dtype=np.float64)
    squares = np.bincount(codes, weights=scores - scores.mean()) ** 2
    mean, count = float(squares.mean()), len(numbers)
    if mean == 0:
        return float(count - 1)
    unsure = float(squares.var()) / (count * mean * mean)
    return max(1.0, min(count - 1.0, 2 / unsure if unsure > 0 else math.inf))


def allowance(freedom: float, assurance: float = 0.8) -> float:
    """Return the factor by which an estimated variance is multiplied to get its upper bound.

    >>> round(allowance(50), 2), round(allowance(500), 2), allowance(math.inf)
    (1.21, 1.06, 1.0)
    """
    if not 0 < assurance < 1:
        raise ValueError(f"assurance must lie between 0 and 1, such as 0.8; got {assurance}")
    if math.isinf(freedom):
        return 1.0
    return max(1.0, freedom / float(chdtri(freedom, assurance)))


def scaled(spread: Spread, factor: float) -> Spread:
    """Return the spread with all its variances multiplied by a factor."""
    return replace(spread, between=spread.between * factor, within=spread.within * factor)
