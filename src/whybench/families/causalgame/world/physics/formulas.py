"""The formulas that all physics share; whole numbers are truncated toward zero, as in the release.

Arrays only see + − · / and comparisons. `exp` of an array may differ in the last bit between
machines, so agility and similar values are computed once per design, with `math`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.families.causalgame.world.fleet import Floats, Ints
from whybench.families.causalgame.world.sheet import Frozen


class Mitigation(Frozen):
    """How DEF reduces damage."""

    per_def: float
    most: float
    """Maximum share of the damage that DEF removes."""
    least_damage: int
    """Minimum damage of any hit."""


class Agility(Frozen):
    """How weight slows a drone."""

    bend: float
    scale: float
    slope: float
    least: float
    most: float


class Detection(Frozen):
    """Bounds of the chance of detection."""

    least: float
    most: float


class Combat(Frozen):
    """A fight after detection."""

    rounds: int
    """Rounds before the physics changes them."""
    hit_chance: float
    agility_exponent: float
    least_hit_chance: float
    most_hit_chance: float
    damage: int
    spread: tuple[float, float]
    """Bounds of a hit's damage, as multiples of `damage`."""
    critical_chance: float
    critical_factor: int
    weight_unit: float
    """Every weight is a multiple of this."""
    weights: dict[str, float]
    """How often each component is the target, relative to the others."""

    @cached_property
    def units(self) -> dict[str, int]:
        """The weights in whole units."""
        return {name: round(weight / self.weight_unit) for name, weight in self.weights.items()}


class Formulas(Frozen):
    """The shared numbers, from `parameters/shared.json`."""

    source: str
    mitigation: Mitigation
    agility: Agility
    detection: Detection
    combat: Combat
    grounding: tuple[str, ...]
    """Components whose loss ends the flight before detection."""


def whole(values: NDArray[np.number[Any]]) -> Ints:
    """Truncate toward zero."""
    return values.astype(np.int64)


def between(draw: Floats, bounds: tuple[float, float]) -> Floats:
    """Spread uniform draws over an interval."""
    low, high = bounds
    return low + (high - low) * draw


def clamped(values: Floats, least: float, most: float) -> Floats:
    """Clip numbers to bounds; faster than `np.clip`."""
    found: Floats = np.minimum(most, np.maximum(least, values))
    return found


def mitigated(rule: Mitigation, raw: Ints, defs: int | Ints) -> Ints:
    """Return the damage that remains after DEF; no damage stays zero."""
    worth = int(defs * rule.per_def) if isinstance(defs, int) else whole(defs * rule.per_def)
    reduction = np.minimum(worth, whole(raw * rule.most))
    left: Ints = np.maximum(rule.least_damage, raw - reduction)
    return np.minimum(left, raw, out=left)


def agility(rule: Agility, defs: Sequence[int]) -> float:
    """Return the agility of a drone, from its total DEF."""
    total = sum(defs)
    if total <= 0:
        return rule.most
    found = 1 - rule.bend * total * math.exp(-total / rule.scale) - rule.slope * total
    return min(rule.most, max(rule.least, found))


def rounds(combat: Combat, modifier: Floats) -> Ints:
    """Return how many rounds a fight lasts."""
    found: Ints = np.maximum(1, whole(combat.rounds * modifier))
    return found


def hit_chance(combat: Combat, accuracy: Floats, agile: float) -> Floats:
    """Return the chance that a round hits."""
    drag = math.exp(combat.agility_exponent * (1 - agile))
    found = combat.hit_chance * accuracy * drag
    return clamped(found, combat.least_hit_chance, combat.most_hit_chance)
