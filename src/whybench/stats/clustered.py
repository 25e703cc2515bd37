"""Differences of groups and slopes, for values that come in clusters.

References:
    B. L. Welch (1947), The generalization of Student's problem when several different population
        variances are involved, Biometrika 34: unequal variances.
    K.-Y. Liang and S. L. Zeger (1986), Longitudinal data analysis using generalized linear models,
        Biometrika 73: the sandwich variance over clusters.

"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from statistics import fmean, variance

from scipy.special import stdtrit

Scores = Mapping[str, float]
"""Instance → score, epochs averaged."""

Clusters = Mapping[str, Hashable]
"""Instance → cluster."""


@dataclass(frozen=True)
class Difference:
    """The difference of two groups of instances that are not paired."""

    low: float
    high: float
    estimate: float
    n: tuple[int, int]


def difference(
    first: Scores, second: Scores, clusters: Clusters, strata: Mapping[str, Hashable]
) -> Difference:
    """Compare two groups of instances within strata, such as sizes; each stratum counts by size.

    The clusters of the two groups must be different bases. Each base counts once, with its mean.
    The interval is Welch's, with variances added over strata.
    """
    total, spread, freedom, weights = 0.0, 0.0, 0.0, 0
    for stratum in dict.fromkeys(strata.values()):
        sides = [_base_means(side, clusters, strata, stratum) for side in (first, second)]
        if min(map(len, sides)) < 2:
            continue
        weight = len(sides[0]) + len(sides[1])
        weights += weight
        total += weight * (fmean(sides[0]) - fmean(sides[1]))
        for side in sides:
            part = weight**2 * variance(side) / len(side)
            spread += part
            freedom += part**2 / (len(side) - 1)
    sizes = (len(first), len(second))
    if not weights:
        return Difference(math.nan, math.nan, math.nan, sizes)
    estimate = total / weights
    half = math.sqrt(spread) / weights
    if freedom:
        half *= -float(stdtrit(max(1.0, spread**2 / freedom), 0.025))
    return Difference(estimate - half, estimate + half, estimate, sizes)


def _base_means(
    scores: Scores, clusters: Clusters, strata: Mapping[str, Hashable], stratum: Hashable
) -> list[float]:
    bases: dict[Hashable, list[float]] = {}
    for one, value in scores.items():
        if strata.get(one) == stratum:
            bases.setdefault(clusters[one], []).append(value)
    return [fmean(values) for values in bases.values()]


def slope(
    stated: Mapping[str, float], exact: Mapping[str, float], clusters: Clusters
) -> tuple[float, float, float]:
    """Return the slope of stated on exact probabilities, with its clustered 95 % interval.

    It is 1 for a model whose probabilities follow the exact ones, and 0 for one that always states
    the same. The variance is the sandwich estimate over clusters.
    """
    common = [one for one in stated if one in exact]
    if len({clusters[one] for one in common}) < 3:
        return math.nan, math.nan, math.nan
    x_mean, y_mean = (fmean(side[one] for one in common) for side in (exact, stated))
    xx = sum((exact[one] - x_mean) ** 2 for one in common)
    if not xx:
        return math.nan, math.nan, math.nan
    found = sum((exact[one] - x_mean) * (stated[one] - y_mean) for one in common) / xx
    sums: dict[Hashable, float] = {}
    for one in common:
        left = stated[one] - y_mean - found * (exact[one] - x_mean)
        sums[clusters[one]] = sums.get(clusters[one], 0.0) + (exact[one] - x_mean) * left
    groups = len(sums)
    error = math.sqrt(groups / (groups - 1) * sum(s * s for s in sums.values())) / xx
    half = -float(stdtrit(groups - 1, 0.025)) * error
    return found - half, found, found + half
