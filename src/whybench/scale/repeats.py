"""Predict the repeats of a set from its distribution or from a pilot, not from the set itself.

Rows come in *draws*: a generator draws a system and may ask several questions about it. So the rows
of one draw are dependent, and only draws are independent. A key is a system or a problem, up to
renaming. If a key is in a draw with probability q, the expected number of distinct keys after s
draws is D(s) = Σ 1 − (1−q)^s.

There are three ways to compute D:

- `listed`: the probabilities are listed. It is the sum itself.
- `sampled`: probabilities can be evaluated but not listed. For a drawn key K, D(s) = E f(q_K) with
  f(q) = (1 − (1−q)^s) / q.
- `expected`: there is only a pilot of t draws. Its interval contains the estimate `Pilot.after`.

If repeats are few, they are predicted as a count. In a Poisson number of draws, the variance of a
key's repeats is at most `CLUMPED` times the variance of a Poisson count of the same mean. This
holds for every distribution. The variances are equal while keys come at most twice. The count x of
the pilot and the count y of the set have means in some ratio r. Given x + y, y is therefore
binomial, whatever the rate. The interval contains the y that this binomial does not reject, so it
has the intended coverage. As draws grow from t to s, r is at most the ratio for equally likely
keys. It is at least the ratio for repeats that continue at the rate of the pilot's end, because
repeats are convex in s.

With no repeat in the pilot, this is the rule of three: the collision probability λ = Σ q² is below
3 / C(t, 2), and a second pilot has at most four repeats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from whybench.scale.duplicate_forecast import Pilot, fresh

SURE = 0.95
"""Probability with which each end of an interval holds."""
FEW = 20
"""Repeats, divided by the keys per draw, below which the normal approximation is too coarse."""
CLUMPED = 1.4
"""Upper bound on Var R / E R for R = max(0, N−1), N ~ Poisson (maximum 1.391, at mean 1.72)."""


@dataclass(frozen=True, slots=True)
class Collision:
    """The probability λ = Σ q² that two draws share a key.

    If draws have several keys, λ is the expected number of shared keys.
    """

    chance: float
    low: float
    high: float

    @property
    def alike(self) -> float:
        """The number of equally likely keys with the same collision probability: 1/λ."""
        return 1 / self.chance if self.chance else math.inf


@dataclass(frozen=True, slots=True)
class Expectation:
    """The prediction for a set with a given number of rows."""

    rows: int
    distinct: float
    low: float
    """The smallest plausible number of distinct keys in a set of this size."""
    high: float

    @property
    def rate(self) -> float:
        """The duplicate rate: 1 − distinct / rows."""
        return 1 - self.distinct / self.rows


def listed(chances: Iterable[float], draws: float) -> float:
    """Return the expected number of distinct keys if the probability of every key is known.

    >>> listed([0.5, 0.5], 2)
    1.5
    """
    return sum(-math.expm1(draws * math.log1p(-q)) if q < 1 else 1.0 for q in chances)


def sampled(chances: Sequence[float], draws: float) -> tuple[float, float]:
    """Return the expected number of distinct keys, with its standard error, from a sample of keys.

    `chances` holds the exact probabilities of keys that were drawn from the distribution itself.
    """
    found = [fresh(q, draws) for q in chances]
    return float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(len(found)))


def uniform(alike: float, draws: float) -> float:
    """Return the expected number of distinct keys if `alike` keys are equally likely.

    No distribution with the same collision probability 1/alike gives fewer (Jensen: f is convex).

    >>> round(uniform(365, 23), 2)
    22.32
    """
    return fresh(1 / alike, draws)


def collision(pilot: Pilot) -> Collision:
    """Estimate the collision probability from the pairs of draws of the pilot.

    Pairs that share a draw are dependent. So the variance of the count of coinciding pairs is
    1 + 2(t−2)(Σq³ − λ²)/λ times that of a Poisson count. Triples of draws estimate this factor. The
    count is divided by the factor before its exact Poisson interval is computed.
    """
    t = pilot.draws
    pairs = sum(keys * math.comb(i, 2) for i, keys in pilot.spectrum)
    chance = pairs / math.comb(t, 2)
    over = 1.0
    if t > 2 and pairs:
        triples = sum(keys * math.comb(i, 3) for i, keys in pilot.spectrum) / math.comb(t, 3)
        over = max(1.0, 1 + 2 * (t - 2) * (triples - chance**2) / chance)
    low, high = _poisson(pairs, over)
    return Collision(chance, low / math.comb(t, 2), high / math.comb(t, 2))


def expected(pilot: Pilot, rows: int) -> Expectation:
    """Predict from a pilot how many distinct keys a set of `rows` rows has."""
    if rows < 1:
        raise ValueError(f"A set needs at least one row, not {rows}.")
    draws = rows * pilot.draws / pilot.rows
    found = min(pilot.after(draws), pilot.each * draws)
    start = min(draws, pilot.draws)
    few = pilot.each * start - pilot.after(start) < FEW * pilot.each
    low, high = _counted(pilot, draws) if few else _normal(pilot, draws)
    below, above = max(0.0, found - low), max(0.0, high - found)
    if pilot.rows > pilot.draws:  # repeats within draws grow with the rows and vary independently
        inner, share = pilot.rows - pilot.finds, draws / pilot.draws
        least, most = _foretold(inner, share, max(1.0, pilot.rows / pilot.draws - 1))
        below = math.hypot(below, most - inner * share)
        above = math.hypot(above, inner * share - least)
    low, high = round(found - below, 6), round(found + above, 6)  # keep integers inside
    return Expectation(rows, found, min(found, max(0.0, low)), max(found, min(float(rows), high)))


def figure(curve: Sequence[tuple[int, int]], pilot: Pilot) -> list[dict[str, Any]]:
    """Return expected and found duplicate rates along a growth curve (rows seen, distinct)."""
    table = []
    for rows, distinct in curve:
        told = expected(pilot, rows)
        table.append(
            {
                "rows": rows,
                "expected_distinct": told.distinct,
                "found_distinct": distinct,
                "expected_rate": told.rate,
                "expected_rate_low": 1 - told.high / rows,
                "expected_rate_high": 1 - told.low / rows,
                "found_rate": 1 - distinct / rows,
                "inside": told.low <= distinct <= told.high,
            }
        )
    return table


def _counted(pilot: Pilot, draws: float) -> tuple[float, float]:
    """Return the smallest and the largest plausible number of keys if repeats are few."""
    t, each = pilot.draws, pilot.each
    seen = pilot.finds - pilot.distinct
    over = each * (CLUMPED if pilot.spectrum[-1][0] > 2 else 1)
    ratio = max(draws - 1, 0.0) * draws / (t * (t - 1))
    if draws <= t:
        if seen:
            ratio = max(0.0, each * draws - pilot.after(draws)) / seen
        least, most = _foretold(seen, ratio, over)
        return each * draws - most, each * draws - least
    again = each - pilot.shown(1) / t  # repeats of the next draw
    slowly = 1 + again * (draws - t) / seen if seen else ratio
    least, most = _foretold(seen, slowly, over)[0], _foretold(seen, ratio, over)[1] / ratio
    return each * fresh(_alike(t, t - most / each), draws), each * draws - least


def _foretold(seen: float, ratio: float, over: float) -> tuple[float, float]:
    """Return the interval of a count whose mean is `ratio` times the mean of the count seen.

    The variance of both counts is `over` times that of Poisson counts. Given x + y, x is binomial
    with probability 1/(1 + ratio). At an end of the interval, an x as small or as large as the one
    seen has probability 1 − SURE.
    """
    if not ratio or ratio > 1e9:  # no further count, or one whose own variance is negligible
        least, most = _poisson(seen, over)
        return ratio * least, ratio * most
    x, share = seen / over, 1 / (1 + ratio)
    least = float(special.btdtrib(x, 1 - SURE, share)) - 1 if x else 0.0
    most = float(special.btdtria(1 - SURE, x + 1, 1 - share))
    return max(0.0, least * over), most * over


def _alike(t: int, distinct: float) -> float:
    """Return the probability q of equally likely keys if t draws show `distinct` of them."""
    if distinct <= 1:
        return 1.0
    return float(optimize.brentq(lambda q: fresh(q, t) - distinct, 0.0, 1.0))


def _normal(pilot: Pilot, draws: float) -> tuple[float, float]:
    """Return the smallest and the largest plausible number of keys if repeats are many.

    The variance of the pilot is added to the variance of the set. Up to the size of the pilot, it
    is at most draws/t times the variance of the set (Hoeffding). Beyond that size, it is the
    variance of the keys found, and `_extremes` covers the keys still to come. If nearly all keys
    are found, the variance comes from the few missing keys. So z²/4 is added for each of the two
    variances, as in Wilson's interval. As in that interval, the side with more variance (more
    repeats) is z²/2 further away.
    """
    t, z = pilot.draws, float(special.ndtri(SURE))
    noise = _noise(pilot, draws)
    noise += noise * draws / t if draws <= t else _noise(pilot, t)
    slack = z * math.sqrt(noise + z**2 / 2)
    least, most = _extremes(pilot, draws) if draws > t else (pilot.after(draws),) * 2
    return least - slack - z**2 / 2, min(pilot.each * draws, most + slack)


def _noise(pilot: Pilot, draws: float) -> float:
    """Return an upper bound on the variance of D(s) in a set of s draws.

    For a Poisson number of draws with mean s, Var D = Σ e^{−sq} (1 − e^{−sq}) = D(2s) − D(s) if
    each draw has one key. With several keys per draw, it is up to `each` times as large. The term
    s·D'² comes from the random number of draws, so it is subtracted.
    """
    here = pilot.after(draws)
    ahead = pilot.after(2 * draws) - here
    return max(0.0, pilot.each * ahead - draws * (pilot.after(draws + 1) - here) ** 2)


def _extremes(pilot: Pilot, draws: float) -> tuple[float, float]:
    """Return the smallest and the largest number of keys after more draws than the pilot's.

    The keys found once show how many new keys a further draw adds. So do the keys found again,
    because the two add up to the keys of a draw.
    """
    t, f1, each = pilot.draws, pilot.shown(1), pilot.each
    few, many = _poisson(f1, each)
    fewest, most = _poisson(pilot.finds - f1, 2 * each)
    few, many = max(few, pilot.finds - most), min(many, pilot.finds - fewest)
    low = 0.0
    if few > 0:
        common = min(1.0, 2 * _poisson(pilot.shown(2), each)[1] / ((t - 1) * f1))
        low = few / t * fresh(common, draws - t)
    return pilot.distinct + low, pilot.distinct + many / t * (draws - t)


def _poisson(count: float, over: float = 1.0) -> tuple[float, float]:
    """Return the exact (Garwood) interval of a Poisson mean. For a count of 0 it ends at 3.

    If the variance is `over` times larger, the count is divided by `over` first.
    """
    events = count / over
    low = float(special.gammaincinv(events, 1 - SURE)) if events > 0 else 0.0
    return low * over, float(special.gammaincinv(events + 1, SURE)) * over
