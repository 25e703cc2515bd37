"""How a model that calls tools is led through a long episode: in turns, with words between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Turns, each of several calls; a turn ends when its calls are spent or none is made.

    After the last turn only final actions are offered, for a few turns of grace.
    """

    turns: int
    grace: int
    calls: int
    """Calls in one turn."""
    opening: Callable[[int], str]
    """What is said at the start of a turn."""
    late: Callable[[int], str]
    """What is said at the start of a turn of grace, with how many are left."""
    spent: str
    """The answer to a call too many."""
    closed: str
    """The answer to a call of what is no longer offered."""
    redirect: str
    """The answer to text that calls a `client` instead of tools."""
