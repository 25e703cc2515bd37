"""Compute the size that a run needs to show a difference, and the difference that a run can show.

One test answers two questions. *One system against a value*: does its mean differ from a given
value, such as a floor or a published figure without noise? *Two systems on shared instances*: does
the mean of their paired differences differ from 0? The `Spread` alone decides which question is
answered (`spread.rate_spread` and `spread_of`, or `paired_spread` and `paired_spread_of`).

The test is the two-sided t test on clusters that `interval.mean_interval` inverts: it rejects if
the interval of level 1 - alpha excludes the value. The sign-flip test of `paired` has the same
power for large samples. McNemar's mid-p test has slightly less. It uses the variance at the null
hypothesis, which is larger by the square of the difference (see `mcnemar_needed`).

Assumptions:

- The estimate is normal with the variance of the `Spread`, so t has the noncentral t distribution
  with clusters - 1 degrees of freedom. This is true for normal scores in equal clusters. For 0/1
  scores it is a good approximation from about 20 clusters and ten solved and ten unsolved instances
  (for pairs: ten on which only one system is right). It is optimistic by some points if clusters
  differ much in size.
- The spread is the one at the true difference, not at the null hypothesis.
- Every instance has the same number of epochs. Instances are added in whole clusters of the same
  mean size. Instances and clusters are a sample from a larger population, so running a finite suite
  completely does not remove its uncertainty.
- There is one test. For several tests with Holm's correction, alpha divided by their number is
  enough for each.

With the normal distribution in place of t, the number of instances is
n = (z(1 - alpha/2) + z(power))² · (variance for one instance) / difference². This is easy to
compute by hand, but gives a few instances too few. More instances shrink the whole spread, and more
epochs shrink only `within`. So a new instance always helps at least as much as one more epoch of
all.

References:
    J. Cohen (1988), Statistical power analysis for the behavioral sciences, ch. 2.
    E. Miller (2024), Adding error bars to evals, arXiv:2411.00640, sec. 5: power of paired evals.

"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import nctdtr, ndtri, stdtrit

from whybench.stats.spread import Spread

MOST = 2**40
"""Runs with more clusters or epochs than this count as impossible."""


@dataclass(frozen=True, slots=True)
class Design:
    """The size of a run, with its power."""

    instances: int
    epochs: int
    power: float


def power_of(
    difference: float, spread: Spread, instances: float, epochs: float = 1, *, alpha: float = 0.05
) -> float:
    """Return the probability that the test rejects if this is the true difference.

    With fewer than two clusters nothing can be tested, so the power is 0.

    >>> round(power_of(0.5, Spread(1.0), 34), 3)
    0.808
    """
    _check(alpha=alpha)
    if epochs < 1 or instances < 1:
        raise ValueError(f"{instances} instances and {epochs} epochs: both must be 1 or more")
    freedom = instances / spread.cluster_size - 1
    if freedom < 1:
        return 0.0
    error = math.sqrt(spread.variance(instances, epochs))
    if error == 0:
        return 1.0 if difference else 0.0
    return _power(abs(difference) / error, freedom, alpha)


def instances_needed(
    difference: float,
    spread: Spread,
    epochs: float = 1,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int:
    """Return the fewest instances, in whole clusters, that show this difference at this power.

    >>> instances_needed(0.5, Spread(1.0))  # Cohen's medium effect
    34
    >>> instances_needed(0.05, Spread(0.1, 0.1)), instances_needed(0.05, Spread(0.1, 0.1), epochs=5)
    (630, 379)
    """
    _check(difference=difference, power=power, alpha=alpha)

    def size(clusters: int) -> int:
        return math.ceil(clusters * spread.cluster_size - 1e-9)

    clusters = _least(
        2,
        lambda count: power_of(difference, spread, size(count), epochs, alpha=alpha) >= power,
    )
    if clusters is None:
        raise ValueError(f"A difference of {difference} is too small to show. Give a larger one.")
    return size(clusters)


def mcnemar_needed(
    difference: float, spread: Spread, *, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return the fewest instances for McNemar's mid-p test, if each is its own cluster.

    It uses the normal distribution with the variance under each hypothesis (R. J. Connor, 1987,
    Sample size for testing differences in proportions for the paired-sample design, Biometrics 43).

    >>> instances_needed(0.3, Spread(0.41)), mcnemar_needed(0.3, Spread(0.41))
    (38, 42)
    """
    _check(difference=difference, power=power, alpha=alpha)
    there = spread.between + spread.within
    null = there + difference * difference
    reach = -float(ndtri(alpha / 2)) * math.sqrt(null) + float(ndtri(power)) * math.sqrt(there)
    return max(2, math.ceil((reach / difference) ** 2))


def epochs_needed(
    difference: float,
    spread: Spread,
    instances: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int | None:
    """Return the fewest epochs that show this difference on this number of instances.

    The result is None if no number of epochs is enough, because epochs do not shrink the variance
    between instances.

    >>> epochs_needed(0.05, Spread(0.1, 0.1), 379), epochs_needed(0.05, Spread(0.1, 0.1), 300)
    (5, None)
    """
    _check(difference=difference, power=power, alpha=alpha)
    if power_of(difference, spread, instances, MOST, alpha=alpha) < power:
        return None
    return _least(
        1, lambda count: power_of(difference, spread, instances, count, alpha=alpha) >= power
    )


def design_needed(
    difference: float,
    spread: Spread,
    *,
    most_instances: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Design | None:
    """Return the sufficient size with the fewest epochs, and then the fewest instances.

    Except for rounding, this is also the size with the fewest episodes. The result is None if
    `most_instances`, for example all of a suite, are too few for any number of epochs.

    >>> found = design_needed(0.05, Spread(0.1, 0.1), most_instances=400)
    >>> found.instances, found.epochs, round(found.power, 3)
    (395, 4, 0.801)
    """
    epochs: int | None = 1
    if most_instances is not None:
        epochs = epochs_needed(difference, spread, most_instances, power=power, alpha=alpha)
    if epochs is None:
        return None
    instances = instances_needed(difference, spread, epochs, power=power, alpha=alpha)
    if most_instances is not None:  # whole clusters may round past what is known to suffice
        instances = min(instances, most_instances)
    return Design(instances, epochs, power_of(difference, spread, instances, epochs, alpha=alpha))


def detectable(
    spread: Spread,
    instances: float,
    epochs: float = 1,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float:
    """Return the smallest difference that a run of this size shows at this power.

    It is infinite with fewer than two clusters.

    >>> round(detectable(Spread(0.25), 100), 3)
    0.141
    """
    _check(power=power, alpha=alpha)
    if power <= alpha:
        raise ValueError(f"power {power} must exceed alpha {alpha}, which chance alone gives.")
    if power_of(1.0, spread, instances, epochs, alpha=alpha) == 0:
        return math.inf
    freedom = instances / spread.cluster_size - 1
    low, high = 0.0, 1.0
    while _power(high, freedom, alpha) < power:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, freedom, alpha) < power else (low, middle)
    return high * math.sqrt(spread.variance(instances, epochs))


def _power(shift: float, freedom: float, alpha: float) -> float:
    """Return the probability that a noncentral t is outside the central 1 - alpha range."""
    t = float(stdtrit(freedom, alpha / 2))
    near, far = float(nctdtr(freedom, -shift, t)), float(nctdtr(freedom, shift, t))
    # SciPy gives nan where the tail on the wrong side is too small to tell from 0.
    return min(1.0, near + (0.0 if math.isnan(far) else far))


def _least(start: int, enough: Callable[[int], bool]) -> int | None:
    """Return the smallest number from `start` on that is enough; larger ones must be enough too."""
    if enough(start):
        return start
    low, high = start, 2 * start
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(difference: float = 1.0, power: float = 0.5, alpha: float = 0.05) -> None:
    if difference == 0 or not math.isfinite(difference):
        raise ValueError(f"the difference to show must be finite and not 0; got {difference}")
    for name, value, such in (("power", power, 0.8), ("alpha", alpha, 0.05)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1, such as {such}; got {value}")
