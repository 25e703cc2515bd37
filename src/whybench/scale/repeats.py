"""How many repeats to expect in a set, told from the law or from a pilot, not from the set.

Rows come in *draws*: a generator draws a system and may ask several things of it, so the rows of
one draw are dependent and only draws are independent. A key (a system or a problem, up to renaming)
is in a draw with chance q, and s draws are expected to show D(s) = Σ 1 − (1−q)^s keys.

Three ways to D, by what is known:

- the law is listed: `listed`, the sum itself;
- the law can be evaluated but not listed: `sampled`, since a drawn key K has D(s) = E f(q_K) with
  f(q) = (1 − (1−q)^s) / q;
- only a pilot of t draws is there: `expected`, around the guess of `Pilot.after`.

Where repeats are few, they are foretold as a count. Under every law a key's repeats in Poisson many
draws vary at most `CLUMPED` times as much as a Poisson count of their mean, and just as much while
keys come twice at most. The pilot's count x and the set's count y have means in some ratio r, so
given x + y the second is binomial, whatever the rate: the y that this does not refute hold with the
chance that they are meant to. As draws grow from t to s, r is at most that of equally likely keys
and at least that of repeats that go on as fast as at the pilot's end (repeats are convex in s).

With no repeat in the pilot this is the rule of three: the collision chance λ = Σ q² is below
3 / C(t, 2), and a second pilot has four repeats at most.
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
"""Each end of an interval holds with this chance."""
FEW = 20
"""Repeats below which the normal law is too coarse; so many draws if they bring several each."""
CLUMPED = 1.4
"""The most of Var R / E R for R = max(0, N−1) with N ~ Poisson (it is 1.391, at a mean of 1.72)."""


@dataclass(frozen=True, slots=True)
class Collision:
    """The chance λ = Σ q² that two draws share a key (for several keys a draw: how many)."""

    chance: float
    low: float
    high: float

    @property
    def alike(self) -> float:
        """How many equally likely keys would collide as often: 1/λ."""
        return 1 / self.chance if self.chance else math.inf


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a set of some rows should show."""

    rows: int
    distinct: float
    low: float
    """The least number of distinct keys that is plausible in one set of this size."""
    high: float

    @property
    def rate(self) -> float:
        """The duplicate rate: 1 − distinct / rows."""
        return 1 - self.distinct / self.rows


def listed(chances: Iterable[float], draws: float) -> float:
    """Return the distinct keys expected where the chance of every key is known.

    >>> listed([0.5, 0.5], 2)
    1.5
    """
    return sum(-math.expm1(draws * math.log1p(-q)) if q < 1 else 1.0 for q in chances)


def sampled(chances: Sequence[float], draws: float) -> tuple[float, float]:
    """Return the distinct keys expected, with the standard error, from chances of drawn keys.

    `chances` holds the exact chance of each of some keys that were drawn from the law itself.
    """
    found = [fresh(q, draws) for q in chances]
    return float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(len(found)))


def uniform(alike: float, draws: float) -> float:
    """Return the distinct keys expected if `alike` keys are equally likely.

    No law of the same collision chance 1/alike shows fewer (Jensen: f is convex).

    >>> round(uniform(365, 23), 2)
    22.32
    """
    return fresh(1 / alike, draws)


def collision(pilot: Pilot) -> Collision:
    """Estimate the collision chance by the pilot's pairs of draws.

    Pairs that share a draw are dependent, so coinciding pairs vary more than a Poisson count by
    1 + 2(t−2)(Σq³ − λ²)/λ, estimated by triples; the count is divided by it before its exact
    Poisson interval is taken.
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
    """Tell from a pilot how many keys a set of `rows` rows should show."""
    if rows < 1:
        raise ValueError("a set has at least one row")
    draws = rows * pilot.draws / pilot.rows
    found = min(pilot.after(draws), pilot.each * draws)
    start = min(draws, pilot.draws)
    few = pilot.each * start - pilot.after(start) < FEW * pilot.each
    low, high = _counted(pilot, draws) if few else _normal(pilot, draws)
    below, above = max(0.0, found - low), max(0.0, high - found)
    if pilot.rows > pilot.draws:  # repeats within draws grow with the rows, and vary by themselves
        inner, share = pilot.rows - pilot.finds, draws / pilot.draws
        least, most = _foretold(inner, share, max(1.0, pilot.rows / pilot.draws - 1))
        below = math.hypot(below, most - inner * share)
        above = math.hypot(above, inner * share - least)
    low, high = round(found - below, 6), round(found + above, 6)  # no whole number is cut off
    return Expectation(rows, found, min(found, max(0.0, low)), max(found, min(float(rows), high)))


def figure(curve: Sequence[tuple[int, int]], pilot: Pilot) -> list[dict[str, Any]]:
    """Set expected beside found duplicate rates along a growth curve (rows seen, distinct)."""
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
    """Return the least and the most keys of a set where repeats are few."""
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
    """Return what a count may be whose mean is `ratio` times that of the one that was seen.

    Both vary `over` times as much as Poisson counts. Given x + y, x is binomial of chance
    1/(1 + ratio); an end of the interval is where x as small, or as large, has chance 1 − SURE.
    """
    if not ratio or ratio > 1e9:  # nothing to come, or so much that its own noise is nothing
        least, most = _poisson(seen, over)
        return ratio * least, ratio * most
    x, share = seen / over, 1 / (1 + ratio)
    least = float(special.btdtrib(x, 1 - SURE, share)) - 1 if x else 0.0
    most = float(special.btdtria(1 - SURE, x + 1, 1 - share))
    return max(0.0, least * over), most * over


def _alike(t: int, distinct: float) -> float:
    """Return the chance q of equally likely keys of which t draws show so many."""
    if distinct <= 1:
        return 1.0
    return float(optimize.brentq(lambda q: fresh(q, t) - distinct, 0.0, 1.0))


def _normal(pilot: Pilot, draws: float) -> tuple[float, float]:
    """Return the least and the most keys of a set where repeats are many.

    To the set's own noise comes the pilot's: up to its size at most draws/t as much (Hoeffding);
    beyond, that of what it found and of what it makes expect to come. Where nearly all keys are
    found, the noise is that of the few that are missing, hence a quarter of z² for each, as in
    Wilson's interval; and as there, the side with more noise (more repeats) lies z²/2 further off.
    """
    t, z = pilot.draws, float(special.ndtri(SURE))
    noise = _noise(pilot, draws)
    noise += noise * draws / t if draws <= t else _noise(pilot, t)
    slack = z * math.sqrt(noise + z**2 / 2)
    least, most = _extremes(pilot, draws) if draws > t else (pilot.after(draws),) * 2
    return least - slack - z**2 / 2, min(pilot.each * draws, most + slack)


def _noise(pilot: Pilot, draws: float) -> float:
    """Return the most that D(s) varies in a set of s draws.

    At Poisson times, s on average, Var D = Σ e^{−sq} (1 − e^{−sq}) = D(2s) − D(s) if keys come
    alone, and up to `each` times that as they come together; s·D'² is due to the random s.
    """
    here = pilot.after(draws)
    ahead = pilot.after(2 * draws) - here
    return max(0.0, pilot.each * ahead - draws * (pilot.after(draws + 1) - here) ** 2)


def _extremes(pilot: Pilot, draws: float) -> tuple[float, float]:
    """Return the least and the most keys after more draws than the pilot's.

    What a further draw adds is known from the keys found once, or from those found again: the rest.
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
    """Return the exact (Garwood) interval of a Poisson mean; above 0 it ends at 3.

    A count that varies `over` times as much is taken as so many fewer events.
    """
    events = count / over
    low = float(special.gammaincinv(events, 1 - SURE)) if events > 0 else 0.0
    return low * over, float(special.gammaincinv(events + 1, SURE)) * over
