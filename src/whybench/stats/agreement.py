"""Agreement of raters: Cohen's kappa, Krippendorff's alpha, and the intraclass correlation.

Each compares the observed disagreement with the disagreement expected by chance (or from the spread
of what is rated): 1 is full agreement, 0 is chance. A rating of None or NaN is missing, never zero.
If nothing varies, the result is nan. Ten equal ratings look like agreement, but no figure here can
distinguish them from ten guesses.

References:
    J. Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological
        Measurement 20; (1968), Weighted kappa, Psychological Bulletin 70.
    K. Krippendorff (2011), Computing Krippendorff's alpha-reliability: the coincidence matrix and
        the differences of each level.
    P. E. Shrout and J. L. Fleiss (1979), Intraclass correlations: uses in assessing rater
        reliability, Psychological Bulletin 86: case 2, mean of k raters.

"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Rating = float | None
Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]


def cohen_kappa(
    first: Sequence[Rating],
    second: Sequence[Rating],
    weights: Weights = "none",
    scale: Sequence[float] | None = None,
) -> float:
    """Return Cohen's kappa of two raters; pairs with a missing rating are left out.

    Weights depend on the place of a category on the scale, so categories need not be evenly spaced.
    The default scale has the categories that occur, in order. Pass a scale if some may not occur.

    >>> round(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]), 3)
    0.5
    """
    a, b = _numbers(first), _numbers(second)
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} ratings cannot be paired. Give equally many.")
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    places = np.unique(np.concatenate((a, b))) if scale is None else np.array(sorted(scale))
    unknown = set(np.concatenate((a, b)).tolist()) - set(places.tolist())
    if unknown:
        raise ValueError(f"{min(unknown)} is not on the scale: add it or leave the scale out")
    if len(a) == 0:
        return math.nan
    size = len(places)
    table = np.zeros((size, size))
    np.add.at(table, (np.searchsorted(places, a), np.searchsorted(places, b)), 1)
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(a)
    return _one_minus(float((cost * table).sum()), float((cost * chance).sum()))


def krippendorff_alpha(ratings: Sequence[Sequence[Rating]], level: Level = "interval") -> float:
    """Return Krippendorff's alpha: one row for each rater, one column for each thing rated.

    It accepts any number of raters and any pattern of missing ratings. A thing that fewer than two
    raters rated does not count.

    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 2]], "nominal"), 3)
    0.667
    """
    table = _table(ratings)
    values, inverse = np.unique(table[~np.isnan(table)], return_inverse=True)
    counts = np.zeros((table.shape[1], len(values)))
    np.add.at(counts, (np.nonzero(~np.isnan(table))[1], inverse), 1)
    counts = counts[counts.sum(axis=1) > 1]
    if len(counts) == 0:
        return math.nan
    others = counts.sum(axis=1, keepdims=True) - 1
    seen = (counts / others).T @ counts - np.diag((counts / others).sum(axis=0))
    totals = seen.sum(axis=1)
    n = totals.sum()
    chance = (np.outer(totals, totals) - np.diag(totals)) / (n - 1)
    cost = _differences(values, totals, level)
    return _one_minus(float((cost * seen).sum()), float((cost * chance).sum()))


def icc_2k(ratings: Sequence[Sequence[Rating]]) -> float:
    """Return ICC(2,k): the reliability of the mean of k raters who are a random sample.

    Pass one row for each rater and one column for each thing rated. Things with a missing rating
    are left out. Differences in level between raters count as disagreement. The result is negative
    if raters differ more on one thing than things differ from each other.

    >>> round(icc_2k([[1, 2, 3], [2, 3, 4]]), 3)
    0.8
    """
    table = _table(ratings)
    table = table[:, ~np.isnan(table).any(axis=0)]
    k, n = table.shape
    if k < 2 or n < 2:
        return math.nan
    grand = table.mean()
    rows = k * float(((table.mean(axis=0) - grand) ** 2).sum())
    columns = n * float(((table.mean(axis=1) - grand) ** 2).sum())
    rest = float(((table - grand) ** 2).sum()) - rows - columns
    between, raters, error = rows / (n - 1), columns / (k - 1), rest / ((n - 1) * (k - 1))
    spread = between + (raters - error) / n
    return (between - error) / spread if spread > _tiny(table) else math.nan


def _differences(values: Floats, totals: Floats, level: Level) -> Floats:
    """Return the squared difference between each pair of values."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    if level == "interval":
        gaps: Floats = np.subtract.outer(values, values) ** 2
        return gaps
    # Ordinal: all ratings from one value to the other, each end counted by half.
    middle = np.cumsum(totals) - totals / 2
    ranks: Floats = np.subtract.outer(middle, middle) ** 2
    return ranks


def _one_minus(seen: float, chance: float) -> float:
    return 1 - seen / chance if chance > 0 else math.nan


def _tiny(table: Floats) -> float:
    """Return the largest value that counts as zero after rounding."""
    return 1e-12 * float(np.square(table).mean() + 1e-300)


def _numbers(ratings: Sequence[Rating]) -> Floats:
    return np.array([math.nan if rating is None else rating for rating in ratings], dtype=float)


def _table(ratings: Sequence[Sequence[Rating]]) -> Floats:
    rows = [_numbers(row) for row in ratings]
    if not rows or len({len(row) for row in rows}) != 1:
        raise ValueError(
            "Raters must rate the same things. Give rows of one length, with None if missing."
        )
    return np.array(rows)
