"""Worlds played side by side: what evidence leaves open may hang on what was seen alone."""

from collections.abc import Iterable, Sequence
from typing import Any

from whybench.episode.action import Action
from whybench.episode.episode import Episode
from whybench.episode.family import Family
from whybench.episode.observation import Observation


def lockstep(family: Family[Any], episodes: Sequence[Episode], actions: Iterable[Action]) -> int:
    """Carry out the same actions in every episode, and look at the bits left after each.

    They are never below 0, never rise, and stay after an error; episodes that showed the same so
    far have the same. Return how often two that showed the same were compared after an action.
    """
    left = [family.bits_left(episode) for episode in episodes]
    assert len(set(left)) == 1, "told the same, they leave the same open"
    shown: list[tuple[Observation, ...]] = [()] * len(episodes)
    compared = 0
    for action in actions:
        by_evidence: dict[tuple[Observation, ...], float] = {}
        for i, episode in enumerate(episodes):
            observation = episode.step(action)
            shown[i] = (*shown[i], observation)
            before, left[i] = left[i], family.bits_left(episode)
            assert 0 <= left[i] <= before
            assert not observation.is_error or left[i] == before
            compared += shown[i] in by_evidence
            assert by_evidence.setdefault(shown[i], left[i]) == left[i]
    return compared
