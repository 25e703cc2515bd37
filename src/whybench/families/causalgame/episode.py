"""The episode: its rules, and their wording for an agent."""

from __future__ import annotations

from whybench.episode.observation import Observation
from whybench.families.causalgame.prompts.wording import Wording
from whybench.families.causalgame.rules import DroneRules


class DroneEpisode(DroneRules):
    """The episode with its texts for an agent."""

    __slots__ = ()

    def instructions(self, template: str) -> str:
        """Return the mission, the rules, and how to act."""
        return Wording(self, template).instructions()

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        return Wording(self, template).observation(observation)
