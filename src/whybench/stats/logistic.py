"""Logistic regression of several classes, by gradient steps: small, and the same everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PENALTY = 3.0
"""The weight of the squared slopes."""


def slopes(x: Floats, classes: NDArray[np.int64], steps: int = 300) -> Floats:
    """Return the slopes of a logistic regression without constant terms, with a penalty.

    Args:
        x: A row of features for each case.
        classes: The class of each case, from 0.
        steps: The number of gradient steps.

    Returns:
        A row for each feature, a column for each class.

    """
    y = np.eye(int(classes.max()) + 1)[classes]
    weights = np.zeros((x.shape[1], y.shape[1]))
    step = 1.0 / (0.5 * float(np.linalg.norm(x, 2)) ** 2 + PENALTY)
    for _ in range(steps):
        logits = x @ weights
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        weights -= step * (x.T @ (shares - y) + PENALTY * weights)
    return weights
