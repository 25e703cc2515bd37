"""The episode: its rules and its texts."""

from __future__ import annotations

from whybench.episode.observation import Observation
from whybench.families.causalab.prompts.wording import Wording
from whybench.families.causalab.rules import LabRules


class LabEpisode(LabRules):
    """The rules of an episode, with the texts that an agent receives."""

    __slots__ = ()

    def instructions(self, template: str) -> str:
        """Return rules, the records, the manipulator's crystal, and how to act."""
        return Wording(self, template).instructions()

    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in words."""
        return Wording(self, template).observation(observation)
