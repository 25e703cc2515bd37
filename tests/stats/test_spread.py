"""Variance components against the law of scores, SciPy's analysis of variance, and simulation."""

import math
import re

import numpy as np
import pytest
import scipy

from whybench.stats.interval import mean_interval
from whybench.stats.spread import (
    Spread,
    paired_spread,
    paired_spread_of,
    rate_spread,
    spread_of,
)

SIZES = np.array([1, 1, 2, 2, 3, 4, 7, 12])


def generator(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key))


def test_the_variance_of_the_mean_is_that_of_10_000_repetitions() -> None:
    """Clusters of very unlike size, 3 epochs; the variance's standard error is 1.4 %."""
    rng, n = generator(1), int(SIZES.sum())
    spread = Spread(1.0, 0.6, 0.3, SIZES.mean(), SIZES.std() / SIZES.mean())
    clusters = rng.normal(0, math.sqrt(0.3), (10_000, len(SIZES))).repeat(SIZES, axis=1)
    inside = rng.normal(0, math.sqrt(0.7), (10_000, n))
    noise = rng.normal(0, math.sqrt(0.6), (10_000, n, 3)).mean(axis=2)
    means = (clusters + inside + noise).mean(axis=1)
    assert spread.variance(n, 3) == pytest.approx(means.var(), rel=0.05)


def test_a_rate_parts_its_variance_by_repeatability() -> None:
    """Beta chances of instances: two epochs correlate by 1 / (a + b + 1)."""
    law = scipy.stats.beta(1.2, 0.8)
    found = rate_spread(0.6, 1 / 3)
    assert found.between == pytest.approx(law.var())
    assert found.within == pytest.approx(law.expect(lambda p: p * (1 - p)))
    certain = rate_spread(0.6)
    assert (certain.between, certain.within) == (pytest.approx(0.24), 0)


def test_paired_differences_cancel_what_is_shared() -> None:
    one = Spread(0.2, 0.05, 0.25, 4, 0.5)
    same = paired_spread(one, one, 1.0)
    assert (same.between, same.within, same.icc) == (0, 0.1, 0)
    apart = paired_spread(one, one, 0.0)
    assert (apart.between, apart.icc) == (pytest.approx(0.4), pytest.approx(0.25))
    assert (apart.cluster_size, apart.size_cv) == (4, 0.5)


def test_paired_spread_is_the_law_of_the_difference() -> None:
    rng, r = generator(2), 0.6
    one, two = Spread(1.0, 0.5, 0.4, 5), Spread(2.0, 0.25, 0.1, 5)
    expected = paired_spread(one, two, r)

    def pair(first: float, second: float, count: int) -> np.ndarray:
        shared = [[first, r * math.sqrt(first * second)], [r * math.sqrt(first * second), second]]
        return np.subtract(*rng.multivariate_normal([0, 0], shared, count).T)

    clusters, inside = pair(0.4, 0.2, 200_000), pair(0.6, 1.8, 200_000)
    assert expected.between == pytest.approx((clusters + inside).var(), rel=0.02)
    assert expected.icc == pytest.approx(clusters.var() / (clusters + inside).var(), rel=0.03)
    assert expected.within == 0.75


def test_estimates_for_equal_clusters_follow_from_scipys_f() -> None:
    rng = generator(3)
    table = rng.normal(size=(12, 5)) + rng.normal(size=(12, 1))
    scores = {(c, i): [table[c, i]] for c in range(12) for i in range(5)}
    found = spread_of(scores, {key: key[0] for key in scores})
    inner = table.var(axis=1, ddof=1).mean()
    over = (scipy.stats.f_oneway(*table).statistic - 1) * inner / 5
    assert found.between == pytest.approx(over + inner)
    assert found.icc == pytest.approx(over / (over + inner))
    assert (found.within, found.cluster_size, found.size_cv) == (0, 5, 0)


def test_estimates_are_right_on_average() -> None:
    """500 runs of 40 unlike clusters, 1 to 3 epochs, some unscored; standard error about 1 %."""
    rng = generator(4)
    found = []
    for _ in range(500):
        scores: dict[tuple[int, int], list[float | None]] = {}
        for c, size in enumerate(np.tile(SIZES, 5).tolist()):
            a = rng.normal(0, math.sqrt(0.4))
            for i in range(size):
                values = a + rng.normal(0, math.sqrt(0.6)) + rng.normal(0, 0.5, 1 + (c + i) % 3)
                scores[c, i] = [*values.tolist(), None, math.nan]
        found.append(spread_of(scores, {key: key[0] for key in scores}))
    assert np.mean([one.within for one in found]) == pytest.approx(0.25, rel=0.03)
    assert np.mean([one.between for one in found]) == pytest.approx(1.0, rel=0.03)
    assert np.mean([one.icc * one.between for one in found]) == pytest.approx(0.4, rel=0.05)
    assert found[0].size_cv == pytest.approx(SIZES.std() / SIZES.mean())


def test_the_estimated_variance_is_that_of_the_interval() -> None:
    rng = generator(5)
    scores = {key: (rng.normal() + 0.5 * rng.normal(size=3)).tolist() for key in range(80)}
    bounds = mean_interval(
        [value for epochs in scores.values() for value in epochs],
        instances=[key for key in scores for _ in range(3)],
    )
    error = (bounds.high - bounds.low) / 2 / scipy.stats.t.ppf(0.975, 79)
    assert spread_of(scores).variance(80, 3) == pytest.approx(error**2)


def test_paired_estimates_take_shared_instances_only() -> None:
    first = {"a": [1, 0, 1], "b": [1, 1, 1], "c": [0, 0, 0], "d": [None], "e": [1]}
    second = {"a": [0, 0], "b": [1, 0], "c": [0, 0], "d": [1], "f": [1]}
    found = paired_spread_of(first, second)
    assert found.within == pytest.approx(2 / 3 / 6 + 0.5 / 3)
    differences = [2 / 3, 0.5, 0]
    noise = 2 / 3 / 6 / 3 + 0.5 / 3 / 2
    assert found.between == pytest.approx(max(0, np.var(differences, ddof=1) - noise))


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        ({"between": -1.0}, "between must be 0 or more"),
        ({"between": math.nan}, "between must be 0 or more"),
        ({"between": 1.0, "within": math.inf}, "within must be 0 or more"),
        ({"between": 1.0, "icc": 1.5}, "icc must lie from 0 to 1"),
        ({"between": 1.0, "cluster_size": 0.5}, "cluster_size must be 1 or more"),
    ],
)
def test_impossible_spreads(fields: dict[str, float], advice: str) -> None:
    with pytest.raises(ValueError, match=re.escape(advice)):
        Spread(**fields)


def test_bad_callers() -> None:
    with pytest.raises(ValueError, match="rate must lie from 0 to 1"):
        rate_spread(1.5)
    with pytest.raises(ValueError, match="repeatability must lie"):
        rate_spread(0.5, -0.1)
    with pytest.raises(ValueError, match="correlation must lie"):
        paired_spread(Spread(1), Spread(1), 2)
    with pytest.raises(ValueError, match="Give both the same sizes"):
        paired_spread(Spread(1), Spread(1, cluster_size=2), 0.5)
    with pytest.raises(ValueError, match="Pass a Spread instead"):
        spread_of({"a": [1, 0], "b": [1]}, {"a": "w", "b": "w"})
    with pytest.raises(ValueError, match="'b' has no cluster"):
        spread_of({"a": [1, 0], "b": [1]}, {"a": "w"})
