"""How far apart two sets of texts are, and how wide one is (appendix F).

References:
    A. Gretton et al. (2012), A kernel two-sample test, JMLR 13: the maximum mean discrepancy, its
        permutation test, and the median distance as the kernel's width.

"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.analyses.compare import orders
from whybench.families.recite.extras.analyses.table import Row, number, p_value

Points = NDArray[np.floating]
"""One embedding per row."""


@dataclass(frozen=True, slots=True)
class Discrepancy(Row):
    """How far apart two sets of texts are."""

    HEAD: ClassVar = ("n", "m", "MMD", "unbiased MMD²", "width", "p")
    n: tuple[int, int]
    mmd: float
    """Root of the biased estimate of MMD²: above 0 even for two samples of one law."""
    squared: float
    """Unbiased estimate of MMD²: 0 on average if both come from one law, so it may be negative."""
    width: float
    """Width of the Gaussian kernel."""
    p: float
    """Share of random splits that are as far apart."""

    def cells(self) -> tuple[str, ...]:
        """Return the row."""
        counts = (str(self.n[0]), str(self.n[1]))
        figures = (number(self.mmd), number(self.squared, 4), number(self.width))
        return (*counts, *figures, p_value(self.p))


def discrepancy(
    first: Points, second: Points, width: float | None = None, resamples: int = 1_000, seed: int = 0
) -> Discrepancy:
    """Return the maximum mean discrepancy of two sets of embeddings, with a permutation p-value.

    The kernel is exp(-d² / (2 width²)); its width is the median distance of all points, if none is
    given. The paper names neither kernel nor estimator, so its figures cannot be compared.
    """
    n, m = len(first), len(second)
    if min(n, m) < 2:
        raise ValueError(f"Sets of {n} and {m} texts are too small. Give at least two each.")
    pool = np.concatenate((first, second)).astype(np.float64)
    wide = float(np.median(pdist(pool))) if width is None else width
    if wide <= 0:
        raise ValueError("Most texts are equal, so their median distance is 0. Give a width.")
    kernel = np.exp(cdist(pool, pool, "sqeuclidean") / (-2 * wide**2))
    seen = _squares(kernel, np.arange(n + m)[None, :], n)
    drawn = orders(n + m, resamples, Stream("recite", "mmd", seed))
    unbiased = float(seen[1][0])
    hits = sum(int((_squares(kernel, o, n)[1] >= unbiased - 1e-12).sum()) for o in drawn)
    mmd = math.sqrt(max(0.0, float(seen[0][0])))
    return Discrepancy((n, m), mmd, unbiased, wide, (hits + 1) / (resamples + 1))


def mean_distance(points: Points) -> float:
    """Return the mean cosine distance of every two embeddings: how wide a set of texts is.

    >>> round(mean_distance(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])), 3)
    0.667
    """
    return float(pdist(np.asarray(points, dtype=np.float64), "cosine").mean())


def _squares(
    kernel: NDArray[np.float64], order: NDArray[np.intp], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the biased and the unbiased MMD² of each order's first n points against the rest."""
    size = len(kernel)
    m = size - n
    chosen = np.zeros(order.shape)
    np.put_along_axis(chosen, order[:, :n], 1.0, axis=1)
    towards = chosen @ kernel
    within = (towards * chosen).sum(axis=1)
    across = towards.sum(axis=1) - within
    rest = kernel.sum() - within - 2 * across
    biased = within / n**2 + rest / m**2 - 2 * across / (n * m)
    unbiased = (within - n) / (n * (n - 1)) + (rest - m) / (m * (m - 1)) - 2 * across / (n * m)
    return biased, unbiased
