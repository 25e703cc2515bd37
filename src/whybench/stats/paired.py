"""Paired difference of two systems, or of one system in two settings, over the same instances.

Instances differ in difficulty far more than systems do. So a difference is best computed within
each instance and then averaged. Both results here use only these differences:

- How large is the difference? The mean of first - second, with a percentile bootstrap interval.
- Is there a difference? A two-sided sign-flip permutation test. If the two did not differ, each
  difference would be equally likely with the other sign. The p-value is the share of sign patterns
  whose mean is at least as far from zero. It is exact for few instances and for 0/1 scores (where
  it is the exact McNemar test). Otherwise sign patterns are drawn at random.

Instances of one cluster are not independent. If you pass `clusters`, the bootstrap draws whole
clusters and the test flips whole clusters. Every instance still has the same weight in the mean.

Each mapping gives one value per instance: average its epochs first. An instance is left out if one
side lacks it, or has None or NaN for it (unscored, not zero). Sparse data never raise an error:
bounds that cannot be computed are (nan, nan).

The result depends only on the differences and the seed, not on names or order of instances. The
percentile interval is too narrow for few clusters, so it is flagged then. The interval and the
p-value answer different questions and may disagree near the border.

References:
    B. Efron and R. J. Tibshirani (1993), An introduction to the bootstrap, ch. 13: the percentile
        interval.
    R. A. Fisher (1935), The design of experiments, sec. 21: flipping signs of paired differences.
    B. Phipson and G. K. Smyth (2010), Permutation p-values should never be zero, Statistical
        Applications in Genetics and Molecular Biology 9: (hits + 1) / (draws + 1).

"""

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

EXACT_UP_TO = 16
"""With at most this many nonzero differences, every sign pattern is counted."""

FEW_PAIRS = 10
"""Below this many clusters of pairs, an interval is flagged, because it is too narrow."""

BATCH = 2**22
"""Numbers drawn at a time, so that memory does not grow with pairs times resamples."""

Instance = TypeVar("Instance", bound=Hashable)
Scores = Mapping[Instance, float | None]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference with its bounds and its p-value."""

    low: float
    """Lower bound; nan when there are fewer than two clusters."""
    high: float
    """Upper bound; nan when there are fewer than two clusters."""
    estimate: float
    """Mean of first - second; nan when there are no pairs."""
    p_value: float
    """Two-sided sign-flip p-value; nan when there are no pairs."""
    n: int
    """Number of instances scored on both sides."""
    exact: bool
    """Whether `p_value` counts every sign pattern; otherwise patterns are drawn at random."""
    few_pairs: bool
    """Whether `clusters` is below `FEW_PAIRS`: read the bounds with care."""
    clusters: int
    """Number of clusters of those instances; without clusters it is `n`."""


def paired_bootstrap(
    first: Scores[Instance],
    second: Scores[Instance],
    *,
    clusters: Mapping[Instance, Hashable] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Paired:
    """Compare two scores of the same instances; positive means that `first` is higher.

    Without `clusters`, each instance is its own cluster. With `clusters`, the mean over instances
    is a ratio: the sum of differences divided by the number of instances. Each resample computes
    this ratio again.

    >>> full = {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 0, "g": None}
    >>> less = {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1, "f": 0, "g": 1, "h": 1}
    >>> found = paired_bootstrap(full, less)
    >>> round(found.estimate, 3), found.n, found.p_value, found.exact
    (0.667, 6, 0.125, True)
    >>> round(found.low, 3), found.high, found.few_pairs
    (0.333, 1.0, True)
    >>> worlds = dict(zip("abcdef", "uuvvww"))
    >>> found = paired_bootstrap(full, less, clusters=worlds)
    >>> round(found.estimate, 3), found.n, found.clusters, found.p_value
    (0.667, 6, 3, 0.5)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, such as 10_000; got {resamples}")
    sums, sizes = _summed(first, second, clusters)
    n, count = int(sizes.sum()), len(sums)
    rng = np.random.Generator(np.random.Philox(seed))
    low = high = estimate = math.nan
    if n:
        estimate = float(sums.sum() / n)
    if count > 1:
        low, high = _percentiles(sums, sizes, level, resamples, rng)
    p_value, exact = _sign_flip(sums, resamples, rng)
    return Paired(low, high, estimate, p_value, n, exact, count < FEW_PAIRS, count)


def _summed(
    first: Scores[Instance],
    second: Scores[Instance],
    clusters: Mapping[Instance, Hashable] | None,
) -> tuple[Floats, Floats]:
    """Return first - second summed over each cluster, and its number of instances.

    The differences are sorted and summed without rounding, so names and order do not matter.
    """
    shared = [instance for instance in first if instance in second]
    both = np.array([(first[one], second[one]) for one in shared], dtype=np.float64).reshape(-1, 2)
    if np.isinf(both).any():
        raise ValueError("scores must be finite; pass None for an instance without a score")
    groups: dict[Hashable, list[float]] = {}
    for one, difference in zip(shared, (both[:, 0] - both[:, 1]).tolist(), strict=True):
        if math.isnan(difference):
            continue
        if clusters is not None and one not in clusters:
            raise ValueError(f"instance {one!r} has no cluster; name its cluster or drop it")
        groups.setdefault(one if clusters is None else clusters[one], []).append(difference)
    found = sorted((math.fsum(group), len(group)) for group in groups.values())
    table = np.array(found, dtype=np.float64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def _percentiles(
    sums: Floats, sizes: Floats, level: float, resamples: int, rng: np.random.Generator
) -> tuple[float, float]:
    count, alike = len(sums), float(sizes[0])
    equal = bool((sizes == alike).all())
    means = []
    for rows in _batches(resamples, count):
        drawn = rng.integers(0, count, (rows, count))
        weight = count * alike if equal else sizes[drawn].sum(axis=1)
        means.append(sums[drawn].sum(axis=1) / weight)
    tail = (1 - level) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    return float(low), float(high)


def _sign_flip(differences: Floats, resamples: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Return the share of sign patterns at least as far from zero, and whether it is exact."""
    if not len(differences):
        return math.nan, True
    moved = differences[differences != 0]  # the sign of a zero changes nothing
    m, total = len(moved), float(moved.sum())
    slack = 1e-9 * float(np.abs(moved).sum())  # sums equal but for rounding are ties
    if not m:
        return 1.0, True
    sizes = np.abs(moved)
    if float(sizes.max() - sizes.min()) <= slack / m:
        positive = int((moved > 0).sum())
        return min(1.0, 2 * float(bdtr(min(positive, m - positive), m, 0.5))), True
    if m <= EXACT_UP_TO:
        sums = np.zeros(1)
        for difference in moved:
            sums = np.concatenate((sums + difference, sums - difference))
        return float((np.abs(sums) >= abs(total) - slack).mean()), True
    hits = 0
    for rows in _batches(resamples, m):
        sums = total - 2 * ((rng.random((rows, m)) < 0.5) @ moved)
        hits += int((np.abs(sums) >= abs(total) - slack).sum())
    return (hits + 1) / (resamples + 1), False


def _batches(resamples: int, n: int) -> Iterator[int]:
    """Split the resamples into numbers of rows that fit a batch."""
    most = max(1, BATCH // n)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)
