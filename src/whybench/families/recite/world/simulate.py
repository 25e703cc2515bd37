"""Simulate a system, and compute what a study of it would print.

The system is a linear one in discrete time: each quantity keeps a part of its last value, takes up
its causes' last values times the weights of the arrows, and is disturbed by chance. Weights are
scaled so that it is stable. Few digits are printed, and `printed` avoids ties, so that the last
bits of a machine's arithmetic do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream
from whybench.families.recite.world.drawing import Link, System

Floats = NDArray[np.float64]

KEPT = 0.4
"""Part of a quantity's last value that it keeps."""
RADIUS = 0.52
"""Largest growth rate of the arrows' weights; with `KEPT` it is below 1."""
WARM_UP = 60
"""Periods before the observations."""
PAIRS = 200
"""Matched pairs of units in an experiment."""
CLEAR = 3.0
"""Standard errors by which an experiment's effect differs from 0."""


def printed(value: float, digits: int) -> str:
    """Return a number as the text prints it; values near a tie are rounded towards 0."""
    scaled = abs(value) * 10**digits
    whole = math.floor(scaled)
    if scaled - whole > 0.5 + 1e-6:
        whole += 1
    text = f"{whole // 10**digits}.{whole % 10**digits:0{digits}d}" if digits else str(whole)
    return f"−{text}" if value < 0 and whole else text


def p_value(ratio: float) -> str:
    """Return the p-value of an estimate divided by its standard error, with its sign."""
    p = math.erfc(abs(ratio) / math.sqrt(2))
    return "< 0.001" if p < 0.001 else f"= {printed(p, 3)}"


def noise(stream: Stream, count: int) -> Floats:
    """Draw numbers that are nearly normal, with variance 1: sums of four uniform ones."""
    drawn = stream.uniforms(4 * count).reshape(count, 4)
    found: Floats = (drawn.sum(axis=1) - 2.0) * math.sqrt(3.0)
    return found


def weights(stream: Stream, system: System) -> dict[Link, float]:
    """Draw the weights of the arrows; scale them down if the system would not be stable."""
    size = {link: 0.3 + 0.2 * stream.uniform() for link in system.arrows}
    level = [1.0] * system.n
    bound = 0.0
    for _ in range(200):  # Collatz and Wielandt: the growth rate is at most the largest ratio
        raised = list(level)
        for (a, b), weight in size.items():
            raised[b] += weight * level[a]
        bound = max(new / old for new, old in zip(raised, level, strict=True)) - 1.0
        top = max(raised)
        level = [max(value / top, 1e-9) for value in raised]
    factor = min(1.0, RADIUS / bound)
    return {link: system.sign(link) * weight * factor for link, weight in size.items()}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A standardised coefficient."""

    value: float
    error: float

    @property
    def ratio(self) -> float:
        """The coefficient divided by its standard error."""
        return self.value / self.error


@dataclass(frozen=True, slots=True)
class Trial:
    """An experiment, in the units of cause and effect."""

    step: float
    """The change of the cause."""
    change: float
    """The mean change of the effect."""
    error: float


@dataclass(frozen=True, slots=True)
class Study:
    """The observations of a system."""

    system: System
    path: tuple[str | int, ...]
    weights: dict[Link, float]
    values: Floats
    """Rows are periods, columns concepts; standardised."""
    scale: Floats
    """Standard deviations before standardisation."""
    means: tuple[float, ...]
    """In the units of the concepts."""
    deviations: tuple[float, ...]
    correlations: Floats

    def regression(self, effect: int, causes: Sequence[int]) -> tuple[list[Estimate], float]:
        """Regress a quantity on its last value and on the last values of others.

        Returns:
            The estimates, that of the own last value first, and R².

        """
        return _fitted(self.values[1:, effect], self.values[:-1, [effect, *causes]])

    def same_period(self, effect: int, others: Sequence[int]) -> tuple[list[Estimate], float]:
        """Regress a quantity on the values of others in the same period."""
        return _fitted(self.values[:, effect], self.values[:, list(others)])

    def leads(self, quantity: int, others: Sequence[int]) -> tuple[list[Estimate], float]:
        """Regress a quantity on its last value and on the next values of others."""
        later = np.hstack([self.values[:-2, [quantity]], self.values[2:, list(others)]])
        return _fitted(self.values[1:-1, quantity], later)

    def trial(self, link: Link, up: int) -> Trial:
        """Change a cause by one standard deviation, with everything else held fixed."""
        cause, effect = link
        effect_size = up * self.weights[link] * float(self.scale[cause])
        unit = self.deviations[effect] / float(self.scale[effect])
        attempt = 0
        while True:
            drawn = noise(Stream(*self.path, "trial", cause, effect, attempt), PAIRS)
            changes = effect_size + math.sqrt(2.0) * drawn
            mean = float(changes.mean())
            error = float(changes.std(ddof=1)) / math.sqrt(PAIRS)
            if mean * effect_size > 0 and abs(mean) > CLEAR * error:
                return Trial(self.deviations[cause], mean * unit, error * unit)
            attempt += 1


def _fitted(response: Floats, predictors: Floats) -> tuple[list[Estimate], float]:
    """Return the estimates of a regression by least squares, and R²."""
    predictors = predictors - predictors.mean(axis=0)
    response = response - response.mean()
    inverse = np.linalg.inv(predictors.T @ predictors)
    coefficients = inverse @ (predictors.T @ response)
    residual = response - predictors @ coefficients
    free = len(response) - len(coefficients) - 1
    variance = float(residual @ residual) / free
    errors = np.sqrt(variance * np.diag(inverse))
    share = 1.0 - float(residual @ residual) / float(response @ response)
    both = zip(coefficients.tolist(), errors.tolist(), strict=True)
    return [Estimate(*pair) for pair in both], share


def simulated(path: tuple[str | int, ...], system: System, periods: int) -> Study:
    """Simulate a system and describe its data."""
    weight = weights(Stream(*path, "weights"), system)
    k = len(system.concepts)
    matrix = np.zeros((k, k))
    for (a, b), value in weight.items():
        matrix[b, a] = value
    matrix += KEPT * np.eye(k)
    rows = WARM_UP + periods
    shocks = noise(Stream(*path, "noise"), rows * k).reshape(rows, k)
    series = np.zeros((rows, k))
    for t in range(1, rows):
        series[t] = matrix @ series[t - 1] + shocks[t]
    kept = series[WARM_UP:]
    scale = kept.std(axis=0, ddof=1)
    centre = kept.mean(axis=0)
    values = (kept - centre) / scale
    spread = Stream(*path, "units").uniforms(2 * k)
    deviations = [
        c.sd * (0.85 + 0.3 * float(u)) for c, u in zip(system.concepts, spread, strict=False)
    ]
    means = [
        c.mean + 0.5 * c.sd * (float(u) - 0.5)
        for c, u in zip(system.concepts, spread[k:], strict=True)
    ]
    correlations = values.T @ values / (periods - 1)
    return Study(system, path, weight, values, scale, tuple(means), tuple(deviations), correlations)
