"""McNemar's tests against SciPy, the published example, the paired test and simulation."""

import math

import numpy as np
import pytest
import scipy

from whybench.stats.mcnemar import McNemar, mcnemar, mcnemar_power
from whybench.stats.paired import paired_bootstrap


def of(only_first: int, only_second: int, same: int = 0) -> McNemar:
    first = [1.0] * only_first + [0.0] * only_second + [1.0] * same
    second = [0.0] * only_first + [1.0] * only_second + [1.0] * same
    return mcnemar(dict(enumerate(first)), dict(enumerate(second)))


def test_exact_and_mid_p_values_equal_scipys_binomial_law() -> None:
    for b in range(25):
        for c in range(25):
            found = of(b, c, 3)
            assert (found.n, found.only_first, found.only_second) == (b + c + 3, b, c)
            expected = scipy.stats.binomtest(b, b + c).pvalue if b + c else 1.0
            assert found.exact_p == pytest.approx(expected, rel=1e-9)
            # P(less likely outcomes, both sides) and half of P(as likely outcomes).
            law = scipy.stats.binom.pmf(np.arange(b + c + 1), b + c, 0.5)
            likely = np.isclose(law, law[b], rtol=1e-9)
            slow = law[(law < law[b]) & ~likely].sum() + law[likely].sum() / 2
            assert found.mid_p == pytest.approx(slow if b != c else 1.0, rel=1e-9)


def test_the_example_of_fagerland_and_others() -> None:
    found = of(1, 7, 13)
    assert (round(found.exact_p, 3), round(found.mid_p, 3)) == (0.070, 0.039)


def test_the_exact_test_is_the_sign_flip_test_of_pairs() -> None:
    rng = np.random.Generator(np.random.Philox(1))
    for _ in range(20):
        first, second = (dict(enumerate(row)) for row in rng.integers(0, 2, (2, 60)).tolist())
        flipped = paired_bootstrap(first, second, resamples=1)
        assert mcnemar(first, second).exact_p == pytest.approx(flipped.p_value, rel=1e-9)


def test_unscored_and_unshared_instances_are_left_out() -> None:
    first = {"a": 1.0, "b": None, "c": 0.0, "d": math.nan, "only": 1.0}
    second = {"a": 0.0, "b": 1.0, "c": 1.0, "d": 1.0, "other": 0.0}
    assert mcnemar(first, second) == McNemar(2, 1, 1, 1.0, 1.0)
    nothing = mcnemar({}, second)
    assert (nothing.n, math.isnan(nothing.exact_p), math.isnan(nothing.mid_p)) == (0, True, True)


@pytest.mark.parametrize(("n", "b", "c"), [(60, 0.25, 0.1), (150, 0.2, 0.1), (40, 0.3, 0.0)])
def test_power_is_the_share_of_rejections_in_10_000_repetitions(n: int, b: float, c: float) -> None:
    """Standard error at most 0.005."""
    rng = np.random.Generator(np.random.Philox(2))
    counts = rng.multinomial(n, (b, c, 1 - b - c), 10_000)
    outcomes, times = np.unique(counts, axis=0, return_counts=True)
    found = [of(*outcome) for outcome in outcomes.tolist()]
    for kind, ps in (
        ("exact", [one.exact_p for one in found]),
        ("mid-p", [one.mid_p for one in found]),
    ):
        share = times[np.array(ps) <= 0.05].sum() / 10_000
        assert mcnemar_power(n, b, c, kind=kind) == pytest.approx(share, abs=0.016)  # type: ignore[arg-type]  # a literal from a loop


def test_false_alarms_of_equal_systems() -> None:
    """Exact sums: both stay below 0.05 where systems agree on half or more, mid-p much nearer."""
    worst = {"exact": 0.0, "mid-p": 0.0}
    for n in (10, 20, 40, 70, 100):
        for split in np.linspace(0.05, 0.5, 10):
            for kind in worst:
                found = mcnemar_power(n, split / 2, split / 2, kind=kind)  # type: ignore[arg-type]  # a literal from a loop
                worst[kind] = max(worst[kind], found)
    assert 0.03 < worst["exact"] < 0.04
    assert 0.045 < worst["mid-p"] <= 0.05


def test_power_at_the_ends() -> None:
    assert mcnemar_power(50, 0.0, 0.0) == 0
    assert mcnemar_power(50, 1.0, 0.0) == pytest.approx(1)
    assert mcnemar_power(5, 1.0, 0.0, kind="exact") == 0  # 2 / 32 is above 0.05
    assert mcnemar_power(6, 1.0, 0.0, kind="exact") == pytest.approx(1)


def test_bad_callers() -> None:
    with pytest.raises(ValueError, match="use paired_bootstrap"):
        mcnemar({"a": 0.5}, {"a": 1})
    with pytest.raises(ValueError, match="at least 1 instance"):
        mcnemar_power(0, 0.1, 0.1)
    with pytest.raises(ValueError, match="sum to at most 1"):
        mcnemar_power(10, 0.8, 0.3)
    with pytest.raises(ValueError, match=r"such as 0\.05"):
        mcnemar_power(10, 0.1, 0.1, alpha=5)
