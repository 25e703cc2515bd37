"""Paired difference of two systems, or of one system in two settings, over the same clusters.

Clusters differ in difficulty far more than systems do, so a difference is best taken within each
cluster and only then averaged. Both answers here look at nothing but those differences:

- how large: mean of first - second, with a percentile bootstrap interval over clusters;
- whether any: a two-sided sign-flip permutation test. If the two did not differ, each difference
  would be as likely with the other sign; the p-value is the share of sign patterns whose mean is
  at least as far from zero. It is exact for few clusters and for 0/1 scores (where it is the
  exact McNemar test), and drawn at random otherwise.

Each mapping gives one value for a cluster: average repeats first. A cluster that one side lacks,
or where one side is None or NaN (unscored, not zero), is left out. Sparse data never raise: bounds
that cannot be had are (nan, nan).

The answer depends on the differences and the seed alone, not on names or order of clusters. The
percentile interval is too narrow for few clusters, so those are flagged; it and the p-value answer
two questions and may disagree near the border.

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
"""With at most this many nonzero differences every sign pattern is counted."""

FEW_PAIRS = 10
"""Below this many pairs an interval is flagged: too narrow, by how much is hardly known."""

BATCH = 2**22
"""Numbers drawn at a time, so that memory does not grow with pairs times resamples."""

Cluster = TypeVar("Cluster", bound=Hashable)
Scores = Mapping[Cluster, float | None]
Differences = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Paired:
    """A mean difference between two bounds, with the evidence that there is one."""

    low: float
    """Lower bound; nan when there are fewer than two pairs."""
    high: float
    """Upper bound; nan when there are fewer than two pairs."""
    estimate: float
    """Mean of first - second; nan when there are no pairs."""
    p_value: float
    """Two-sided sign-flip p-value; nan when there are no pairs."""
    n: int
    """Number of clusters scored on both sides."""
    exact: bool
    """Whether `p_value` counts every sign pattern; else it is drawn at random."""
    few_pairs: bool
    """Whether `n` is below `FEW_PAIRS`: read the bounds with care."""


def paired_bootstrap(
    first: Scores[Cluster],
    second: Scores[Cluster],
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Paired:
    """Compare two scores of the same clusters; positive means that `first` is higher.

    >>> full = {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 0, "g": None}
    >>> less = {"a": 0, "b": 0, "c": 0, "d": 0, "e": 1, "f": 0, "g": 1, "h": 1}
    >>> found = paired_bootstrap(full, less)
    >>> round(found.estimate, 3), found.n, found.p_value, found.exact
    (0.667, 6, 0.125, True)
    >>> round(found.low, 3), found.high, found.few_pairs
    (0.333, 1.0, True)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95; got {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, such as 10_000; got {resamples}")
    differences = _differences(first, second)
    n = len(differences)
    rng = np.random.Generator(np.random.Philox(seed))
    low = high = estimate = math.nan
    if n:
        estimate = float(differences.mean())
    if n > 1:
        low, high = _percentiles(differences, level, resamples, rng)
    p_value, exact = _sign_flip(differences, resamples, rng)
    return Paired(low, high, estimate, p_value, n, exact, n < FEW_PAIRS)


def _differences(first: Scores[Cluster], second: Scores[Cluster]) -> Differences:
    """First - second of the clusters both have, sorted so that names and order do not matter."""
    pairs = [(value, second[cluster]) for cluster, value in first.items() if cluster in second]
    both = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    if np.isinf(both).any():
        raise ValueError("scores must be finite; pass None for a cluster without a score")
    differences: Differences = both[:, 0] - both[:, 1]
    return np.sort(differences[~np.isnan(differences)])


def _percentiles(
    differences: Differences, level: float, resamples: int, rng: np.random.Generator
) -> tuple[float, float]:
    n = len(differences)
    means = [
        differences[rng.integers(0, n, (rows, n))].mean(axis=1) for rows in _batches(resamples, n)
    ]
    tail = (1 - level) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    return float(low), float(high)


def _sign_flip(
    differences: Differences, resamples: int, rng: np.random.Generator
) -> tuple[float, bool]:
    """Share of sign patterns with a sum at least as far from zero, and whether it is exact."""
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
