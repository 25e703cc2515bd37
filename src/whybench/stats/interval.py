"""Confidence intervals for means and rates of episode scores that come in clusters.

Episodes of one instance (repeats, templates, evidence) are alike, so they carry less information
than the same number of episodes of different instances. Both intervals here use the variance
*between clusters*, and the number of clusters, not of episodes, gives the degrees of freedom:

- `mean_interval` for scores on any scale: mean, sandwich standard error, t quantile;
- `rate_interval` for 0/1 scores: Wilson's interval at the effective sample size;
- `interval` chooses one of them from the values.

`instances` marks repeats of one instance (epochs). They are averaged first. So every instance has
the same weight, however many of its epochs were scored, and the estimate is the mean over
instances. Nothing else about repeats is assumed: noise over epochs is part of the variance between
clusters, and shrinks with it.

Sparse data never raise an error, because a report must print whatever a run contains. An interval
that cannot be computed is (nan, nan). A value of None or NaN is unscored, not zero, and is dropped.

Both intervals are approximations that improve with the number of clusters. They are too narrow if a
few clusters contain most of the values and agree within themselves. Prefer clusters of equal size.

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
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

FEW_CLUSTERS = 10
"""Below this many clusters, an interval is flagged, because its width is itself uncertain."""

Values = Iterable[float | None]
Labels = Iterable[Hashable] | None
"""One label for each value; without labels, each value has its own."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate between two bounds, with what it rests on."""

    low: float
    """Lower bound; nan when there is too little to say."""
    high: float
    """Upper bound; nan when there is too little to say."""
    estimate: float
    """Mean of the scored values, averaged over epochs first; nan when there are none."""
    n: int
    """Number of scored values."""
    clusters: int
    """Number of clusters among the scored values."""
    few_clusters: bool
    """Whether `clusters` is below `FEW_CLUSTERS`: read the bounds with care."""


def interval(
    values: Values,
    clusters: Labels = None,
    level: float = 0.95,
    *,
    instances: Labels = None,
) -> Interval:
    """Give `rate_interval` when every scored value is 0 or 1, else `mean_interval`.

    Values are looked at before they are averaged over epochs.

    Call the one you mean if you know it: a score on another scale may be 0 or 1 by chance.

    >>> interval([1, 0, 1, None]) == rate_interval([1, 0, 1])
    True
    >>> interval([1, 0, 0.5]) == mean_interval([1, 0, 0.5])
    True
    """
    scored = _scored(values, clusters, level, instances)
    return _rate(scored, level) if scored.binary else _mean(scored, level)


def mean_interval(
    values: Values,
    clusters: Labels = None,
    level: float = 0.95,
    *,
    instances: Labels = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Return a mean with its confidence interval: cluster-robust standard error and t quantile.

    Without `clusters` each value is its own cluster, and this is Student's interval. One cluster
    shows no variation between clusters, so its bounds are (nan, nan).

    Examples:
        >>> found = mean_interval([1.0, 2.0, 3.0, 4.0])
        >>> round(found.low, 3), found.estimate, round(found.high, 3)
        (0.446, 2.5, 4.554)
        >>> alike = mean_interval([1.0, 1.0, 4.0, 4.0], clusters="aabb")
        >>> round(alike.low, 1), alike.clusters, alike.few_clusters
        (-16.6, 2, True)
        >>> epochs = mean_interval([1.0, 3.0, 2.0, 7.0], instances="aaab")
        >>> epochs.estimate, epochs.n, epochs.clusters
        (4.5, 4, 2)
        >>> mean_interval([0.9, 1.0, 1.0, 1.0], bounds=(0.0, 1.0)).high
        1.0
        >>> mean_interval([1.0])
        Interval(low=nan, high=nan, estimate=1.0, n=1, clusters=1, few_clusters=True)

    Args:
        values: The scores. None and NaN are unscored and are dropped.
        clusters: The cluster of each value.
        level: The confidence level.
        instances: The instance of each value. Repeats of an instance are averaged first.
        bounds: The smallest and the largest possible value. The interval is cut at them; coverage
            stays the same, because no mean lies beyond.

    Returns:
        The estimate with its bounds.

    Raises:
        ValueError: The level, the values or the labels are not valid.

    """
    found = _mean(_scored(values, clusters, level, instances), level)
    low, high = max(bounds[0], found.low), min(bounds[1], found.high)
    return found if math.isnan(found.low) else replace(found, low=low, high=high)


def rate_interval(
    values: Values,
    clusters: Labels = None,
    level: float = 0.95,
    *,
    instances: Labels = None,
) -> Interval:
    """Return a rate with Wilson's score interval at the effective sample size of the clusters.

    The effective size is that of an unclustered sample with the same variance: n_eff = p(1 - p) /
    variance, at most n and at least 1. Without clusters it is n - 1, because the variance is
    corrected for small samples. The critical value is t with clusters - 1 degrees of freedom. If p
    is 0 or 1, the variance gives no information. Each cluster then counts as one value, n_eff =
    clusters, and the critical value is the normal one.

    Values between 0 and 1, such as rates averaged over epochs, are accepted. Passing the 0/1
    values of all epochs with `instances` is better, because their number limits the effective
    size.

    Examples:
        >>> found = rate_interval([1] * 30 + [0] * 10)
        >>> round(found.low, 3), found.estimate, round(found.high, 3)
        (0.591, 0.75, 0.862)
        >>> found = rate_interval([1] * 30 + [0] * 10, clusters=[i // 5 for i in range(40)])
        >>> round(found.low, 3), found.estimate, round(found.high, 3)
        (0.33, 0.75, 0.948)
        >>> round(rate_interval([1] * 20).low, 3)
        0.839

    Args:
        values: The scores, from 0 to 1. None and NaN are unscored and are dropped.
        clusters: The cluster of each value.
        level: The confidence level.
        instances: The instance of each value. Repeats of an instance are averaged first.

    Returns:
        The estimate with its bounds.

    Raises:
        ValueError: A value is not between 0 and 1, or the level or the labels are not valid.

    """
    scored = _scored(values, clusters, level, instances)
    if not scored.shares:
        raise ValueError("a rate needs values from 0 to 1; use mean_interval for other scores")
    return _rate(scored, level)


@dataclass(frozen=True, slots=True)
class _Scored:
    """What is left of the values: one mean for each instance, and its cluster's number."""

    means: Floats
    codes: Codes
    n: int
    binary: bool
    shares: bool

    @property
    def clusters(self) -> int:
        return int(self.codes.max(initial=-1)) + 1


def _mean(scored: _Scored, level: float) -> Interval:
    estimate = float(scored.means.mean()) if scored.n else math.nan
    if scored.clusters < 2:
        return _made(math.nan, math.nan, estimate, scored)
    half = _critical(scored.clusters, level) * math.sqrt(_variance(scored))
    return _made(estimate - half, estimate + half, estimate, scored)


def _rate(scored: _Scored, level: float) -> Interval:
    n, clusters = scored.n, scored.clusters
    if n == 0:
        return _made(math.nan, math.nan, math.nan, scored)
    p = float(scored.means.mean())
    size, t = float(clusters), -float(ndtri((1 - level) / 2))
    if 0 < p < 1:
        t = _critical(clusters, level)
        variance = _variance(scored) if clusters > 1 else p * (1 - p)
        size = min(n, p * (1 - p) / variance) if variance > 0 else n
    # Wilson (1927), multiplied through by the size: finite for every level, near 0 or near 1.
    centre = (size * p + t * t / 2) / (size + t * t)
    half = t * math.sqrt(size * p * (1 - p) + t * t / 4) / (size + t * t)
    # Rounding must not push a bound past the estimate or out of [0, 1].
    return _made(max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)), p, scored)


def _variance(scored: _Scored) -> float:
    """Sandwich variance of the mean: squared cluster sums of residuals, times G / (G - 1)."""
    sums = np.bincount(scored.codes, weights=scored.means - scored.means.mean())
    clusters = len(sums)
    return float(clusters / (clusters - 1) * (sums @ sums) / len(scored.means) ** 2)


def _critical(clusters: int, level: float) -> float:
    return -float(stdtrit(max(1, clusters - 1), (1 - level) / 2))


def _made(low: float, high: float, estimate: float, scored: _Scored) -> Interval:
    clusters = scored.clusters
    return Interval(low, high, estimate, scored.n, clusters, clusters < FEW_CLUSTERS)


def _scored(values: Values, clusters: Labels, level: float, instances: Labels) -> _Scored:
    """Drop what is unscored, average epochs, and number clusters in order of appearance."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level}")
    every = np.array(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)
    if every.ndim != 1:
        raise ValueError("values must be a flat list of numbers; flatten them and pass clusters")
    if np.isinf(every).any():
        raise ValueError("values must be finite; pass None for an episode without a score")
    kept = ~np.isnan(every)
    means = every[kept]
    n = len(means)
    binary = bool(((means == 0) | (means == 1)).all())
    shares = bool(((means >= 0) & (means <= 1)).all())
    codes = None if clusters is None else _numbered(clusters, kept, "cluster")
    if instances is not None:
        groups = _numbered(instances, kept, "instance")
        means = np.bincount(groups, weights=means) / np.bincount(groups)
        if codes is not None:
            first = np.unique(groups, return_index=True)[1]
            if (codes[first][groups] != codes).any():
                raise ValueError("an instance lies in two clusters; give its epochs one cluster")
            codes = codes[first]
    if codes is None:
        codes = np.arange(len(means))
    return _Scored(means, codes, n, binary, shares)


def _numbered(given: Iterable[Hashable], kept: NDArray[np.bool_], what: str) -> Codes:
    """Number the labels of the kept values from 0, in order of appearance."""
    labels = list(given)
    if len(labels) != len(kept):
        raise ValueError(
            f"{len(kept)} values but {len(labels)} {what} labels; give each value one label"
        )
    numbers: dict[Hashable, int] = {}
    codes = []
    for position in np.flatnonzero(kept).tolist():
        label = labels[position]
        if label is None or label != label:  # only NaN differs from itself
            raise ValueError(f"value {position} has no {what} label; label it or drop the value")
        codes.append(numbers.setdefault(label, len(numbers)))
    return np.array(codes, dtype=np.intp)
