"""McNemar's test: whether two systems solve different shares of the same instances.

Only instances that one system solves and the other does not solve carry information. If the systems
were equally good, each of these would favour either system with probability 1/2: a binomial law.

- exact: twice the smaller tail of that law. Its false alarms never exceed alpha and are mostly far
  fewer. So it has less power than `power.power_of` plans for.
- mid-p: the exact p-value minus the probability of the outcome itself. On average over all
  outcomes, its false alarms stay below alpha if the systems agree on at least half of the instances
  (at most 4.95 % at 5 %, for 10 to 100 instances). They exceed it if the systems agree on almost
  none (6.5 %).

Both tests assume one 0/1 score for each system and instance, and independent instances. For several
epochs, for scores on other scales, and for instances that share a cluster, use
`paired.paired_bootstrap`. Where both apply, it equals the exact test here.

References:
    Q. McNemar (1947), Note on the sampling error of the difference between correlated proportions
        or percentages, Psychometrika 12.
    M. W. Fagerland, S. Lydersen and P. Laake (2013), The McNemar test for binary matched-pairs
        data: mid-p and asymptotic are better than exact conditional, BMC Medical Research
        Methodology 13.

"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln

Instance = TypeVar("Instance", bound=Hashable)
Solved = Mapping[Instance, float | None]
Kind = Literal["exact", "mid-p"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often each system alone was right, with the p-values."""

    n: int
    """Instances scored for both systems."""
    only_first: int
    """Instances that only the first system solved."""
    only_second: int
    """Instances that only the second system solved."""
    exact_p: float
    """Two-sided exact p-value; nan without instances."""
    mid_p: float
    """Two-sided mid-p-value; nan without instances."""


def mcnemar(first: Solved[Instance], second: Solved[Instance]) -> McNemar:
    """Compare 0/1 scores of the same instances; None or NaN is unscored and left out.

    >>> first = {f"a{i}": 1 for i in range(7)} | {"b": 0, "c": 1, "d": None}
    >>> second = {f"a{i}": 0 for i in range(7)} | {"b": 1, "c": 1, "d": 1}
    >>> found = mcnemar(first, second)
    >>> found.n, found.only_first, found.only_second
    (9, 7, 1)
    >>> round(found.exact_p, 4), round(found.mid_p, 4)
    (0.0703, 0.0391)
    """
    pairs = [(value, second[one]) for one, value in first.items() if one in second]
    both = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    both = both[~np.isnan(both).any(axis=1)]
    if ((both != 0) & (both != 1)).any():
        raise ValueError("McNemar's test needs scores of 0 and 1; use paired_bootstrap for others.")
    n = len(both)
    b, c = (int((both[:, at] > both[:, 1 - at]).sum()) for at in (0, 1))
    if n == 0:
        return McNemar(0, 0, 0, math.nan, math.nan)
    exact, mid = (float(_p_values(np.array([b]), b + c, kind)[0]) for kind in ("exact", "mid-p"))
    return McNemar(n, b, c, exact, mid)


def mcnemar_power(
    instances: int,
    only_first: float,
    only_second: float,
    *,
    kind: Kind = "mid-p",
    alpha: float = 0.05,
) -> float:
    """Return the exact probability that the test rejects, by summing over all outcomes.

    `only_first` and `only_second` are the true shares of instances that one system alone solves.
    Their difference is the difference of the systems' rates. The sum runs over each possible number
    of such instances, so the cost grows with the square of `instances`.

    >>> round(mcnemar_power(200, 0.2, 0.1), 3)
    0.742
    >>> round(mcnemar_power(200, 0.15, 0.15, kind="exact"), 3)
    0.037
    """
    split = only_first + only_second
    if instances < 1:
        raise ValueError(f"power needs at least 1 instance; got {instances}")
    if min(only_first, only_second) < 0 or split > 1:
        raise ValueError(
            f"shares {only_first} and {only_second} must be at least 0 and sum to at most 1"
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, such as 0.05; got {alpha}")
    if split == 0:
        return 0.0
    apart = _binomial(instances, split)
    power = 0.0
    for m in np.flatnonzero(apart > 1e-15).tolist():
        rejected = _p_values(np.arange(m + 1), m, kind) <= alpha
        power += float(apart[m] * _binomial(m, only_first / split)[rejected].sum())
    return power


def _p_values(hits: NDArray[np.int_], m: int, kind: str) -> Floats:
    """Two-sided p-values of `hits` out of m at chance 1/2."""
    fewer = np.minimum(hits, m - hits)
    exact: Floats = np.minimum(1.0, 2 * bdtr(fewer.astype(float), m, 0.5))
    if kind == "exact":
        return exact
    # With a tie both tails hold the outcome, and the mid-p-value is 1.
    at = np.exp(gammaln(m + 1) - gammaln(fewer + 1) - gammaln(m - fewer + 1) - m * math.log(2))
    mid: Floats = np.where(2 * fewer == m, 1.0, exact - at)
    return mid


def _binomial(n: int, chance: float) -> Floats:
    """The binomial law of n trials: the chances of 0 … n hits."""
    hits = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = ways + np.where(hits > 0, hits * np.log(chance), 0.0)
        logs += np.where(n - hits > 0, (n - hits) * np.log1p(-chance), 0.0)
    law: Floats = np.exp(logs)
    return law
