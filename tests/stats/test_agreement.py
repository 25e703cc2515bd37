"""Agreement against textbook examples, closed forms and a slow computation pair by pair."""

import itertools
import math

import numpy as np
import pytest

from whybench.stats.agreement import Rating, cohen_kappa, icc_2k, krippendorff_alpha

# Krippendorff (2011), data of section D: 4 observers, 12 units, missing values.
FOUR_OBSERVERS: list[list[Rating]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
# Shrout and Fleiss (1979), table 2: 6 targets by 4 judges.
SIX_TARGETS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)


def slow_alpha(ratings: list[list[Rating]], level: str) -> float:
    """Disagreement over all pairs, one at a time, straight from the definition."""
    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    pool = sorted(itertools.chain.from_iterable(units))

    def cost(x: float, y: float) -> float:
        if level == "nominal":
            return float(x != y)
        if level == "interval":
            return (x - y) ** 2
        low, high = min(x, y), max(x, y)
        between = sum(low <= r <= high for r in pool)
        return (between - (pool.count(low) + pool.count(high)) / 2) ** 2 if x != y else 0.0

    seen = sum(
        sum(cost(x, y) for x, y in itertools.permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    ) / len(pool)
    chance = sum(cost(x, y) for x, y in itertools.permutations(pool, 2))
    chance /= len(pool) * (len(pool) - 1)
    return 1 - seen / chance if chance else math.nan


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_krippendorffs_example(level: str, published: float) -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS, level) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_agrees_with_counting_pair_by_pair(level: str) -> None:
    draw = np.random.default_rng(5)
    compared = 0
    for _ in range(150):
        table = draw.choice([0.0, 0.5, 1.0, 3.0], size=draw.integers((2, 2), (5, 9)))
        missing = draw.random(table.shape) < 0.25
        rows = [
            [None if gone else float(x) for x, gone in zip(*pair, strict=True)]
            for pair in zip(table, missing, strict=True)
        ]
        if not any(sum(r is not None for r in unit) > 1 for unit in zip(*rows, strict=True)):
            continue
        fast, slow = krippendorff_alpha(rows, level), slow_alpha(rows, level)
        assert (math.isnan(fast) and math.isnan(slow)) or fast == pytest.approx(slow)
        compared += not math.isnan(slow)
    assert compared > 100


def test_kappa_of_the_two_by_two_table_by_hand() -> None:
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)  # (0.7 - 0.5) / (1 - 0.5)


def test_quadratic_kappa_is_one_minus_mean_square_difference_over_its_chance_value() -> None:
    draw = np.random.default_rng(6)
    for _ in range(50):
        a, b = draw.integers(0, 5, (2, 40))
        chance = a.var() + b.var() + (a.mean() - b.mean()) ** 2
        expected = 1 - ((a - b) ** 2).mean() / chance
        found = cohen_kappa(a.tolist(), b.tolist(), "quadratic", scale=range(5))
        assert found == pytest.approx(expected)


def test_linear_kappa_is_the_chance_weighted_mean_of_its_two_by_two_cuts() -> None:
    draw = np.random.default_rng(7)
    a, b = draw.integers(0, 4, (2, 60))
    seen = sum(((a > cut) != (b > cut)).mean() for cut in range(3))
    chance = sum(
        (a > cut).mean() * (b <= cut).mean() + (a <= cut).mean() * (b > cut).mean()
        for cut in range(3)
    )
    found = cohen_kappa(a.tolist(), b.tolist(), "linear", scale=range(4))
    assert found == pytest.approx(1 - seen / chance)


def test_weights_go_by_place_on_the_scale() -> None:
    halves = cohen_kappa([0, 0.5, 1, 1], [0, 1, 1, 0.5], "quadratic")
    assert halves == cohen_kappa([0, 1, 2, 2], [0, 2, 2, 1], "quadratic")
    gap = cohen_kappa([0, 1, 1], [0, 1, 0], "linear", scale=[0, 0.5, 1])
    assert gap == cohen_kappa([0, 1, 1], [0, 1, 0], "none")


def test_icc_of_shrout_and_fleiss() -> None:
    assert icc_2k(SIX_TARGETS.T.tolist()) == pytest.approx(0.62, abs=5e-3)


def left(y: np.ndarray, x: np.ndarray) -> float:
    """The squares that a regression leaves."""
    return float(((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2).sum())


def test_icc_agrees_with_variance_components_fitted_by_regression() -> None:
    draw = np.random.default_rng(8)
    for _ in range(20):
        k, n = draw.integers(2, 6), draw.integers(3, 9)
        table = draw.normal(size=(k, n)) + draw.normal(size=n) + draw.normal(size=(k, 1))
        things = np.kron(np.ones((k, 1)), np.eye(n))
        raters = np.kron(np.eye(k), np.ones((n, 1)))
        y = table.ravel()
        both = left(y, np.hstack((things, raters)))
        rest = both / ((n - 1) * (k - 1))
        between = (left(y, raters) - both) / (n - 1)
        rater = (left(y, things) - both) / (k - 1)
        expected = (between - rest) / (between + (rater - rest) / n)
        assert icc_2k(table.tolist()) == pytest.approx(expected)


def test_full_agreement_is_one_and_a_shift_counts_as_disagreement() -> None:
    same: list[list[Rating]] = [[0, 0.5, 1, 1]] * 3
    assert krippendorff_alpha(same, "ordinal") == pytest.approx(1)
    assert icc_2k(same) == pytest.approx(1)
    assert cohen_kappa(same[0], same[1]) == 1
    shifted = [[0, 1, 2], [1, 2, 3]]
    assert icc_2k(shifted) < 1
    assert krippendorff_alpha(shifted) < 1


def test_missing_ratings_are_left_out_and_not_zero() -> None:
    assert cohen_kappa([1, 0, None, math.nan], [1, 0, 1, 0]) == 1
    gap: list[list[Rating]] = [[1, 2, None], [1, 2, 9]]
    assert krippendorff_alpha(gap) == krippendorff_alpha([[1, 2], [1, 2]])
    assert icc_2k(gap) == icc_2k([[1, 2], [1, 2]])


def test_what_cannot_be_answered_is_nan() -> None:
    assert math.isnan(cohen_kappa([1, 1], [1, 1]))
    assert math.isnan(cohen_kappa([None], [1]))
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]))
    assert math.isnan(krippendorff_alpha([[1, None], [None, 1]]))
    assert math.isnan(icc_2k([[0.1, 0.1, 0.1], [0.1, 0.1, 0.1]]))
    assert math.isnan(icc_2k([[1, 2, 3]]))


def test_unequal_rows_and_unknown_categories_are_refused() -> None:
    with pytest.raises(ValueError, match="equally many"):
        cohen_kappa([1], [1, 0])
    with pytest.raises(ValueError, match="not on the scale"):
        cohen_kappa([1], [2], scale=[0, 1])
    with pytest.raises(ValueError, match="one length"):
        krippendorff_alpha([[1, 2], [1]])
    with pytest.raises(ValueError, match="one length"):
        icc_2k([])
