"""Holm's correction against the closed test that it shortens, and against chance."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from whybench.stats.multiplicity import holm, holm_rejects


def test_holm_is_the_closed_test_of_bonferroni() -> None:
    """A hypothesis falls only if every group of hypotheses that holds it falls (Marcus 1976)."""
    rng = np.random.Generator(np.random.Philox(1))
    for _ in range(50):
        ps = (rng.random(5) ** 2).tolist()
        groups = [g for size in range(1, 6) for g in combinations(range(5), size)]
        slow = [
            max(min(1.0, len(g) * min(ps[i] for i in g)) for g in groups if at in g)
            for at in range(5)
        ]
        assert holm(ps) == pytest.approx(slow)


def step_down(ps: list[float], alpha: float) -> list[bool]:
    """Holm's own words: from the smallest on, reject while p <= alpha / (tests left)."""
    fallen = [False] * len(ps)
    for place, at in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        if ps[at] > alpha / (len(ps) - place):
            break
        fallen[at] = True
    return fallen


@given(st.lists(st.integers(0, 999).map(lambda v: v / 999 / 7), max_size=9))
def test_decisions_are_those_of_stepping_down(ps: list[float]) -> None:
    assert holm_rejects(ps, 0.0537) == step_down(ps, 0.0537)
    assert all(adjusted >= p for adjusted, p in zip(holm(ps), ps, strict=True))


def test_what_was_not_tested_is_not_counted() -> None:
    assert holm([0.02, 0.04]) == holm([math.nan, 0.02, math.nan, 0.04])[1::2]
    assert holm_rejects([math.nan, 0.02]) == [False, True]
    assert holm([]) == []


def test_one_false_alarm_among_true_hypotheses_is_as_rare_as_promised() -> None:
    """10,000 families of 8, independent: 1 - (1 - alpha/8)^8 = 0.0489, standard error 0.002."""
    families = np.random.Generator(np.random.Philox(2)).random((10_000, 8)).tolist()
    share = np.mean([any(holm_rejects(ps)) for ps in families])
    assert share == pytest.approx(1 - (1 - 0.05 / 8) ** 8, abs=0.007)


def test_false_alarms_stay_rare_among_correlated_tests_and_real_effects() -> None:
    """10,000 families of 8: three effects, the last of them moderate; correlation 0.5."""
    rng = np.random.Generator(np.random.Philox(3))
    z = math.sqrt(0.5) * (rng.standard_normal((10_000, 8)) + rng.standard_normal((10_000, 1)))
    z[:, :3] += (5, 4, 3)
    ps = (2 * ndtr(-np.abs(z))).tolist()
    fallen = np.array([holm_rejects(family) for family in ps])
    assert 0.01 < fallen[:, 3:].any(axis=1).mean() <= 0.05
    bonferroni = (np.array(ps) <= 0.05 / 8).mean(axis=0)
    assert (fallen.mean(axis=0) >= bonferroni).all()
    assert fallen[:, 2].mean() > bonferroni[2] + 0.02


@pytest.mark.parametrize("p", [-0.1, 1.01, math.inf])
def test_only_p_values_are_taken(p: float) -> None:
    with pytest.raises(ValueError, match="pass nan for a test not made"):
        holm([0.5, p])


@pytest.mark.parametrize("alpha", [0.0, 1.0, 5.0, math.nan])
def test_alpha_is_a_chance(alpha: float) -> None:
    with pytest.raises(ValueError, match=r"such as 0\.05"):
        holm_rejects([0.5], alpha)
