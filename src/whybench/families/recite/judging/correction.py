"""Judge scores corrected by the judge's exam, with intervals that know both to be samples.

A judge gives an element that deserves credit x the credit a + b x on average. The exam, where x is
known, gives a and b by least squares; so if the scores that the judge gave have the mean y, what
they should have been is (y - a) / b. For credits of 0 and 1 this is the correction of Rogan and
Gladen by sensitivity and specificity; for others it takes the judge's error to grow evenly with the
level, and unlike a plain shift by the mean bias it holds when the judged answers are better or
worse than those of the exam. The line hangs on how a judge errs given the truth, not on how common
each truth is in the exam.

Intervals are a percentile bootstrap: clusters of the judged sample and papers of the exam are drawn
again and again, and each deviation is widened for few of them (Student's t on n - 1 degrees of
freedom). A judge that hardly tells good from bad has b near 0, and then nothing can be said: the
interval is all from 0 to 1.

References:
    W. J. Rogan and B. Gladen (1978), Estimating prevalence from the results of a screening test,
        American Journal of Epidemiology 107.
    C. Osborne (1991), Statistical calibration: a review, International Statistical Review 59: the
        classical estimator.

"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from whybench.core.seeds import Stream
from whybench.families.recite.judging.credit import Point
from whybench.stats.interval import FEW_CLUSTERS, Interval, mean_interval

DRAWS = 2_000
FLATTEST = 0.05
"""A line that is flatter tells nothing."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A judge's score as it was given, and as it should have been."""

    judged: Interval
    """As given; its bounds know nothing of the judge's errors."""
    estimate: float
    """NaN if the judge does not tell good from bad."""
    low: float
    high: float
    offset: float
    """Credit that the judge gives to what deserves none."""
    slope: float
    """How much more it gives to what deserves all; 1 with offset 0 is a judge without bias."""
    bias: float
    """Mean credit given minus mean credit right, in the exam."""
    papers: int
    usable: bool
    """Whether the judge tells good from bad at all, beyond doubt."""

    @property
    def few(self) -> bool:
        """Whether there are too few papers or clusters to trust the interval."""
        return self.judged.few_clusters or self.papers < FEW_CLUSTERS


def corrected(
    values: Sequence[float | None],
    clusters: Sequence[Hashable] | None,
    exam: Sequence[Sequence[Point]],
    stream: Stream,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Corrected:
    """Correct the mean of a judge's scores.

    Args:
        values: The judge's scores of answers, from 0 to 1; None or NaN is unscored.
        clusters: Which answers are alike, as documents on one graph are; None: each by itself.
        exam: The judge's points for the same score, paper by paper.
        stream: Draws the bootstrap samples.
        level: Of the interval.
        draws: Bootstrap samples.

    """
    if not exam:
        raise ValueError("no paper of the exam was read: examine the judge again, or another one")
    labels = list(range(len(values))) if clusters is None else list(clusters)
    judged = mean_interval(values, labels, level)
    sums = np.array([_sums(paper) for paper in exam])
    total = sums.sum(axis=0)
    offset, slope = (float(number[0]) for number in _line(total[None, :]))
    bias = float((total[2] - total[1]) / total[0])
    usable = slope > FLATTEST
    estimate = _clipped((judged.estimate - offset) / slope) if usable else math.nan
    low, high = math.nan, math.nan
    if judged.clusters > 1 and len(exam) > 1:
        means = _means(values, labels, judged.estimate, stream, draws, level)
        offsets, slopes = _line(_drawn(sums, stream, draws))
        wide = _widening(len(exam), level)
        offsets = offset + (offsets - offset) * wide
        slopes = slope + (slopes - slope) * wide
        steep = slopes > FLATTEST
        tail = (1 - level) / 2
        usable = usable and float(steep.mean()) > 1 - tail
        found = (means[steep] - offsets[steep]) / slopes[steep]
        if usable:
            low, high = (_clipped(float(q)) for q in np.quantile(found, (tail, 1 - tail)))
        else:
            estimate, low, high = math.nan, 0.0, 1.0
    return Corrected(judged, estimate, low, high, offset, slope, bias, len(exam), usable)


def _sums(paper: Sequence[Point]) -> list[float]:
    """Return what a line needs to know of a paper: weight, and weighted sums of x, y, xx, xy."""
    held = [(p.weight, p.right, p.given) for p in paper]
    return [
        sum(w for w, _, _ in held),
        sum(w * x for w, x, _ in held),
        sum(w * y for w, _, y in held),
        sum(w * x * x for w, x, _ in held),
        sum(w * x * y for w, x, y in held),
    ]


def _line(sums: Floats) -> tuple[Floats, Floats]:
    """Return offsets and slopes; where nothing varies, a plain shift."""
    weight, x, y, xx, xy = sums.T
    spread = weight * xx - x * x
    flat = spread <= 1e-9 * weight * weight
    slope = np.where(flat, 1.0, (weight * xy - x * y) / np.where(flat, 1.0, spread))
    return (y - slope * x) / weight, slope


def _drawn(rows: Floats, stream: Stream, draws: int) -> Floats:
    """Return sums over samples of rows, each drawn with replacement."""
    n = len(rows)
    places = (stream.uniforms(draws * n) * n).astype(np.intp).reshape(draws, n)
    found: Floats = rows[places].sum(axis=1)
    return found


def _means(
    values: Sequence[float | None],
    clusters: Sequence[Hashable],
    mean: float,
    stream: Stream,
    draws: int,
    level: float,
) -> Floats:
    """Return means over samples of clusters."""
    held: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        if value is not None and not math.isnan(value):
            held.setdefault(cluster, []).append(value)
    sums = np.array([[sum(own), len(own)] for own in held.values()])
    got, count = _drawn(sums, stream, draws).T
    found: Floats = mean + (got / count - mean) * _widening(len(sums), level)
    return found


def _widening(n: int, level: float) -> float:
    """Return by how much a bootstrap of n things is too narrow."""
    tail = (1 - level) / 2
    return math.sqrt(n / (n - 1)) * float(stdtrit(n - 1, tail) / ndtri(tail))


def _clipped(number: float) -> float:
    return min(1.0, max(0.0, number))
