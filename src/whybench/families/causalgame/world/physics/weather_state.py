"""Storm or clear weather: the common cause of wind, humidity, temperature and their effects."""

from __future__ import annotations

import numpy as np

from whybench.families.causalgame.world.fleet import Stage
from whybench.families.causalgame.world.physics.formulas import between
from whybench.families.causalgame.world.physics.physics import Draws, Environment
from whybench.families.causalgame.world.sheet import Frozen

PURPOSES = ("weather_pattern", "wind_speed", "humidity", "temperature")
"""What a sky draws for, in the order of the layout."""


class Range(Frozen):
    """Bounds of a uniform variable in either weather."""

    storm: tuple[float, float]
    clear: tuple[float, float]


class Sky(Frozen):
    """The weather's numbers."""

    storm_probability: dict[Stage, float]
    clear_pattern: float
    """In clear weather, the hidden pattern is its draw times this factor; in storms, its draw."""
    wind_speed: Range
    humidity: Range
    temperature: Range

    def environment(self, draws: Draws, stage: Stage) -> Environment:
        """Draw the weather."""
        pattern = draws["weather_pattern"]
        storm = pattern > 1 - self.storm_probability[stage]
        ranges = {
            "wind_speed": self.wind_speed,
            "humidity": self.humidity,
            "temperature": self.temperature,
        }
        visible = {
            name: np.where(
                storm, between(draws[name], bounds.storm), between(draws[name], bounds.clear)
            )
            for name, bounds in ranges.items()
        }
        latent = np.where(storm, pattern, self.clear_pattern * pattern)
        return Environment(visible, {"weather_pattern": latent, "is_storm": storm})
