"""Logistic regression: the slopes are at the maximum of the penalised likelihood."""

import numpy as np

from whybench.stats.logistic import PENALTY, slopes


def drawn(cases: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Return features, and classes of which the first two follow the first feature."""
    draw = np.random.default_rng(5)
    x = draw.normal(size=(cases, 3))
    noise = draw.gumbel(size=(cases, 3))
    return x, (x[:, :1] * [2.0, -2.0, 0.0] + noise).argmax(axis=1)


def penalised(x: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> float:
    logits = x @ weights
    told = logits[np.arange(len(x)), classes] - np.log(np.exp(logits).sum(axis=1))
    return float(told.sum() - PENALTY / 2 * (weights**2).sum())


def test_no_small_change_is_better() -> None:
    x, classes = drawn()
    weights = slopes(x, classes, steps=3000)
    best = penalised(x, classes, weights)
    for i in range(weights.size):
        for step in (-0.01, 0.01):
            changed = weights.copy()
            changed.flat[i] += step
            assert penalised(x, classes, changed) < best


def test_slopes_have_the_signs_of_the_truth_and_sum_to_zero() -> None:
    x, classes = drawn()
    weights = slopes(x, classes)
    assert weights[0, 0] > 1 > -1 > weights[0, 1]
    assert abs(weights[1:]).max() < 0.5
    assert np.allclose(weights.sum(axis=1), 0, atol=1e-9)
