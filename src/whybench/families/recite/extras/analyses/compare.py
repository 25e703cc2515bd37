"""Whether groups of scores that share no instance differ in their means, and by how much.

Two groups: Welch's test, which lets the groups spread differently, and a permutation test, which
asks only how often chance separates the scores as well. Any number of groups: one-way analysis of
variance with η², the share of the variance between groups, and Kruskal and Wallis's test
on ranks.

References:
    B. L. Welch (1947), The generalization of "Student's" problem, Biometrika 34.
    W. H. Kruskal and W. A. Wallis (1952), Use of ranks in one-criterion variance analysis, JASA 47.
    B. Phipson and G. K. Smyth (2010), Permutation p-values should never be zero, Statistical
        Applications in Genetics and Molecular Biology 9: (hits + 1) / (draws + 1).

"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream

RESAMPLES = 10_000
"""Number of random splits of a permutation test."""

BATCH = 2**21
"""Numbers drawn at a time, which bounds memory."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of one group minus that of another."""

    n: tuple[int, int]
    estimate: float
    """First - second; nan if a group is empty."""
    low: float
    high: float
    """Bounds of Welch's 95 % interval; nan if a group has fewer than two scores."""
    sd: float
    """Pooled standard deviation of the scores about their group's mean."""
    welch_p: float
    permutation_p: float


@dataclass(frozen=True, slots=True)
class OneWay:
    """Scores of several groups against the hypothesis that groups do not differ."""

    groups: int
    n: int
    f: float
    f_p: float
    eta_squared: float
    h: float
    h_p: float


def difference(
    first: Sequence[float], second: Sequence[float], resamples: int = RESAMPLES, seed: int = 0
) -> Difference:
    """Compare two groups; positive means that the first is higher.

    >>> found = difference([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    >>> found.estimate, found.sd, round(found.welch_p, 3)
    (1.0, 1.0, 0.288)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    n = (len(a), len(b))
    estimate = float(a.mean() - b.mean()) if min(n) else math.nan
    low = high = sd = p = math.nan
    if min(n) > 1:
        parts = a.var(ddof=1), b.var(ddof=1)
        freedom = sum(n) - 2
        sd = math.sqrt(((n[0] - 1) * parts[0] + (n[1] - 1) * parts[1]) / freedom)
        if max(parts) > 0:
            from scipy import stats  # here: it takes a second to load

            welch = stats.ttest_ind(a, b, equal_var=False)
            bounds = welch.confidence_interval(0.95)
            low, high, p = float(bounds.low), float(bounds.high), float(welch.pvalue)
    return Difference(n, estimate, low, high, sd, p, permutation_p(a, b, resamples, seed))


def permutation_p(
    first: Sequence[float] | NDArray[np.float64],
    second: Sequence[float] | NDArray[np.float64],
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> float:
    """Return how often scores dealt out at random differ as much; nan if a group is empty."""
    # Sorted, so that neither names nor order of the instances matter.
    a, b = np.sort(np.asarray(first, float)), np.sort(np.asarray(second, float))
    if not (len(a) and len(b)):
        return math.nan
    pool = np.concatenate((a, b))
    spread = pool - pool.mean()
    # The first group's sum decides: the second's is the rest of it.
    seen = abs(float(spread[: len(a)].sum()))
    slack = 1e-9 * float(np.abs(spread).sum())
    hits = sum(
        int((np.abs(spread[order[:, : len(a)]].sum(axis=1)) >= seen - slack).sum())
        for order in orders(len(pool), resamples, Stream("recite", "permutation", seed))
    )
    return (hits + 1) / (resamples + 1)


def orders(n: int, count: int, stream: Stream) -> Iterator[NDArray[np.intp]]:
    """Yield random orders of 0 … n - 1 as rows, a batch at a time."""
    most = max(1, BATCH // n)
    for start in range(0, count, most):
        rows = min(most, count - start)
        yield stream.uniforms(rows * n).reshape(rows, n).argsort(axis=1, kind="stable")


def one_way(groups: Sequence[Sequence[float]]) -> OneWay:
    """Compare any number of groups; empty ones do not count.

    >>> found = one_way([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
    >>> round(found.f, 3), round(found.eta_squared, 3)
    (1.5, 0.273)
    """
    kept = [np.asarray(group, dtype=np.float64) for group in groups if len(group)]
    pool = np.concatenate(kept) if kept else np.zeros(0)
    n = len(pool)
    f = f_p = eta = h = h_p = math.nan
    total = float(((pool - pool.mean()) ** 2).sum()) if n else 0.0
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in kept)
    if len(kept) > 1 and total > 0:
        from scipy import stats  # here: it takes a second to load

        eta = 1 - within / total
        ranked = stats.kruskal(*kept)
        h, h_p = float(ranked.statistic), float(ranked.pvalue)
        if n > len(kept) and within > 0:
            tested = stats.f_oneway(*kept)
            f, f_p = float(tested.statistic), float(tested.pvalue)
    return OneWay(len(kept), n, f, f_p, eta, h, h_p)
