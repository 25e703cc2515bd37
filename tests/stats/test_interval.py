import math
import re
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from whybench.stats.interval import (
    FEW_CLUSTERS,
    Interval,
    interval,
    mean_interval,
    rate_interval,
)

Function = Callable[..., Interval]
BOTH: tuple[Function, ...] = (mean_interval, rate_interval)
EVERY: tuple[Function, ...] = (*BOTH, interval)


def generator(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key))


def slow_variance(values: Sequence[float], labels: Sequence[int]) -> float:
    """Sum of residual products over all pairs of values that share a cluster, corrected."""
    n, centre = len(values), math.fsum(values) / len(values)
    total = 0.0
    for x, a in zip(values, labels, strict=True):
        for y, b in zip(values, labels, strict=True):
            if a == b:
                total += (x - centre) * (y - centre)
    count = len(set(labels))
    return max(0.0, total / n**2 * count / (count - 1))


def slow_wilson(p: float, size: float, t: float) -> tuple[float, float]:
    """Roots q of (p - q)^2 = t^2 q(1 - q) / size, the equation behind Wilson's interval."""
    a, b, c = 1 + t**2 / size, -(2 * p + t**2 / size), p**2
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def bounds(found: Interval) -> tuple[float, float]:
    return found.low, found.high


# Closed forms


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("n", [2, 3, 10, 400])
def test_unclustered_mean_is_students_interval(n: int, level: float) -> None:
    values = generator(1).normal(3.0, 2.0, n)
    expected = scipy.stats.t.interval(
        level, n - 1, loc=values.mean(), scale=scipy.stats.sem(values)
    )
    assert bounds(mean_interval(values, level=level)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("hits", [0, 1, 30, 199, 200])
def test_unclustered_rate_is_wilsons_equation(hits: int) -> None:
    values = [1] * hits + [0] * (200 - hits)
    size, t = 199, scipy.stats.t.ppf(0.975, 199)
    if hits in (0, 200):
        size, t = 200, scipy.stats.norm.ppf(0.975)
    expected = slow_wilson(hits / 200, size, t)
    assert bounds(rate_interval(values)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("hits", [0, 7, 60_000, 100_000])
def test_many_unclustered_values_give_scipys_wilson_interval(hits: int) -> None:
    n = 100_000
    expected = scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")
    found = rate_interval(np.arange(n) < hits)
    assert bounds(found) == pytest.approx((expected.low, expected.high), rel=3e-5, abs=1e-15)


def test_clustered_intervals_equal_their_slow_twins() -> None:
    rng = generator(2)
    capped = 0
    for _ in range(1_000):
        n = int(rng.integers(2, 30))
        labels = rng.integers(0, rng.integers(2, n + 1), n).tolist()
        count = len(set(labels))
        if count < 2:
            continue
        t = scipy.stats.t.ppf(0.95, count - 1)
        scores = rng.normal(size=n).tolist()
        half = t * math.sqrt(slow_variance(scores, labels))
        centre = sum(scores) / n
        found = mean_interval(scores, labels, level=0.9)
        assert bounds(found) == pytest.approx((centre - half, centre + half), abs=1e-9)
        assert (found.n, found.clusters) == (n, count)

        hits = (rng.random(n) < rng.random()).astype(int).tolist()
        p, variance = sum(hits) / n, slow_variance(hits, labels)
        size = float(count)
        if p in (0, 1):
            t = scipy.stats.norm.ppf(0.95)
        else:
            raw = p * (1 - p) / variance if variance > 1e-15 else math.inf
            assert raw > 1 - 1e-9
            capped += raw > n
            size = min(raw, n)
        expected = slow_wilson(p, size, t)
        assert bounds(rate_interval(hits, labels, 0.9)) == pytest.approx(expected, abs=1e-9)
    assert capped > 100


def test_one_label_per_value_is_the_same_as_no_labels() -> None:
    values = [0, 1, 1, 0.5, 1]
    assert mean_interval(values, "abcde") == mean_interval(values)
    assert rate_interval([0, 1, 1], [(1,), "x", 3.5]) == rate_interval([0, 1, 1])


@pytest.mark.parametrize("function", BOTH)
def test_repeating_every_value_in_its_cluster_teaches_nothing(function: Function) -> None:
    values, labels = [1, 1, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2, 3, 4]
    once, thrice = function(values, labels), function(values * 3, labels * 3)
    assert bounds(thrice) == pytest.approx(bounds(once), abs=1e-12)
    assert (thrice.n, thrice.clusters) == (24, 5)


def test_a_perfect_score_in_few_clusters_is_not_certain() -> None:
    assert rate_interval([1] * 60, [i // 6 for i in range(60)]).low < rate_interval([1] * 60).low
    assert rate_interval([0] * 60, [i // 6 for i in range(60)]).high > 0.25


# Coverage


REPETITIONS = 10_000


def many(shares: np.ndarray, values: float | np.ndarray) -> dict[str, tuple[np.ndarray, ...]]:
    """Bounds of both intervals for many samples at once: (sample, cluster, instance) → bounds."""
    _, count, size = shares.shape
    p = shares.mean(axis=(1, 2))
    sums = (shares - p[:, None, None]).sum(axis=2)
    variance = count / (count - 1) * (sums**2).sum(axis=1) / (count * size) ** 2
    t = scipy.stats.t.ppf(0.975, count - 1)
    half = t * np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.minimum(values, p * (1 - p) / variance)
    a, b = 1 + t**2 / n, 2 * p + t**2 / n
    root = np.sqrt(np.maximum(0.0, b * b - 4 * a * p**2))
    return {"mean": (p - half, p + half), "rate": ((b - root) / (2 * a), (b + root) / (2 * a))}


def coverage(bounds: tuple[np.ndarray, ...], truth: float) -> float:
    return float(((bounds[0] <= truth) & (truth <= bounds[1])).mean())


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_coverage_of_clustered_samples(p: float) -> None:
    """50 clusters of 6, correlation 0.5, beta-binomial; 10,000 repetitions, standard error 0.002.

    Measured at p = 0.5 and 0.9: rate 0.955 and 0.940, mean 0.950 and 0.920 (Student's interval is
    symmetric where the law is skewed), unclustered rate 0.722 and 0.721, mean 0.694 and 0.680.
    """
    rng, labels = generator(3), [i // 6 for i in range(300)]
    chances = rng.beta(p, 1 - p, (REPETITIONS, 50, 1))
    values = (rng.random((REPETITIONS, 50, 6)) < chances).astype(float)
    known, ignored = many(values, 300), many(values.reshape(REPETITIONS, 300, 1), 300)
    for at in range(20):
        row = values[at].ravel()
        for name, function in (("mean", mean_interval), ("rate", rate_interval)):
            found = bounds(function(row, labels)), bounds(function(row))
            twins = tuple(low[at] for low in known[name]), tuple(low[at] for low in ignored[name])
            assert found[0] == pytest.approx(twins[0], abs=1e-9)
            assert found[1] == pytest.approx(twins[1], abs=1e-9)
    assert 0.94 <= coverage(known["rate"], p) <= 0.96
    assert 0.92 <= coverage(known["mean"], p) <= 0.96
    assert coverage(ignored["rate"], p) < 0.75
    assert coverage(ignored["mean"], p) < 0.75


@pytest.mark.parametrize("mu", [0.0, 1.5])
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_coverage_over_epochs(mu: float, spread: float) -> None:
    """40 worlds of 2 instances, 4 epochs, a quarter of the epochs unscored, 10,000 repetitions.

    An instance is solved with chance ndtr(mu + world + own), both parts of variance `spread`, so
    the true rate has a closed form. Measured, by mu and spread: rate 0.947 to 0.960, mean 0.935 to
    0.951.
    """
    rng = generator(11)
    shape = (REPETITIONS, 40, 2)
    world, own = rng.standard_normal((REPETITIONS, 40, 1)), rng.standard_normal(shape)
    chances = scipy.stats.norm.cdf(mu + math.sqrt(spread) * (world + own))
    scored = rng.random((*shape, 4)) < 0.75
    scored[..., 0] = True
    values = rng.random((*shape, 4)) < chances[..., None]
    shares = (values & scored).sum(axis=3) / scored.sum(axis=3)
    found = many(shares, scored.sum(axis=(1, 2, 3)))
    places = np.arange(80).repeat(4)
    for at in range(20):
        row = np.where(scored[at], values[at], math.nan).ravel()
        for name, function in (("mean", mean_interval), ("rate", rate_interval)):
            one = function(row, places // 2, instances=places)
            assert bounds(one) == pytest.approx(tuple(low[at] for low in found[name]), abs=1e-9)
            assert (one.n, one.clusters) == (scored[at].sum(), 40)
    truth = float(scipy.stats.norm.cdf(mu / math.sqrt(1 + 2 * spread)))
    assert 0.94 <= coverage(found["rate"], truth) <= 0.965
    assert 0.93 <= coverage(found["mean"], truth) <= 0.96


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_coverage_of_unclustered_rates(p: float) -> None:
    """Exact, by summing the binomial law of 40 draws; Wilson's own dips keep it from 0.95."""
    covered = 0.0
    for hits in range(41):
        found = rate_interval([1] * hits + [0] * (40 - hits))
        covered += scipy.stats.binom.pmf(hits, 40, p) * (found.low <= p <= found.high)
    assert 0.93 <= covered <= 0.99


# Epochs


def test_every_instance_counts_alike_however_many_epochs_it_has() -> None:
    values, instances = [1, 1, 1, 0, None], ["a", "a", "a", "b", "b"]
    assert interval(values).estimate == 0.75
    found = interval(values, instances=instances)
    assert (found.estimate, found.n, found.clusters) == (0.5, 4, 2)


def test_epochs_are_averages_by_instance() -> None:
    rng = generator(12)
    values, instances = rng.normal(size=60), rng.integers(0, 20, 60).tolist()
    means = {key: values[np.array(instances) == key].mean() for key in dict.fromkeys(instances)}
    worlds = [key % 7 for key in instances]
    found = mean_interval(values, worlds, instances=instances)
    slow = mean_interval(means.values(), [key % 7 for key in means])
    assert bounds(found) == pytest.approx(bounds(slow))
    alone = mean_interval(values, instances=instances)
    assert bounds(alone) == pytest.approx(bounds(mean_interval(means.values())))
    assert (found.n, found.clusters, alone.clusters) == (60, 7, len(means))


@pytest.mark.parametrize("function", EVERY)
def test_one_epoch_for_each_instance_changes_nothing(function: Function) -> None:
    values, worlds = [1, 0, None, 1, 1, 0], list("uuvvww")
    assert function(values, worlds, instances=range(6)) == function(values, worlds)
    assert function(values, instances=range(6)) == function(values)


def test_a_rate_over_epochs_may_rest_on_more_values_than_instances() -> None:
    values, instances = [1, 0] * 60, [i // 12 for i in range(120)]
    found = rate_interval(values, instances=instances)
    expected = slow_wilson(0.5, 120, scipy.stats.t.ppf(0.975, 9))
    assert bounds(found) == pytest.approx(expected, abs=1e-12)
    assert interval(values, instances=instances) == found


def test_an_instance_lies_in_one_cluster() -> None:
    with pytest.raises(ValueError, match="give its epochs one cluster"):
        mean_interval([1, 0], ["u", "v"], instances=["a", "a"])
    with pytest.raises(ValueError, match="2 values but 1 instance labels"):
        mean_interval([1, 0], instances=["a"])
    with pytest.raises(ValueError, match="value 1 has no instance label"):
        rate_interval([1, 0], instances=["a", None])


# Sparse data never raise


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize("values", [[], [None], [math.nan, None]])
def test_no_scored_values(function: Function, values: list[float | None]) -> None:
    labels = ["a"] * len(values)
    for found in (
        function(values),
        function(values, labels),
        function(values, instances=labels),
        function(values, labels, instances=labels),
    ):
        assert math.isnan(found.estimate)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert (found.n, found.clusters, found.few_clusters) == (0, 0, True)


@pytest.mark.parametrize(
    ("values", "clusters"), [([0.25], None), ([0.25], ["a"]), ([0.0, 0.5], "aa")]
)
def test_the_mean_of_one_cluster_has_no_bounds(
    values: list[float], clusters: Sequence[str] | None
) -> None:
    found = mean_interval(values, clusters)
    assert found.estimate == 0.25
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (found.n, found.clusters, found.few_clusters) == (len(values), 1, True)


@pytest.mark.parametrize("values", [[0], [1], [1] * 500])
def test_a_unanimous_cluster_counts_as_one_value(values: list[int]) -> None:
    found = rate_interval(values, ["same"] * len(values))
    expected = slow_wilson(values[0], 1, scipy.stats.norm.ppf(0.975))
    assert bounds(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("values", [[0, 1], [0] * 499 + [1]])
def test_the_rate_of_one_divided_cluster_is_nearly_anything(values: list[int]) -> None:
    found = rate_interval(values, ["same"] * len(values))
    assert 0 <= found.low <= min(0.01, found.estimate)
    assert max(0.99, found.estimate) <= found.high <= 1
    expected = slow_wilson(found.estimate, 1, scipy.stats.t.ppf(0.975, 1))
    assert bounds(found) == pytest.approx(expected, abs=1e-12)


def test_unscored_values_are_dropped_with_their_labels() -> None:
    found = interval([1, None, 0, math.nan, 1, 1], ["a", "b", "a", None, "c", "d"])
    assert found == rate_interval([1, 0, 1, 1], ["a", "a", "c", "d"])
    assert (found.n, found.clusters, found.estimate) == (4, 3, 0.75)


def test_equal_values_have_no_width_as_a_mean_but_do_as_a_rate() -> None:
    assert bounds(mean_interval([0.5] * 8)) == (0.5, 0.5)
    assert rate_interval([1] * 8).low < 0.7


def test_levels_near_the_ends_stay_finite() -> None:
    for level in (1e-300, 1e-15, 1e-9, 1 - 1e-15):
        for values in ([1, 1, 0], [1, 1, 1], [0, 0, 0]):
            found = rate_interval(values, "aab", level)
            assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_rounding_never_leaves_the_unit_interval() -> None:
    for n in range(1, 400):
        assert rate_interval([1] * n).high == 1
        assert rate_interval([0] * n).low == 0


def test_a_bounded_mean_is_cut_off_at_its_bounds_and_nowhere_else() -> None:
    high = [1.0, 1.0, 1.0, 0.6]
    free, held = mean_interval(high), mean_interval(high, bounds=(0, 1))
    assert free.high > 1 == held.high
    assert (held.low, held.estimate) == (free.low, free.estimate)
    assert mean_interval([0.0, 3.0], bounds=(0, math.inf)).low == 0
    assert math.isnan(mean_interval([1.0], bounds=(0, 1)).high)


def test_few_clusters_are_flagged_and_intervals_are_values() -> None:
    assert interval([0, 1] * 20, [i % (FEW_CLUSTERS - 1) for i in range(40)]).few_clusters
    found = interval([0, 1] * 20, [i % FEW_CLUSTERS for i in range(40)])
    assert not found.few_clusters
    assert hash(found) == hash(interval([0, 1] * 20, [i % FEW_CLUSTERS for i in range(40)]))
    with pytest.raises(FrozenInstanceError):
        found.low = 0.0  # type: ignore[misc]  # wrong on purpose


# A bad caller is told how to mend it


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize(
    ("values", "clusters", "level", "advice"),
    [
        ([0, 1], ["a"], 0.95, "2 values but 1 cluster labels; give each value one label"),
        ([0, 1], None, 0.0, "between 0 and 1, such as 0.95"),
        ([0, 1], None, 95, "between 0 and 1, such as 0.95"),
        ([0, 1], None, math.nan, "between 0 and 1, such as 0.95"),
        ([0, math.inf], None, 0.95, "pass None for an episode without a score"),
        ([[0, 1], [1, 1]], None, 0.95, "flatten them and pass clusters"),
        ([0, 1], ["a", None], 0.95, "value 1 has no cluster label; label it or drop the value"),
        ([0, 1], [math.nan, "a"], 0.95, "value 0 has no cluster label"),
    ],
)
def test_bad_callers(
    function: Function, values: object, clusters: object, level: float, advice: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(advice)):
        function(values, clusters, level)


def test_a_rate_of_other_values_names_the_right_function() -> None:
    with pytest.raises(ValueError, match="use mean_interval"):
        rate_interval([0, 1, 1.5])


def test_shares_over_epochs_stay_within_zero_and_one() -> None:
    found = rate_interval([1, 1, 1, 0.5], "abcd")
    assert 0 <= found.low <= found.estimate == 0.875 <= found.high <= 1


# Properties

Sample = list[tuple[float, int]]
labels = st.integers(0, 6)
rates = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), labels), min_size=1, max_size=40)
scores = st.lists(st.tuples(st.floats(-1e3, 1e3), labels), min_size=1, max_size=40)
levels = st.floats(0.01, 0.999)


@given(rates, levels)
def test_rates_are_ordered_and_within_the_unit_interval(sample: Sample, level: float) -> None:
    values, clusters = zip(*sample, strict=True)
    for found in (rate_interval(values, clusters, level), rate_interval(values, level=level)):
        assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert interval(values, clusters, level) == rate_interval(values, clusters, level)


@given(scores, levels)
def test_means_are_ordered_or_have_no_bounds(sample: Sample, level: float) -> None:
    values, clusters = zip(*sample, strict=True)
    found = mean_interval(values, clusters, level)
    if found.clusters < 2:
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    else:
        assert found.low <= found.estimate <= found.high


@given(rates | scores, st.randoms(use_true_random=False))
def test_order_and_names_of_clusters_do_not_matter(sample: Sample, random: object) -> None:
    shuffled = list(sample)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    values, clusters = zip(*sample, strict=True)
    moved, renamed = zip(*((value, f"c{label}") for value, label in shuffled), strict=True)
    one, two = interval(values, clusters), interval(moved, renamed)
    assert (one.n, one.clusters) == (two.n, two.clusters)
    for a, b in zip(
        (one.low, one.estimate, one.high), (two.low, two.estimate, two.high), strict=True
    ):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9, nan_ok=True)


@settings(max_examples=50)
@given(rates, st.floats(0.02, 0.5), st.floats(0.5, 0.98))
def test_a_higher_level_is_wider(sample: Sample, lower: float, higher: float) -> None:
    values, clusters = zip(*sample, strict=True)
    narrow = rate_interval(values, clusters, lower)
    wide = rate_interval(values, clusters, higher)
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12


@given(rates)
def test_a_rate_and_its_complement_mirror(sample: Sample) -> None:
    values, clusters = zip(*sample, strict=True)
    found = rate_interval(values, clusters)
    mirror = rate_interval([1 - value for value in values], clusters)
    assert (1 - mirror.high, 1 - mirror.low) == pytest.approx(bounds(found), abs=1e-9)
