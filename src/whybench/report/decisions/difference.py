"""Test whether two systems differ on the instances that both played.

Epochs of an instance are averaged first. Only instances with a score on both sides count. The test
depends on the run:

- One 0/1 score per instance, and every instance its own cluster: McNemar's mid-p test.
- Everything else: the t test on paired, clustered differences, which `stats.power` plans for. Its
  p-value is never below 2^(1 - clusters). No test can give less if it assumes only that a
  difference is as likely to have the opposite sign. So at least six clusters are needed to show a
  difference at 0.05, even if all differences are equal.

The interval is that of the mean difference, by cluster. If a 0/1 score differs by the same amount
in every cluster, there is no variance to estimate. The interval then assumes that up to
z² / (clusters + z²) of all clusters are unlike those seen (Wilson's bound) and differ as far as
possible in the opposite direction. The test decides whether the interval contains 0. If test and
interval disagree at the border, the interval is extended to 0 or ends there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd
from scipy.special import ndtri, stdtr, stdtrit

from whybench.stats.interval import FEW_CLUSTERS, mean_interval
from whybench.stats.mcnemar import mcnemar
from whybench.stats.power import detectable
from whybench.stats.spread import Spread

Test = Literal["McNemar mid-p", "t test", "t test by cluster", "none"]


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second, over the instances with both scores."""

    first: float
    """Mean of the first system; nan if no instance has both scores."""
    second: float
    estimate: float
    """Mean of first - second."""
    low: float
    """Lower bound of its interval; nan if it cannot be computed."""
    high: float
    p_value: float
    """Two-sided; nan if no test is possible."""
    n: int
    """Instances with both scores."""
    clusters: int
    """Clusters among them."""
    epochs: int
    """Largest number of scores of one system on one instance."""
    test: Test
    detectable: float
    """Smallest true difference that such a run detects with the given power; infinite if there are
    too few clusters or no variance among them."""
    error: float = math.nan
    """Standard error of the difference."""
    span: float = math.inf
    """Largest possible difference of two scores."""
    rate: bool = False
    """Whether every score is 0 or 1."""

    def at(self, alpha: float, power: float = 0.8) -> Difference:
        """Return the same with the interval and detectable difference at another alpha."""
        if self.clusters < 2:
            return self
        half = -float(stdtrit(self.clusters - 1, alpha / 2)) * self.error
        low, high = self.estimate - half, self.estimate + half
        if self.error == 0:
            low, high = math.nan, math.nan
            if self.rate:
                low, high = _without_spread(self.estimate, self.clusters, alpha)
        if self.p_value > alpha:
            low, high = min(low, 0.0), max(high, 0.0)
        elif low <= 0 <= high:
            low, high = (0.0, high) if self.estimate > 0 else (low, 0.0)
        return replace(
            self,
            low=max(low, -self.span),
            high=min(high, self.span),
            detectable=_detectable(self, alpha, power),
        )

    @property
    def few_clusters(self) -> bool:
        """Whether there are too few clusters to trust the interval's width."""
        return self.clusters < FEW_CLUSTERS


def fewest_worlds(alpha: float = 0.05) -> int:
    """Return the fewest clusters that can show any difference at this alpha.

    >>> fewest_worlds(), fewest_worlds(0.01)
    (6, 8)
    """
    return math.ceil(1 - math.log2(alpha) - 1e-12)


def difference(
    first: pd.DataFrame,
    second: pd.DataFrame,
    metric: str,
    *,
    rate: bool,
    alpha: float = 0.05,
    power: float = 0.8,
    span: float | None = None,
) -> Difference:
    """Compare a metric of two frames with columns `instance`, `cluster`, `epoch` and the metric.

    `rate` states whether every score is 0 or 1, as the metric declares. `span` is the largest
    possible difference of two scores; for a rate it is 1.
    """
    one, two = scores_of(first, metric), scores_of(second, metric)
    shared = sorted(one.keys() & two.keys())
    ours, theirs = ({name: _mean(side[name]) for name in shared} for side in (one, two))
    gaps = [ours[name] - theirs[name] for name in shared]
    where = dict(zip(first["instance"].tolist(), first["cluster"].tolist(), strict=True))
    clusters = [where[name] for name in shared]
    n, worlds = len(shared), len(set(clusters))
    if n == 0:
        nan = math.nan
        return Difference(nan, nan, nan, nan, nan, nan, 0, 0, 0, "none", math.inf)
    epochs = max(max(len(one[name]), len(two[name])) for name in shared)
    found = mean_interval(gaps, clusters, 1 - alpha)
    error = _standard_error(found.low, found.high, worlds, alpha)
    test: Test = "t test" if worlds == n else "t test by cluster"
    if rate and epochs == 1 and worlds == n:
        test = "McNemar mid-p"
        p_value = mcnemar(ours, theirs).mid_p
    elif worlds < 2:
        test, p_value = "none", math.nan
    else:
        p_value = _t_test(found.estimate, error, worlds)
    made = Difference(
        _mean(list(ours.values())),
        _mean(list(theirs.values())),
        found.estimate,
        math.nan,
        math.nan,
        p_value,
        n,
        worlds,
        epochs,
        test,
        math.inf,
        error,
        (1.0 if rate else math.inf) if span is None else span,
        rate,
    )
    return made.at(alpha, power)


def scores_of(frame: pd.DataFrame, metric: str) -> dict[str, list[float]]:
    """Return the scores of each instance, one per epoch, without missing ones."""
    names, epochs = frame["instance"].tolist(), frame["epoch"].tolist()
    if len(set(zip(names, epochs, strict=True))) < len(names):
        twice = Counter(zip(names, epochs, strict=True)).most_common(1)[0][0][0]
        raise ValueError(f"Instance {twice} is twice in one epoch. Compare runs one by one.")
    found: dict[str, list[float]] = {}
    for name, value in zip(names, frame[metric].tolist(), strict=True):
        if value == value:  # only NaN differs from itself
            found.setdefault(str(name), []).append(float(value))
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _standard_error(low: float, high: float, worlds: int, alpha: float) -> float:
    if worlds < 2:
        return math.nan
    error = (high - low) / 2 / -float(stdtrit(worlds - 1, alpha / 2))
    return error if error > 1e-12 else 0.0


def _t_test(estimate: float, error: float, worlds: int) -> float:
    if abs(estimate) < 1e-12:
        return 1.0
    tail = 0.0 if error == 0 else 2 * float(stdtr(worlds - 1, -abs(estimate) / error))
    return min(1.0, max(tail, 2.0 ** (1 - worlds)))


def _without_spread(estimate: float, worlds: int, alpha: float) -> tuple[float, float]:
    """Return bounds of a difference of 0/1 scores that is equal in every cluster."""
    z = float(ndtri(alpha / 2))
    unseen = z * z / (worlds + z * z)
    return estimate - unseen * (1 + estimate), estimate + unseen * (1 - estimate)


def _detectable(found: Difference, alpha: float, power: float) -> float:
    """Return the difference that this standard error detects with this power, or infinity."""
    worlds = found.clusters
    if worlds < fewest_worlds(alpha) or found.error == 0:
        return math.inf
    return detectable(Spread(found.error**2 * worlds), worlds, power=power, alpha=alpha)
