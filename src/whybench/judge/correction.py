"""Correct judge scores by the judge's exam, with intervals that include both sampling errors.

The quantity to correct is the mean of a score over answers. The assumption is that the judge makes
the same errors on similar elements in the exam and in the answers: elements of one pass whose key
gives the same credit, on average. Nothing is assumed about how common each kind is. The interval
contains every mean that some mixture of the exam's kinds explains (see `credit`), so a judge that
confuses levels gets a wide interval. The exam cannot show whether the assumption holds, because its
documents are generated and its answers are altered gold graphs. If the judged mean is outside
everything that the judge gave in the exam, the assumption fails, and there is no correction.

The estimate within the interval assumes that the judge gives a + b x to what deserves x. A
least-squares fit to the exam gives a and b, and the line is inverted. For credits of 0 and 1 this
is the correction of Rogan and Gladen by sensitivity and specificity, and the only possible one.

F1 is not a mean of credits: it follows from the corrected precision and recall, see `corrected_f1`.
An answer that no judge was asked about (missing, too large) has 0 by rule and keeps it.

Intervals are a percentile bootstrap. Clusters of the judged sample and papers of the exam are
resampled, and each deviation is widened for small numbers (Student's t on n - 1 degrees of
freedom). A judge that hardly distinguishes good from bad has b near 0. Then nothing can be said,
and the interval is 0 to 1.

References:
    W. J. Rogan and B. Gladen (1978), Estimating prevalence from the results of a screening test,
        American Journal of Epidemiology 107.
    C. Osborne (1991), Statistical calibration: a review, International Statistical Review 59: the
        classical estimator.
    C. F. Manski (2003), Partial Identification of Probability Distributions, Springer: bounds where
        the data leave the answer open.

"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from whybench.causal.seeds import Stream
from whybench.judge.credit import Floats, Point, kind_sums, possible
from whybench.stats.interval import FEW_CLUSTERS, Interval, mean_interval

DRAWS = 2_000
FLATTEST = 0.05
"""A flatter line carries no information."""

BEYOND = 0.05
"""If a mean is farther than this from every credit in the exam, the exam does not explain it."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A judge's score as it was given and as corrected."""

    judged: Interval
    """The score as given; its bounds ignore the judge's errors."""
    estimate: float
    """NaN if no correction is possible."""
    low: float
    high: float
    offset: float
    """Credit that the judge gives to elements that deserve none; for F1, NaN."""
    slope: float
    """Extra credit for elements that deserve all; 1 with offset 0 means a judge without bias."""
    bias: float
    """Mean credit given minus mean right credit, in the exam."""
    papers: int
    usable: bool
    """Whether a correction is possible: the judge clearly distinguishes good from bad."""
    beyond: bool = False
    """Whether no correction is possible because the exam does not explain this mean."""

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
    asked: Sequence[bool] | None = None,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Corrected:
    """Correct the mean of a judge's scores.

    Args:
        values: The judge's scores of answers, from 0 to 1; None or NaN if unscored.
        clusters: The cluster of each answer, such as its graph; None: each is its own.
        exam: The judge's points for the same score, by paper.
        stream: Random stream of the bootstrap samples.
        asked: Whether the judge was asked about each answer; None means all.
        level: Level of the interval.
        draws: Number of bootstrap samples.

    """
    if not exam:
        raise ValueError("No paper of the exam was readable. Examine the judge again.")
    labels = list(range(len(values))) if clusters is None else list(clusters)
    judged = mean_interval(values, labels, level, bounds=(0.0, 1.0))
    lines = np.array([_sums(paper) for paper in exam])
    total = lines.sum(axis=0)
    offset, slope = (float(number[0]) for number in _line(total[None, :]))
    bias = float((total[2] - total[1]) / total[0])
    found = Corrected(judged, math.nan, math.nan, math.nan, offset, slope, bias, len(exam), True)
    answers = _answers(values, labels, [True] * len(values) if asked is None else asked)
    if not answers[:, 1].sum():
        return replace(found, estimate=judged.estimate, low=judged.low, high=judged.high)
    kinds = kind_sums(exam)
    right, given = _credits(kinds.sum(axis=0)[None, :], kinds)
    mean, share = _means(answers.sum(axis=0)[None, :], answers)
    lowest, highest = possible(right, given, mean)
    straight = (mean - offset) / max(slope, FLATTEST)
    estimate = float((np.clip(straight, lowest, highest) * share)[0])
    nothing = replace(found, low=0.0, high=1.0, usable=False)
    if judged.clusters < 2 or len(exam) < 2:
        if slope > FLATTEST and not _beyond(given, mean)[0]:
            return replace(found, estimate=estimate)
        return replace(nothing, beyond=slope > FLATTEST)
    tail = (1 - level) / 2
    wide = _widening(len(exam), level)
    picks = _picks(len(exam), stream, draws)
    slopes = slope + (_line(lines[picks].sum(axis=1))[1] - slope) * wide
    if slope <= FLATTEST or float((slopes > FLATTEST).mean()) <= 1 - tail:
        return nothing
    drawn = answers[_picks(len(answers), stream, draws)].sum(axis=1)
    means, shares = (
        whole + (part - whole) * _widening(len(answers), level)
        for whole, part in zip((mean, share), _means(drawn, answers), strict=True)
    )
    rights, givens = (
        whole + (part - whole) * wide
        for whole, part in zip(
            (right, given), _credits(kinds[picks].sum(axis=1), kinds), strict=True
        )
    )
    if float(_beyond(givens, means).mean()) > 1 - tail:
        return replace(nothing, beyond=True)
    lows, highs = (bound * shares for bound in possible(rights, givens, means))
    return replace(
        found,
        estimate=estimate,
        low=min(estimate, float(np.clip(np.quantile(lows, tail), 0.0, 1.0))),
        high=max(estimate, float(np.clip(np.quantile(highs, 1 - tail), 0.0, 1.0))),
    )


def _sums(paper: Sequence[Point]) -> list[float]:
    """Return the statistics of a paper for the line: weight, and weighted sums of x, y, xx, xy."""
    held = [(p.weight, p.right, p.given) for p in paper]
    return [
        sum(w for w, _, _ in held),
        sum(w * x for w, x, _ in held),
        sum(w * y for w, _, y in held),
        sum(w * x * x for w, x, _ in held),
        sum(w * x * y for w, x, y in held),
    ]


def _line(sums: Floats) -> tuple[Floats, Floats]:
    """Return offsets and slopes; if nothing varies, a constant shift."""
    weight, x, y, xx, xy = sums.T
    spread = weight * xx - x * x
    flat = spread <= 1e-9 * weight * weight
    slope = np.where(flat, 1.0, (weight * xy - x * y) / np.where(flat, 1.0, spread))
    return (y - slope * x) / weight, slope


def _credits(sums: Floats, papers: Floats) -> tuple[Floats, Floats]:
    """Return right and given credits of kinds in draws; a missing kind uses all papers."""
    whole = papers.sum(axis=0)
    there = sums[:, :, :1] > 0
    found = np.where(
        there, sums[:, :, 1:] / np.where(there, sums[:, :, :1], 1.0), whole[:, 1:] / whole[:, :1]
    )
    return found[:, :, 0], found[:, :, 1]


def _beyond(given: Floats, mean: Floats) -> NDArray[np.bool_]:
    """Tell for each draw whether the mean is outside the credits that the judge gives."""
    off: NDArray[np.bool_] = np.maximum(given.min(axis=1) - mean, mean - given.max(axis=1)) > BEYOND
    return off


def _answers(
    values: Sequence[float | None], clusters: Sequence[Hashable], asked: Sequence[bool]
) -> Floats:
    """Return for each cluster the sum of judged scores, and the numbers judged and scored."""
    held: dict[Hashable, list[float]] = {}
    for value, cluster, told in zip(values, clusters, asked, strict=True):
        if value is not None and not math.isnan(value):
            own = held.setdefault(cluster, [0.0, 0.0, 0.0])
            own[0] += value * told
            own[1] += told
            own[2] += 1
    return np.array(list(held.values())).reshape(-1, 3)


def _means(sums: Floats, answers: Floats) -> tuple[Floats, Floats]:
    """Return the mean of judged scores in draws, and their share of all answers."""
    whole = answers.sum(axis=0)
    told = sums[:, 1] > 0
    mean = np.where(told, sums[:, 0] / np.where(told, sums[:, 1], 1.0), whole[0] / whole[1])
    return mean, sums[:, 1] / sums[:, 2]


def _picks(n: int, stream: Stream, draws: int) -> NDArray[np.intp]:
    """Return samples of n things, each drawn with replacement."""
    return (stream.uniforms(draws * n) * n).astype(np.intp).reshape(draws, n)


def _widening(n: int, level: float) -> float:
    """Return the factor by which a bootstrap of n things is too narrow."""
    tail = (1 - level) / 2
    return math.sqrt(n / (n - 1)) * float(stdtrit(n - 1, tail) / ndtri(tail))
