"""DefaultSCM: drones are lost by chance only, and no lever has an effect.

The released `…_no_selection_bias` control of the zone family used it by mistake.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from whybench.families.causalgame.world.equipment import Loadout
from whybench.families.causalgame.world.fleet import Layout, Stage
from whybench.families.causalgame.world.physics.formulas import Agility, Formulas, between
from whybench.families.causalgame.world.physics.physics import Draws, Environment, Threat, constant
from whybench.families.causalgame.world.sheet import Frozen, Sheet


class Default(Frozen):
    """The physics that the release uses for an unknown name."""

    purposes: ClassVar[tuple[str, ...]] = ("wind_speed", "humidity", "temperature")

    name: str
    source: str
    sheet: Sheet
    formulas: Formulas
    wind_speed: tuple[float, float]
    humidity: tuple[float, float]
    temperature: tuple[float, float]
    detection: float
    rounds_modifier: float

    @property
    def agility(self) -> Agility:
        """How weight slows a drone."""
        return self.formulas.agility

    @cached_property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""
        rounds = max(1, int(self.formulas.combat.rounds * self.rounds_modifier))
        return Layout(self.purposes, rounds)

    def environment(self, draws: Draws, load: Loadout, stage: Stage) -> Environment:  # noqa: ARG002
        """Draw weather that has no effect."""
        return Environment(
            visible={
                "wind_speed": between(draws["wind_speed"], self.wind_speed),
                "humidity": between(draws["humidity"], self.humidity),
                "temperature": between(draws["temperature"], self.temperature),
            },
            hidden={},
        )

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:  # noqa: ARG002
        """Return the same threat for every drone."""
        like = environment["wind_speed"]
        return Threat(
            damage={},
            direct={},
            detection=constant(self.detection, like),
            rounds_modifier=constant(self.rounds_modifier, like),
            accuracy=constant(1.0, like),
            damage_modifier=constant(1.0, like),
        )
