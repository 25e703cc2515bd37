"""Deployment zone: a hidden zone sets altitude, which is visible, and EMI, which does harm."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from whybench.families.causalgame.world.equipment import Loadout
from whybench.families.causalgame.world.fleet import Bools, Floats, Ints, Layout, Stage
from whybench.families.causalgame.world.physics.formulas import (
    Agility,
    Formulas,
    between,
    clamped,
    whole,
)
from whybench.families.causalgame.world.physics.physics import Draws, Environment, Threat, constant
from whybench.families.causalgame.world.sheet import Frozen, Sheet

Bounds = tuple[float, float]

PURPOSES = (
    "mission_zone",
    "emi",
    "wind_resistance",
    "signal_strength",
    "temperature",
    "engine_wind",
    "wing_wind",
    "comm_failure",
    "severity",
)
"""What a zone draws for, in the order of the layout."""


class Zone(Frozen):
    """Where a drone may be sent."""

    altitude: str
    emi: float
    probability: dict[Stage, float]


class Altitude(Frozen):
    """What a drone meets at an altitude."""

    wind_resistance: float
    signal_strength: float
    temperature: Bounds
    failure_shift: float
    """What the altitude adds to the chance of a communication failure."""
    engine_wind: Bounds = (0.0, 0.0)
    wing_wind: Bounds = (0.0, 0.0)
    """Damage by wind."""


class ZonePhysics(Frozen):
    """The physics of the deployment-zone scenarios, the environment shift included."""

    name: str
    source: str
    sheet: Sheet
    formulas: Formulas
    zones: dict[str, Zone]
    emi_spread: Bounds
    altitude_slot: str
    """The slot whose equipment sets the altitude, whether or not the slot is advertised."""
    altitudes: dict[str, Altitude]
    wind_resistance_spread: Bounds
    signal_strength_spread: Bounds
    emi_threshold: float
    emi_base_failure_rate: float
    most_failure: float
    shield_works: bool
    """Whether the shield's DEF is read; the released env_shift uses a wrong key."""
    shield_effectiveness: float
    most_shield_reduction: float
    most_reduction: float
    """Maximum share of EMI that shield and equipment block together."""
    antenna_damage: float
    camera_above: float
    camera_share: float
    severity: Bounds
    failure_damage: dict[str, float]
    detection: float
    detection_per_failure: float
    long_fight_above: float
    long_fight: float
    emi_hurts_above: float
    emi_hurts: float

    @property
    def agility(self) -> Agility:
        """How weight slows a drone."""
        return self.formulas.agility

    @cached_property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""
        return Layout(PURPOSES, int(self.formulas.combat.rounds * max(1.0, self.long_fight)))

    def environment(self, draws: Draws, load: Loadout, stage: Stage) -> Environment:
        """Draw zones; the altitude is the zone's, or the one that the equipment sets."""
        zone = self._zone(draws["mission_zone"], stage)
        zones, bands = tuple(self.zones.values()), tuple(self.altitudes)
        chosen = load.equipment.get(self.altitude_slot)
        if isinstance(chosen, str) and chosen in bands:
            band = np.full(len(zone), bands.index(chosen))
        else:
            band = np.array([bands.index(z.altitude) for z in zones])[zone]
        emi = np.array([z.emi for z in zones])[zone] + between(draws["emi"], self.emi_spread)
        at = tuple(self.altitudes.values())
        wind = np.array([a.wind_resistance for a in at])[band]
        signal = np.array([a.signal_strength for a in at])[band]
        return Environment(
            visible={
                "altitude_band": band,
                "wind_resistance": wind
                + between(draws["wind_resistance"], self.wind_resistance_spread),
                "signal_strength": signal
                + between(draws["signal_strength"], self.signal_strength_spread),
                "temperature": self._at(band, draws["temperature"], [a.temperature for a in at]),
            },
            hidden={"mission_zone": zone, "emi": clamped(emi, 0.0, 1.0)},
            labels={"altitude_band": bands, "mission_zone": tuple(self.zones)},
        )

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:
        """Apply EMI after shield and equipment, and determine whose communication fails."""
        band: Ints = environment["altitude_band"]
        at = tuple(self.altitudes.values())
        e: Floats = environment["emi"] * (1 - self._kept_out(load))
        excess = e - self.emi_threshold
        q = np.where(e < self.emi_threshold, 0.0, self.emi_base_failure_rate * excess)
        q += np.array([a.failure_shift for a in at])[band]
        q = clamped(q, 0.0, self.most_failure)
        failed: Bools = draws["comm_failure"] < q
        severity = between(draws["severity"], self.severity) * q
        damage = {
            name: whole(most * severity) * failed for name, most in self.failure_damage.items()
        }
        damage["engine"] += whole(self._at(band, draws["engine_wind"], [a.engine_wind for a in at]))
        damage["wing"] += whole(self._at(band, draws["wing_wind"], [a.wing_wind for a in at]))
        antenna = whole(self.antenna_damage * excess) * (e > self.emi_threshold)
        damage["camera"] = whole(self.camera_share * antenna) * (e > self.camera_above)
        return Threat(
            damage=damage,
            direct={"antenna": antenna},
            detection=self.detection + self.detection_per_failure * q,
            rounds_modifier=np.where(q > self.long_fight_above, self.long_fight, 1.0),
            accuracy=constant(1.0, e),
            damage_modifier=np.where(
                e > self.emi_hurts_above, 1 + self.emi_hurts * (e - self.emi_hurts_above), 1.0
            ),
            hidden={"effective_emi": e, "comm_failure_prob": q, "comm_failure": failed},
        )

    def _zone(self, draw: Floats, stage: Stage) -> Ints:
        """Return each drone's zone: the first whose cumulative probability exceeds its draw."""
        total, bounds = 0.0, []
        for zone in self.zones.values():
            total += zone.probability[stage]
            bounds.append(total)
        found: Ints = np.searchsorted(np.array(bounds), draw, side="right").astype(np.int64)
        possible = [i for i, z in enumerate(self.zones.values()) if z.probability[stage] > 0]
        return np.minimum(found, possible[-1])

    def _kept_out(self, load: Loadout) -> float:
        """Return the share of EMI that shield and equipment block."""
        shield = load.defs[self.sheet.index["shield"]] if self.shield_works else 0
        shielded = min(self.shield_effectiveness * shield, self.most_shield_reduction)
        return min(self.most_reduction, shielded + load.emi_resistance)

    @staticmethod
    def _at(band: Ints, draw: Floats, bounds: list[Bounds]) -> Floats:
        """Spread a draw over the interval of each drone's altitude."""
        low = np.array([low for low, _ in bounds])[band]
        span = np.array([high - low for low, high in bounds])[band]
        spread: Floats = low + span * draw
        return spread
