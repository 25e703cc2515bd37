"""Weather noise: antenna armour helps in storms and harms in clear weather, engine armour helps."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from whybench.families.causalgame.world.equipment import Loadout
from whybench.families.causalgame.world.fleet import Floats, Layout, Stage
from whybench.families.causalgame.world.physics.formulas import Agility, Formulas
from whybench.families.causalgame.world.physics.physics import Draws, Environment, Threat, constant
from whybench.families.causalgame.world.physics.weather_state import PURPOSES, Sky
from whybench.families.causalgame.world.sheet import Frozen, Sheet

_STEEPEST = 700.0
"""exp of more overflows; the sigmoid is 0 to the last digit long before."""


class Slope(Frozen):
    """The effect of antenna armour in each weather."""

    storm: float
    clear: float


class Weather(Frozen):
    """The physics of weather_noise; noise is added to records, not to flights."""

    name: str
    source: str
    sheet: Sheet
    formulas: Formulas
    agility: Agility
    sky: Sky
    antenna_scale: float
    antenna_slope: Slope
    offset: float
    engine_bonus: float
    engine_from: float
    engine_span: float
    """The DEF from which engine armour counts, and the points after which it counts in full."""
    wreck: int
    """Damage to the engine of a drone that the weather destroys."""
    detection: float
    rounds_modifier: float

    @cached_property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""
        rounds = max(1, int(self.formulas.combat.rounds * self.rounds_modifier))
        return Layout((*PURPOSES, "weathered"), rounds)

    def environment(self, draws: Draws, load: Loadout, stage: Stage) -> Environment:  # noqa: ARG002 - a design may matter
        """Draw the weather; no design changes it."""
        return self.sky.environment(draws, stage)

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:
        """Decide which drones survive the weather; the others lose their engine."""
        chance: Floats = np.where(
            environment["is_storm"],
            self.chance(load, self.antenna_slope.storm),
            self.chance(load, self.antenna_slope.clear),
        )
        wrecked = draws["weathered"] >= chance
        return Threat(
            damage={"engine": self.wreck * wrecked.astype(np.int64)},
            direct={},
            detection=constant(self.detection, chance),
            rounds_modifier=constant(self.rounds_modifier, chance),
            accuracy=constant(1.0, chance),
            damage_modifier=constant(1.0, chance),
            hidden={"weather_survival_prob": chance},
        )

    def chance(self, load: Loadout, slope: float) -> float:
        """Return the probability of surviving the weather with this slope."""
        armour = load.defs[self.sheet.index["antenna"]] / self.antenna_scale
        engine = load.defs[self.sheet.index["engine"]] - self.engine_from
        bonus = self.engine_bonus * min(1.0, max(0.0, engine / self.engine_span))
        steep = min(_STEEPEST, -(slope * armour + self.offset))
        return min(1.0, max(0.0, 1 / (1 + math.exp(steep)) + bonus))
