"""Confidence intervals for means and rates of episode scores that come in clusters.

Episodes of one instance (repeats, skins, evidence) are alike, so they tell less than as many
episodes of different instances. Both intervals here take the spread *between clusters* as the
measure of what is unknown, and count clusters, not episodes, as degrees of freedom:

- `mean_interval` for scores on any scale: mean, sandwich standard error, t quantile;
- `rate_interval` for 0/1 scores: Wilson's interval at the effective sample size;
- `interval` looks at the values and chooses.

Sparse data never raise, since a report must print whatever a run has left: an interval that
cannot be had is (nan, nan). A value of None or NaN is unscored, not zero, and is dropped.

Both are approximations in the number of clusters. They are too narrow when a few clusters hold
most of the values and agree within themselves; prefer clusters of like size.

References:
    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference,
        JASA 22: the score interval for a proportion.
    E. L. Korn and B. I. Graubard (1998), Confidence intervals for proportions with small expected
        number of positive counts estimated from survey data, Survey Methodology 24: intervals for
        proportions at the effective sample size of a clustered design.
    E. Miller (2024), Adding error bars to evals, arXiv:2411.00640: clustered standard errors for
        scores of language models.

"""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

FEW_CLUSTERS = 10
"""Below this many clusters an interval is flagged: its own width is then hardly known."""

Values = Iterable[float | None]
Clusters = Iterable[Hashable] | None


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate between two bounds, with what it rests on."""

    low: float
    """Lower bound; nan when there is too little to say."""
    high: float
    """Upper bound; nan when there is too little to say."""
    estimate: float
    """Mean of the scored values; nan when there are none."""
    n: int
    """Number of scored values."""
    clusters: int
    """Number of clusters among the scored values."""
    few_clusters: bool
    """Whether `clusters` is below `FEW_CLUSTERS`: read the bounds with care."""


def interval(values: Values, clusters: Clusters = None, level: float = 0.95) -> Interval:
    """Give `rate_interval` when every scored value is 0 or 1, else `mean_interval`.

    Call the one you mean if you know it: a score on another scale may be 0 or 1 by chance.

    >>> interval([1, 0, 1, None]) == rate_interval([1, 0, 1])
    True
    >>> interval([1, 0, 0.5]) == mean_interval([1, 0, 0.5])
    True
    """
    scored, codes = _scored(values, clusters, level)
    return _rate(scored, codes, level) if _binary(scored) else _mean(scored, codes, level)


def mean_interval(values: Values, clusters: Clusters = None, level: float = 0.95) -> Interval:
    """Mean, cluster-robust standard error, t quantile on clusters - 1 degrees of freedom.

    Without `clusters` each value is its own cluster, and this is Student's interval. One cluster
    shows no spread between clusters, so its bounds are (nan, nan).

    >>> found = mean_interval([1.0, 2.0, 3.0, 4.0])
    >>> round(found.low, 3), found.estimate, round(found.high, 3)
    (0.446, 2.5, 4.554)
    >>> alike = mean_interval([1.0, 1.0, 4.0, 4.0], clusters="aabb")
    >>> round(alike.low, 1), alike.clusters, alike.few_clusters
    (-16.6, 2, True)
    >>> mean_interval([1.0])
    Interval(low=nan, high=nan, estimate=1.0, n=1, clusters=1, few_clusters=True)
    """
    return _mean(*_scored(values, clusters, level), level)


def rate_interval(values: Values, clusters: Clusters = None, level: float = 0.95) -> Interval:
    """Wilson's score interval for 0/1 values, at the effective sample size of their clusters.

    Shares from 0 to 1, such as 0/1 values averaged over epochs, are taken too.

    The effective size is that of the unclustered sample with the same variance,
    n_eff = p(1 - p) / variance, at most n (and never below 1). Without clusters it is n - 1, not n,
    as the variance is corrected for small samples. The critical value is t on clusters - 1 degrees
    of freedom. At p = 0 or 1 the variance says nothing, so each cluster counts as one value,
    n_eff = clusters, and as no variance was estimated the critical value is the normal one.

    >>> found = rate_interval([1] * 30 + [0] * 10)
    >>> round(found.low, 3), found.estimate, round(found.high, 3)
    (0.591, 0.75, 0.862)
    >>> found = rate_interval([1] * 30 + [0] * 10, clusters=[i // 5 for i in range(40)])
    >>> round(found.low, 3), found.estimate, round(found.high, 3)
    (0.33, 0.75, 0.948)
    >>> round(rate_interval([1] * 20).low, 3)
    0.839
    """
    scored, codes = _scored(values, clusters, level)
    if ((scored < 0) | (scored > 1)).any():
        raise ValueError("a rate needs values from 0 to 1; use mean_interval for other scores")
    return _rate(scored, codes, level)


def _mean(values: NDArray[np.float64], codes: NDArray[np.intp], level: float) -> Interval:
    n, clusters = len(values), int(codes.max(initial=-1)) + 1
    if clusters < 2:
        return _made(math.nan, math.nan, float(values.mean()) if n else math.nan, n, clusters)
    estimate = float(values.mean())
    half = _critical(clusters, level) * math.sqrt(_variance(values, codes))
    return _made(estimate - half, estimate + half, estimate, n, clusters)


def _rate(values: NDArray[np.float64], codes: NDArray[np.intp], level: float) -> Interval:
    n, clusters = len(values), int(codes.max(initial=-1)) + 1
    if n == 0:
        return _made(math.nan, math.nan, math.nan, n, clusters)
    p = float(values.mean())
    size, t = float(clusters), -float(ndtri((1 - level) / 2))
    if 0 < p < 1:
        t = _critical(clusters, level)
        variance = _variance(values, codes) if clusters > 1 else p * (1 - p)
        size = min(n, p * (1 - p) / variance) if variance > 0 else n
    # Wilson (1927), multiplied through by the size: finite for every level, near 0 or near 1.
    centre = (size * p + t * t / 2) / (size + t * t)
    half = t * math.sqrt(size * p * (1 - p) + t * t / 4) / (size + t * t)
    # Rounding must not push a bound past the estimate or out of [0, 1].
    return _made(max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)), p, n, clusters)


def _variance(values: NDArray[np.float64], codes: NDArray[np.intp]) -> float:
    """Sandwich variance of the mean: squared cluster sums of residuals, times G / (G - 1)."""
    sums = np.bincount(codes, weights=values - values.mean())
    clusters = len(sums)
    return float(clusters / (clusters - 1) * (sums @ sums) / len(values) ** 2)


def _critical(clusters: int, level: float) -> float:
    return -float(stdtrit(max(1, clusters - 1), (1 - level) / 2))


def _made(low: float, high: float, estimate: float, n: int, clusters: int) -> Interval:
    return Interval(low, high, estimate, n, clusters, clusters < FEW_CLUSTERS)


def _binary(values: NDArray[np.float64]) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def _scored(
    values: Values, clusters: Clusters, level: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Drop what is unscored and number the clusters of the rest from 0, in order of appearance."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level}")
    every = np.array(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)
    if every.ndim != 1:
        raise ValueError("values must be a flat list of numbers; flatten them and pass clusters")
    if np.isinf(every).any():
        raise ValueError("values must be finite; pass None for an episode without a score")
    kept = ~np.isnan(every)
    scored = every[kept]
    if clusters is None:
        return scored, np.arange(len(scored))
    labels = list(clusters)
    if len(labels) != len(every):
        raise ValueError(
            f"{len(every)} values but {len(labels)} cluster labels; give each value one label"
        )
    numbers: dict[Hashable, int] = {}
    codes = []
    for position in np.flatnonzero(kept).tolist():
        label = labels[position]
        if label is None or label != label:  # only NaN differs from itself
            raise ValueError(f"value {position} has no cluster label; label it or drop the value")
        codes.append(numbers.setdefault(label, len(numbers)))
    return scored, np.array(codes, dtype=np.intp)
