"""A guesser: a reference agent without causal reasoning, for floors and audits.

A guesser may learn. It is fitted on a suite of a training seed when it is needed, so no weights are
shipped, and it never sees the seed on which it is judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.instance import Instance

Player: TypeAlias = Callable[[Instance], Moves]
"""Starts an agent on an instance."""


@dataclass(frozen=True, slots=True)
class Guesser:
    """One guesser of a family's battery.

    The family declares its battery in `[extras]` of `family.toml` as `battery`: a sequence of
    guessers.
    """

    name: str
    """The name in tables, such as `hold_x`."""
    meaning: str
    """What it does, in one sentence."""
    experiments: int | None
    """The most experiments that it runs: 0, 1, 2, or None for a search within the budget."""
    fit: Callable[[Suite], Player]
    """Learns from a suite of a training seed, if it learns at all, and returns the player."""
    counts: bool = True
    """Whether verdict and floor use it. Others are listed beside them."""
    reason: str = ""
    """Why it does not count."""


def unlearned(agent: str) -> Callable[[Suite], Player]:
    """Return the `fit` of a declared reference agent, which learns nothing."""

    def fit(suite: Suite) -> Player:
        family = suite.family
        return lambda instance: family.agent(agent, instance)

    return fit
