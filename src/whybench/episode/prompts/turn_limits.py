"""Turn limits for a model that calls tools in a long episode, with messages between turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Turns of several calls; a turn ends when its calls are used up or the model makes none.

    After the last turn, only final actions are offered, for a few extra turns.
    """

    turns: int
    grace: int
    calls: int
    """Calls in one turn."""
    opening: Callable[[int], str]
    """The message at the start of a turn."""
    late: Callable[[int], str]
    """The message at the start of an extra turn, with the number of extra turns left."""
    spent: str
    """The reply to a call beyond the limit."""
    closed: str
    """The reply to a call of an action that is no longer offered."""
    redirect: str
    """The reply to text that calls a `client` instead of tools."""
    guarded: Callable[[str], str] = lambda name: ""  # noqa: ARG005
    """The reply to a call that is not passed on to the episode yet; empty if it is passed on."""
