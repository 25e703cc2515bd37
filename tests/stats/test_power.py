"""Power against SciPy, printed tables, and 10,000 simulated runs of the planned size."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from whybench.stats.interval import mean_interval
from whybench.stats.mcnemar import mcnemar_power
from whybench.stats.paired import paired_bootstrap
from whybench.stats.power import (
    Design,
    design_needed,
    detectable,
    epochs_needed,
    instances_needed,
    mcnemar_needed,
    power_of,
)
from whybench.stats.spread import Spread, rate_spread

RUNS = 10_000


def generator(key: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key))


def rejected(sums: np.ndarray, sizes: np.ndarray, value: float = 0.0) -> np.ndarray:
    """Whether `mean_interval` leaves `value` out, for many runs given by their cluster sums."""
    n, count = sizes.sum(), len(sizes)
    means = sums.sum(axis=1) / n
    apart = sums - means[:, None] * sizes
    error = np.sqrt(count / (count - 1) * (apart**2).sum(axis=1)) / n
    return np.abs(means - value) > scipy.stats.t.ppf(0.975, count - 1) * error


def test_the_fast_test_of_this_file_is_the_interval() -> None:
    sizes, rng = np.array([1, 4, 2, 3, 2]), generator(1)
    values = rng.normal(0.6, 1.0, (200, 12))
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes, axis=1)
    labels = np.arange(5).repeat(sizes)
    slow = [not (f.low <= 0 <= f.high) for f in (mean_interval(row, labels) for row in values)]
    assert rejected(sums, sizes).tolist() == slow
    assert 20 < sum(slow) < 180


# Closed forms


def test_power_is_scipys_noncentral_t() -> None:
    for n in (2, 5, 30, 400):
        for shift in (0.0, 0.3, 2.0, 4.5):
            for alpha in (0.001, 0.05, 0.3):
                t = scipy.stats.t.ppf(1 - alpha / 2, n - 1)
                expected = scipy.stats.nct.sf(t, n - 1, shift) + scipy.stats.nct.cdf(
                    -t, n - 1, shift
                )
                found = power_of(shift, Spread(float(n)), n, alpha=alpha)
                assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("effect", "power", "pairs"), [(0.2, 0.8, 199), (0.5, 0.8, 34), (0.8, 0.8, 15), (0.5, 0.95, 54)]
)
def test_small_medium_and_large_effects_need_the_usual_pairs(
    effect: float, power: float, pairs: int
) -> None:
    assert instances_needed(effect, Spread(1.0), power=power) == pairs


def test_large_runs_follow_the_normal_law() -> None:
    z = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)
    spread = Spread(0.12, 0.08, 0.2, 6, 0.5)
    by_hand = z**2 * spread.variance(1, 2) / 0.01**2
    assert instances_needed(0.01, spread, epochs=2) == pytest.approx(by_hand, rel=2e-3)
    assert detectable(spread, by_hand, 2) == pytest.approx(0.01, rel=2e-3)
    for shift in (0.0, 1.0, 10.0, 37.0, 50.0, 1e3):
        expected = ndtr(shift - 1.959964) + ndtr(-shift - 1.959964)
        for n in (1e6, 1e9, 1e12):
            assert power_of(shift / math.sqrt(n), Spread(1.0), n) == pytest.approx(
                expected, abs=1e-5
            )


def test_no_difference_is_found_at_the_rate_of_false_alarms() -> None:
    assert power_of(0.0, Spread(0.3, 0.1, 0.2, 3), 60, 2, alpha=0.01) == pytest.approx(0.01)


def test_mcnemars_mid_p_test_has_the_planned_power_and_the_exact_one_less() -> None:
    for only_first, only_second in ((0.2, 0.1), (0.12, 0.02), (0.3, 0.2)):
        gap = only_first - only_second
        spread = Spread(only_first + only_second - gap**2)
        for power in (0.8, 0.95):
            n = instances_needed(gap, spread, power=power)
            mid_p = mcnemar_power(n, only_first, only_second)
            assert power - 0.003 <= mid_p <= power + 0.025
            assert mcnemar_power(n, only_first, only_second, kind="exact") < mid_p - 0.005


# 10,000 simulated runs, standard error at most 0.005


@pytest.mark.parametrize(("clusters", "size", "epochs", "icc"), [(12, 4, 3, 0.4), (40, 1, 2, 0.0)])
def test_simulated_power_of_normal_scores(
    clusters: int, size: int, epochs: int, icc: float
) -> None:
    rng, spread = generator(2), Spread(1.0, 1.5, icc, size)
    gap = detectable(spread, clusters * size, epochs)
    inside = rng.normal(0, math.sqrt(1 - icc), (RUNS, clusters, size))
    noise = rng.normal(0, math.sqrt(1.5 / epochs), (RUNS, clusters, size))
    shared = rng.normal(0, math.sqrt(icc), (RUNS, clusters))
    sums = (inside + noise).sum(axis=2) + size * (shared + gap)
    sizes = np.full(clusters, size)
    assert rejected(sums, sizes).mean() == pytest.approx(0.8, abs=0.015)
    assert rejected(sums, sizes, value=gap).mean() == pytest.approx(0.05, abs=0.008)


def test_simulated_power_with_clusters_of_unlike_size() -> None:
    """One cluster of 12, many of one or two: measured 0.795 for a planned 0.8."""
    rng = generator(3)
    sizes = np.tile([1, 1, 2, 2, 3, 4, 7, 12], 8)
    n = int(sizes.sum())
    spread = Spread(1.0, 0.5, 0.2, sizes.mean(), sizes.std() / sizes.mean())
    gap = detectable(spread, n)
    inside = rng.normal(0, 1, (RUNS, len(sizes))) * np.sqrt(sizes * 1.3)
    sums = inside + sizes * (rng.normal(0, math.sqrt(0.2), (RUNS, len(sizes))) + gap)
    assert rejected(sums, sizes).mean() == pytest.approx(0.8, abs=0.025)


def test_simulated_power_of_a_rate_against_a_value() -> None:
    """Beta-binomial instances of rate 0.65 against 0.5, 3 epochs: 0.884 for a planned 0.9."""
    spread = rate_spread(0.65, 0.5)
    n = instances_needed(0.15, spread, epochs=3, power=0.9)
    rng = generator(4)
    solved = rng.binomial(3, rng.beta(0.65, 0.35, (RUNS, n))) / 3
    assert rejected(solved, np.ones(n), value=0.5).mean() == pytest.approx(0.9, abs=0.02)


def systems(rng: np.random.Generator, runs: int, worlds: int) -> tuple[np.ndarray, np.ndarray]:
    """Chances of two systems: worlds of 3 instances, difficulty shared, the first better."""
    world = rng.normal(0, 0.7, (runs, worlds, 1))
    hard = world + rng.normal(0, 0.7, (runs, worlds, 3))
    knack = 0.4 * rng.standard_normal((2, runs, worlds, 1))
    own = 0.3 * rng.standard_normal((2, runs, worlds, 3))
    first, second = ndtr(np.array([0.6, 0.1])[:, None, None, None] + hard + knack + own)
    return first, second


@pytest.mark.slow
def test_a_comparison_of_the_planned_size_finds_the_better_system() -> None:
    """Two systems, 0/1 scores, 2 epochs, worlds of 3 instances, power 0.95 asked for.

    Measured at the 192 instances that this needs: t test 0.951 of 10,000 runs, sign-flip test
    0.943 of 1,000.
    """
    rng = generator(5)
    first, second = systems(rng, 1, 200_000)
    gaps = (first - second)[0]
    shared = np.cov(gaps[:, 0], gaps[:, 1])[0, 1]
    within = float((first * (1 - first) + second * (1 - second)).mean())
    spread = Spread(float(gaps.var()), within, shared / gaps.var(), 3)
    assert spread.icc > 0.3
    n = instances_needed(float(gaps.mean()), spread, epochs=2, power=0.95)
    worlds = n // 3
    assert worlds * 3 == n
    one, two = (rng.binomial(2, chances) / 2 for chances in systems(rng, RUNS, worlds))
    differences = one - two
    found = rejected(differences.sum(axis=2), np.full(worlds, 3)) & (differences.mean((1, 2)) > 0)
    assert found.mean() == pytest.approx(0.95, abs=0.01)

    places = {at: at // 3 for at in range(n)}
    nothing = dict.fromkeys(places, 0.0)
    right = 0
    for run, row in enumerate(differences[:1_000].reshape(1_000, n).tolist()):
        compared = paired_bootstrap(
            dict(enumerate(row)), nothing, clusters=places, resamples=399, seed=run
        )
        right += compared.p_value <= 0.05 and compared.estimate > 0
    assert 0.935 <= right / 1_000 <= 0.965


# Sizes are the least that suffice

spreads = st.builds(
    Spread,
    st.floats(0.01, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(1, 9),
    st.floats(0, 2),
)


@settings(max_examples=60, deadline=None)
@given(spreads, st.floats(0.02, 1), st.integers(1, 5), st.floats(0.3, 0.99))
def test_one_cluster_less_is_too_little(
    spread: Spread, gap: float, epochs: int, power: float
) -> None:
    n = instances_needed(gap, spread, epochs, power=power)
    assert power_of(gap, spread, n, epochs) >= power
    fewer = n - math.ceil(spread.cluster_size)
    assert fewer < 2 * spread.cluster_size or power_of(gap, spread, fewer, epochs) < power
    least = epochs_needed(gap, spread, n, power=power)
    assert least is not None
    assert least <= epochs
    assert power_of(gap, spread, n, least) >= power
    assert least == 1 or power_of(gap, spread, n, least - 1) < power
    shown = detectable(spread, n, epochs, power=power)
    assert shown <= gap * (1 + 1e-9)
    assert power_of(shown, spread, n, epochs) == pytest.approx(power, abs=1e-9)


def test_epochs_do_not_replace_instances() -> None:
    spread = Spread(0.1, 0.1)
    floor = instances_needed(0.05, Spread(0.1))
    assert epochs_needed(0.05, spread, floor - 1) is None
    assert design_needed(0.05, spread, most_instances=floor - 1) is None
    enough = epochs_needed(0.05, spread, floor + 10)
    assert enough is not None
    assert enough > 1


def test_a_design_uses_epochs_only_where_instances_run_out() -> None:
    spread = Spread(0.1, 0.1)
    free = design_needed(0.05, spread)
    assert free == Design(630, 1, power_of(0.05, spread, 630))
    assert design_needed(0.05, spread, most_instances=630) == free
    short = design_needed(0.05, spread, most_instances=629)
    assert short is not None
    assert (short.epochs, short.instances) == (2, instances_needed(0.05, spread, 2))
    broken = Spread(0.1, cluster_size=2.5)  # whole clusters would make 318 of 316
    gap = detectable(broken, 316)
    assert instances_needed(gap, broken) == 318
    rounded = design_needed(gap, broken, most_instances=316)
    assert rounded is not None
    assert (rounded.instances, rounded.power >= 0.8) == (316, True)


@pytest.mark.parametrize("power", [0.8, 0.95])
@pytest.mark.parametrize(
    ("gap", "apart"), [(0.1, 0.15), (0.1, 0.465), (0.2, 0.4), (0.3, 0.35), (0.3, 0.5)]
)
def test_mcnemars_test_has_the_power_that_its_size_is_for(
    power: float, gap: float, apart: float
) -> None:
    size = mcnemar_needed(gap, Spread(apart - gap * gap), power=power)
    assert mcnemar_power(size, (apart + gap) / 2, (apart - gap) / 2) >= power
    assert size < 1.25 * instances_needed(gap, Spread(apart - gap * gap), power=power)


def test_the_size_for_a_t_test_is_too_small_for_mcnemars() -> None:
    size = instances_needed(0.3, Spread(0.41))
    assert mcnemar_power(size, 0.4, 0.1) < 0.79


def test_one_cluster_shows_nothing_and_no_spread_shows_everything() -> None:
    one = Spread(0.1, cluster_size=50)
    assert power_of(0.5, one, 60) == 0
    assert detectable(one, 60) == math.inf
    assert epochs_needed(0.5, one, 60) is None
    certain = Spread(0.0)
    assert (power_of(0.01, certain, 2), power_of(0.0, certain, 2)) == (1, 0)
    assert (instances_needed(0.01, certain), detectable(certain, 2)) == (2, 0)


def test_bad_callers() -> None:
    spread = Spread(0.1)
    with pytest.raises(ValueError, match="finite and not 0"):
        instances_needed(0.0, spread)
    with pytest.raises(ValueError, match="Give a larger one"):
        instances_needed(1e-9, spread)
    with pytest.raises(ValueError, match=r"power must lie between 0 and 1, such as 0\.8"):
        epochs_needed(0.1, spread, 10, power=80)
    with pytest.raises(ValueError, match=r"alpha must lie between 0 and 1, such as 0\.05"):
        power_of(0.1, spread, 10, alpha=0)
    with pytest.raises(ValueError, match="must exceed alpha"):
        detectable(spread, 10, power=0.05)
    with pytest.raises(ValueError, match="both must be 1 or more"):
        power_of(0.1, spread, 10, 0)
