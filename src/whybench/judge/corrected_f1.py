"""Correct a judge's F1 through precision and recall, because F1 is not a mean of credits."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from whybench.judge.correction import Corrected
from whybench.judge.credit import Point, f1
from whybench.stats.interval import mean_interval


def corrected_f1(
    values: Sequence[float | None],
    clusters: Sequence[Hashable] | None,
    parts: Sequence[tuple[Sequence[float | None], Corrected]],
    exam: Sequence[Sequence[Point]],
    *,
    asked: Sequence[bool] | None = None,
    level: float = 0.95,
) -> Corrected:
    """Correct the mean of F1 through precision and recall.

    The precisions of all answers are scaled so that their mean is the corrected one, and so are the
    recalls. F1 is then computed again. The lower bound uses both lower bounds, and the upper bound
    both upper bounds.

    Args:
        values: The F1 of each answer, as judged.
        clusters: The cluster of each answer.
        parts: Precisions with their correction, and recalls with theirs.
        exam: The judge's points for F1, for its bias.
        asked: Whether the judge was asked about each answer; None means all.
        level: Level of the interval of F1 as judged.

    """
    judged = mean_interval(values, clusters, level, bounds=(0.0, 1.0))
    asked = [True] * len(values) if asked is None else asked
    bias = fmean(point.given - point.right for paper in exam for point in paper)
    papers = min(part.papers for _, part in parts)
    found = Corrected(judged, math.nan, 0.0, 1.0, math.nan, math.nan, bias, papers, False)
    if not all(part.usable for _, part in parts):
        return replace(found, beyond=any(part.beyond for _, part in parts))
    moved = [
        [_moved(own, asked, getattr(part, bound)) for own, part in parts]
        for bound in ("estimate", "low", "high")
    ]
    estimate, low, high = (
        float(np.mean([f1(p, r) for p, r in zip(*both, strict=True) if not math.isnan(p + r)]))
        for both in moved
    )
    return replace(found, estimate=estimate, low=low, high=high, usable=True)


def _moved(values: Sequence[float | None], asked: Sequence[bool], target: float) -> list[float]:
    """Scale values so that their mean is the given one; values that a rule decides stay."""
    held = np.array([math.nan if value is None else value for value in values])
    known = ~np.isnan(held)
    free = known & np.array(asked, dtype=bool)
    if free.any():
        mean, goal = held[free].mean(), min(1.0, target * known.sum() / free.sum())
        if goal <= mean:
            held[free] *= goal / mean if mean else 1.0
        else:
            held[free] = 1 - (1 - held[free]) * (1 - goal) / (1 - mean)
    return [float(value) for value in held]
