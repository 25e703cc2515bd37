"""Variance components of scores: between clusters, between instances of a cluster, over epochs.

This is the model behind every plan of a run. The score of instance i of cluster c in epoch e is

    y = μ + a(c) + b(c, i) + e(c, i, e)

with independent parts of mean 0. The expected score of an instance, μ + a + b, has variance
`between`. Two instances of one cluster have the correlation `icc` = Var(a) / `between`. `within` is
the variance over epochs of one instance, averaged over instances. Take the mean over n instances
with K epochs each, in clusters of m instances on average. Its variance is

    (between · (1 + ((1 + cv²) m - 1) icc) + within / K) / n

where cv is the coefficient of variation of the sizes. So few large clusters are less informative
than many small ones. The model assumes no normal distribution. It includes 0/1 scores: a rate p has
between + within = p (1 - p).

A `Spread` describes one system (`rate_spread`, `spread_of`) or the paired difference of two
systems on shared instances (`paired_spread`, `paired_spread_of`). In a difference, the difficulty
of instances cancels.

References:
    S. M. Eldridge, D. Ashby and S. Kerry (2006), Sample size for cluster randomized trials: effect
        of coefficient of variation of cluster size, International Journal of Epidemiology 35.
    S. R. Searle, G. Casella and C. E. McCulloch (1992), Variance components, sec. 3.6: the
        analysis of variance estimators for clusters of unlike size.

"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Instance = TypeVar("Instance", bound=Hashable)
Epochs = Mapping[Instance, Sequence[float | None]]
"""Instance → its score in each epoch; None or NaN is unscored and dropped."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """Variances of a score, or of a paired difference of scores, and how instances cluster."""

    between: float
    """Variance of the expected score between instances."""
    within: float = 0.0
    """Variance over epochs of one instance; if it is 0, more epochs do not help."""
    icc: float = 0.0
    """Correlation of expected scores of two instances of one cluster, from 0 to 1."""
    cluster_size: float = 1.0
    """Mean number of instances in a cluster."""
    size_cv: float = 0.0
    """Standard deviation of the cluster sizes over their mean."""

    def __post_init__(self) -> None:
        """Reject values that no score can have."""
        for name in ("between", "within", "size_cv"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be 0 or more; got {getattr(self, name)}")
        if not 0 <= self.icc <= 1:
            raise ValueError(f"icc must lie from 0 to 1; got {self.icc}")
        if not 1 <= self.cluster_size < math.inf:
            raise ValueError(f"cluster_size must be 1 or more; got {self.cluster_size}")

    def variance(self, instances: float, epochs: float = 1) -> float:
        """Return the variance of the mean over this number of instances and epochs.

        >>> Spread(0.1, 0.15).variance(100), Spread(0.1, 0.15).variance(100, epochs=3)
        (0.0025, 0.0015)
        """
        size = (1 + self.size_cv**2) * self.cluster_size
        return (self.between * (1 + (size - 1) * self.icc) + self.within / epochs) / instances


def rate_spread(
    rate: float,
    repeatability: float = 1.0,
    *,
    icc: float = 0.0,
    cluster_size: float = 1.0,
    size_cv: float = 0.0,
) -> Spread:
    """Return the spread of a 0/1 score that is 1 at this rate.

    `repeatability` is the correlation of two epochs of one instance: 1 if a system always does the
    same, 0 if all instances are equally hard. If it is unknown, 1 is the conservative choice: it
    assumes that more epochs do not reduce the variance.

    >>> rate_spread(0.5, 0.6)
    Spread(between=0.15, within=0.1, icc=0.0, cluster_size=1.0, size_cv=0.0)
    """
    for name, value in (("rate", rate), ("repeatability", repeatability)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must lie from 0 to 1; got {value}")
    whole = rate * (1 - rate)
    between = repeatability * whole
    return Spread(between, whole - between, icc, cluster_size, size_cv)


def paired_spread(first: Spread, second: Spread, correlation: float) -> Spread:
    """Return the spread of first - second on shared instances, from the spread of each.

    `correlation` is the correlation of the two expected scores over instances. It is assumed to be
    the same between clusters and between instances of a cluster. Noise over epochs is independent
    and adds up.

    >>> found = paired_spread(Spread(0.16, 0.05), Spread(0.16, 0.05), 0.75)
    >>> round(found.between, 3), found.within
    (0.08, 0.1)
    """
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must lie from -1 to 1; got {correlation}")
    if (first.cluster_size, first.size_cv) != (second.cluster_size, second.size_cv):
        raise ValueError("Shared instances are in the same clusters. Give both the same sizes.")

    def apart(a: float, b: float) -> float:
        return max(0.0, a + b - 2 * correlation * math.sqrt(a * b))

    clusters = apart(first.between * first.icc, second.between * second.icc)
    inside = apart(first.between * (1 - first.icc), second.between * (1 - second.icc))
    return _spread(
        clusters, inside, first.within + second.within, first.cluster_size, first.size_cv
    )


def spread_of(
    scores: Epochs[Instance], clusters: Mapping[Instance, Hashable] | None = None
) -> Spread:
    """Estimate the spread of one system from a run, by analysis of variance.

    Estimates below 0 are set to 0. If no instance has two scored epochs, noise and difficulty
    cannot be separated: all variance counts as `between`, and `within` is 0.

    >>> found = spread_of({"a": [0, 1], "b": [1, 1], "c": [0, 0], "d": [1, None]})
    >>> round(found.between, 3), round(found.within, 3)
    (0.125, 0.167)
    """
    means, noise, within = _averaged(scores)
    return _estimated(means, noise, within, clusters)


def paired_spread_of(
    first: Epochs[Instance],
    second: Epochs[Instance],
    clusters: Mapping[Instance, Hashable] | None = None,
) -> Spread:
    """Estimate the spread of first - second from two runs, over the instances scored in both.

    >>> found = paired_spread_of({"a": [1], "b": [1], "c": [0]}, {"a": [0], "b": [1], "c": [0]})
    >>> round(found.between, 3), found.within
    (0.333, 0.0)
    """
    (one, noise_1, within_1), (two, noise_2, within_2) = _averaged(first), _averaged(second)
    shared = [instance for instance in one if instance in two]
    means = {instance: one[instance] - two[instance] for instance in shared}
    noise = {instance: noise_1[instance] + noise_2[instance] for instance in shared}
    return _estimated(means, noise, within_1 + within_2, clusters)


def _averaged(
    scores: Epochs[Instance],
) -> tuple[dict[Instance, float], dict[Instance, float], float]:
    """Mean of each scored instance, noise variance of that mean, pooled variance over epochs."""
    means, counts = {}, {}
    squares = 0.0
    for instance, epochs in scores.items():
        values = [float(value) for value in epochs if value is not None and not math.isnan(value)]
        if values:
            counts[instance] = len(values)
            means[instance] = mean = math.fsum(values) / len(values)
            squares += math.fsum((value - mean) ** 2 for value in values)
    freedom = sum(counts.values()) - len(counts)
    within = squares / freedom if freedom else 0.0
    return means, {instance: within / count for instance, count in counts.items()}, within


def _estimated(
    means: Mapping[Instance, float],
    noise: Mapping[Instance, float],
    within: float,
    clusters: Mapping[Instance, Hashable] | None,
) -> Spread:
    groups: dict[Hashable, list[float]] = {}
    for instance, mean in means.items():
        if clusters is not None and instance not in clusters:
            raise ValueError(f"instance {instance!r} has no cluster; name its cluster or drop it")
        groups.setdefault(instance if clusters is None else clusters[instance], []).append(mean)
    if len(groups) < 2:
        raise ValueError("Data of fewer than two clusters show no spread. Pass a Spread instead.")
    sizes = np.array([len(group) for group in groups.values()], dtype=np.float64)
    centres = np.array([math.fsum(group) / len(group) for group in groups.values()])
    n, count = float(sizes.sum()), len(sizes)
    outer = float(sizes @ (centres - sizes @ centres / n) ** 2)
    inner = math.fsum(
        (value - centre) ** 2
        for group, centre in zip(groups.values(), centres.tolist(), strict=True)
        for value in group
    )
    # Searle, Casella and McCulloch (1992): clusters of n0 instances would give the same.
    over = 0.0
    rest = (outer + inner) / (n - 1)
    if n > count:
        n0 = (n - float(sizes @ sizes) / n) / (count - 1)
        over = max(0.0, (outer / (count - 1) - inner / (n - count)) / n0)
        rest = inner / (n - count) if over > 0 else rest
    inside = max(0.0, rest - math.fsum(noise.values()) / n)
    cv = float(sizes.std() / sizes.mean())
    return _spread(over, inside, within, n / count, cv)


def _spread(clusters: float, inside: float, within: float, size: float, cv: float) -> Spread:
    between = clusters + inside
    return Spread(between, within, clusters / between if between > 0 else 0.0, size, cv)
