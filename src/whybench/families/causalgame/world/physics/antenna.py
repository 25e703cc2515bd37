"""Antenna trap: an antenna that survives the storm emits, and a drone that emits is detected."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from whybench.families.causalgame.world.equipment import Loadout
from whybench.families.causalgame.world.fleet import Bools, Floats, Ints, Layout, Stage
from whybench.families.causalgame.world.physics.formulas import (
    Agility,
    Formulas,
    Mitigation,
    between,
    mitigated,
    whole,
)
from whybench.families.causalgame.world.physics.physics import Draws, Environment, Threat
from whybench.families.causalgame.world.physics.weather_state import PURPOSES, Sky
from whybench.families.causalgame.world.sheet import Frozen, Sheet

Bounds = tuple[float, float]


class Exposed(Frozen):
    """Damage that wind does to an outer component."""

    strong: Bounds
    mild: Bounds
    per_def: float
    """Damage that one point of DEF removes."""


class Stress(Frozen):
    """Damage to critical components above a threshold."""

    above: float
    damage: Bounds
    components: tuple[str, ...]


class DetectionRule(Frozen):
    """How emission and camera decide on detection and accuracy."""

    calm: float
    wild: float
    """Base probability at pattern 0 and at pattern 1."""
    emission: float
    """What an intact antenna adds."""
    stealth: float
    """Factor without emission."""
    camera_relief: float
    """What an intact camera removes from accuracy and, without emission, from detection."""
    blind: float
    """The factor without a camera."""


class RoundsRule(Frozen):
    """Duration of fights."""

    calm: float
    wild: float
    emitting: float
    silent: float


class DamageRule(Frozen):
    """Strength of hits."""

    gun_relief: float
    unarmed: float


class Antenna(Frozen):
    """The physics of the six antenna scenarios."""

    name: str
    source: str
    sheet: Sheet
    formulas: Formulas
    sky: Sky
    strong_wind: float
    mild_wind: float
    exposed: dict[str, Exposed]
    exposed_most_mitigated: float
    """Maximum share of that damage that DEF removes."""
    wind_stress: Stress
    pattern_stress: Stress
    frail_below: int
    """With less DEF than this, stress is worse."""
    detection: DetectionRule
    rounds: RoundsRule
    damage: DamageRule

    @property
    def agility(self) -> Agility:
        """How weight slows a drone."""
        return self.formulas.agility

    @cached_property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""
        stressed = (*self.wind_stress.components, *self.pattern_stress.components)
        rule = self.rounds
        longest = max(rule.calm, rule.wild) * max(rule.emitting, rule.silent)
        return Layout(
            (*PURPOSES, *self.exposed, *stressed), int(self.formulas.combat.rounds * longest)
        )

    def environment(self, draws: Draws, load: Loadout, stage: Stage) -> Environment:  # noqa: ARG002 - a design may matter
        """Draw the weather; no design changes it."""
        return self.sky.environment(draws, stage)

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:
        """Apply wind damage to exposed components, and determine which drones emit."""
        pattern: Floats = environment["weather_pattern"]
        calm = 1 - pattern
        taken = {name: self._exposure(name, draws, load, environment) for name in self.exposed}
        hp = {
            name: np.maximum(0, self.sheet.components[name].hp - damage)
            for name, damage in taken.items()
        }
        share = {name: hp[name] / self.sheet.components[name].hp for name in hp}
        emitting = hp["antenna"] > 0
        rule = self.detection
        accuracy = np.where(hp["camera"] > 0, 1 - rule.camera_relief * share["camera"], rule.blind)
        base = rule.calm * calm + rule.wild * pattern
        detection = np.where(
            emitting, base + rule.emission * share["antenna"], base * (rule.stealth * accuracy)
        )
        length = self.rounds.calm * calm + self.rounds.wild * pattern
        power = np.where(
            hp["gun"] > 0, 1 - self.damage.gun_relief * share["gun"], self.damage.unarmed
        )
        stress = self._stress(self.wind_stress, environment["wind_speed"], draws, load)
        stress |= self._stress(self.pattern_stress, pattern, draws, load)
        # The release lessens camera and gun damage a second time when it reaches the sheet.
        return Threat(
            damage={**stress, "camera": taken["camera"], "gun": taken["gun"]},
            direct={"antenna": taken["antenna"]},
            detection=detection,
            rounds_modifier=length * np.where(emitting, self.rounds.emitting, self.rounds.silent),
            accuracy=accuracy,
            damage_modifier=power,
            hidden={"antenna_emitting": emitting},
        )

    def _exposure(self, name: str, draws: Draws, load: Loadout, environment: Environment) -> Ints:
        """Return the damage to an outer component after its own, stronger mitigation."""
        rule, wind = self.exposed[name], environment["wind_speed"]
        raw = whole(
            np.where(
                wind > self.strong_wind,
                between(draws[name], rule.strong),
                between(draws[name], rule.mild),
            )
        )
        raw *= wind > self.mild_wind
        return mitigated(self._sturdiness[name], raw, load.defs[self.sheet.index[name]])

    @cached_property
    def _sturdiness(self) -> dict[str, Mitigation]:
        """How DEF reduces the wind's damage to each outer component."""
        return {
            name: Mitigation(
                per_def=rule.per_def,
                most=self.exposed_most_mitigated,
                least_damage=self.formulas.mitigation.least_damage,
            )
            for name, rule in self.exposed.items()
        }

    def _stress(self, rule: Stress, level: Floats, draws: Draws, load: Loadout) -> dict[str, Ints]:
        struck: Bools = level > rule.above
        found = {}
        for name in rule.components:
            own = load.defs[self.sheet.index[name]]
            frail = 1 + (1 - own / self.frail_below) if own < self.frail_below else 1.0
            raw = whole(between(draws[name], rule.damage) * frail)
            raw *= struck
            found[name] = raw
        return found
