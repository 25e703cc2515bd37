"""A pilot: an independent set of the same law, and how many keys it makes expect.

Up to its t draws, rarefaction is unbiased. Beyond, what is new after t draws is (F₁/t) · E f(Q),
where Fᵢ counts the keys found in exactly i draws, f(q) = (1 − (1−q)^s) / q for s further draws, and
Q has the moments E Q = 2F₂/((t−1) F₁) and E Q² = 6F₃/((t−1)(t−2) F₁). f is convex and f ≤ s, so a
constant Q (Chao and others, Ecological Monographs 84, 2014) is the least and Q = 0 the most that a
pilot allows; between them Q is taken as Gamma-distributed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from scipy import special


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a pilot found: an independent set of the same law, such as one of another seed."""

    rows: int
    draws: int
    spectrum: tuple[tuple[int, int], ...]
    """Draws that show a key → how many such keys."""

    def __post_init__(self) -> None:
        if self.draws < 2 or self.rows < self.draws:
            raise ValueError("a pilot needs at least two draws: give it more rows")

    @classmethod
    def of(cls, keys: Sequence[Hashable], width: int = 1) -> Pilot:
        """Count keys in row order, `width` of them to a draw."""
        seen = Counter(key for start in range(0, len(keys), width)
                       for key in set(keys[start : start + width]))  # fmt: skip
        spectrum = sorted(Counter(seen.values()).items())
        return cls(len(keys), -(-len(keys) // width), tuple(spectrum))

    @property
    def distinct(self) -> int:
        """Keys found."""
        return sum(keys for _, keys in self.spectrum)

    @property
    def finds(self) -> int:
        """Keys of every draw, added up: those that are distinct, and repeats across draws."""
        return sum(i * keys for i, keys in self.spectrum)

    @property
    def each(self) -> float:
        """Keys of a draw, on average."""
        return self.finds / self.draws

    def shown(self, draws: int) -> int:
        """Keys found in exactly so many draws: Fᵢ."""
        return dict(self.spectrum).get(draws, 0)

    def after(self, draws: float) -> float:
        """Return the best guess of D(draws)."""
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
    """Return f(q) = (1 − (1−q)^draws) / q; for q = 0 its limit."""
    if q >= 1:
        return 1.0
    return -math.expm1(draws * math.log1p(-q)) / q if q > 0 else float(draws)


def _met(t: int, i: int, draws: float) -> float:
    """Return the chance that a key of i of t draws is among `draws` of them (log-Gamma: any)."""
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
