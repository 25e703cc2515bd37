"""Forecast the number of distinct keys from a pilot: an independent set of the same distribution.

Up to the t draws of the pilot, rarefaction is unbiased. Beyond t draws, the expected number of new
keys is (F₁/t) · E f(Q). Fᵢ is the number of keys found in exactly i draws, and
f(q) = (1 − (1−q)^s) / q for s further draws. Q has the moments E Q = 2F₂/((t−1) F₁) and
E Q² = 6F₃/((t−1)(t−2) F₁).

f is convex and f ≤ s. So a constant Q gives the smallest forecast that the pilot allows (Chao and
others, Ecological Monographs 84, 2014), and Q = 0 gives the largest. Between them, Q is assumed to
have a Gamma distribution.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from scipy import special


@dataclass(frozen=True, slots=True)
class Pilot:
    """Counts of a pilot: an independent set of the same distribution, such as another seed."""

    rows: int
    draws: int
    spectrum: tuple[tuple[int, int], ...]
    """Number of draws that show a key → number of such keys."""

    def __post_init__(self) -> None:
        if self.draws < 2 or self.rows < self.draws:
            raise ValueError("The pilot has fewer than two draws. Give a pilot with more rows.")

    @classmethod
    def of(cls, keys: Sequence[Hashable], width: int = 1) -> Pilot:
        """Count keys in row order, `width` of them to a draw."""
        seen = Counter(key for start in range(0, len(keys), width)
                       for key in set(keys[start : start + width]))  # fmt: skip
        spectrum = sorted(Counter(seen.values()).items())
        return cls(len(keys), -(-len(keys) // width), tuple(spectrum))

    @property
    def distinct(self) -> int:
        """Number of keys found."""
        return sum(keys for _, keys in self.spectrum)

    @property
    def finds(self) -> int:
        """Sum of the keys of every draw: distinct keys and repeats across draws."""
        return sum(i * keys for i, keys in self.spectrum)

    @property
    def each(self) -> float:
        """Mean number of keys per draw."""
        return self.finds / self.draws

    def shown(self, draws: int) -> int:
        """Return Fᵢ, the number of keys found in exactly i = `draws` draws."""
        return dict(self.spectrum).get(draws, 0)

    def after(self, draws: float) -> float:
        """Return the best estimate of D(draws)."""
        t = self.draws
        if draws <= t:
            return sum(keys * _met(t, i, draws) for i, keys in self.spectrum)
        f1, f2, f3 = (self.shown(i) for i in (1, 2, 3))
        more = draws - t
        if not f1:
            return float(self.distinct)
        mean = 2 * f2 / ((t - 1) * f1)
        variance = 6 * f3 / ((t - 1) * max(1, t - 2) * f1) - mean**2
        if variance <= 0 or not mean:
            return self.distinct + f1 / t * fresh(mean, more)
        shape, scale = mean**2 / variance, variance / mean
        return self.distinct + f1 / t * _gamma_fresh(shape, scale, more)


def fresh(q: float, draws: float) -> float:
    """Return f(q) = (1 − (1−q)^draws) / q, or its limit for q = 0."""
    if q >= 1:
        return 1.0
    return -math.expm1(draws * math.log1p(-q)) / q if q > 0 else float(draws)


def _met(t: int, i: int, draws: float) -> float:
    """Return the probability that a key of i of t draws is in one of `draws` of them.

    Log-Gamma functions allow any real number of draws.
    """
    if draws > t - i:
        return 1.0
    left = (special.gammaln(t - i + 1) - special.gammaln(t - i - draws + 1)
            - special.gammaln(t + 1) + special.gammaln(t - draws + 1))  # fmt: skip
    return float(-math.expm1(left))


def _gamma_fresh(shape: float, scale: float, draws: float) -> float:
    """Return E (1 − e^{−draws·Q}) / Q for Q ~ Gamma: ∫ (1 + u·scale)^−shape du from 0 to draws."""
    grown = math.log1p(draws * scale)
    power = 1 - shape
    return (math.expm1(power * grown) / power if abs(power) > 1e-9 else grown) / scale
