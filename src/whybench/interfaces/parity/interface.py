"""What an interface must do to be tested for parity, and which interfaces are installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeAlias

from whybench.causal.canonical import Json
from whybench.interfaces.parity.cases import ParityCase

GROUP = "whybench.interfaces"
"""The entry point group in which an interface registers."""


Played: TypeAlias = tuple[Json, Json, Sequence[str] | None]
"""Trace and score as JSON, and the texts that were shown: the instructions, then one for each call.

An interface that stops at the end shows none for calls after it; one that mixes texts says None.
"""


class Interface(Protocol):
    """A way into episodes. An instance of it is registered under its name."""

    @property
    def name(self) -> str:
        """What the interface is called."""

    @property
    def leaves(self) -> bool:
        """Whether an agent can leave in mid-episode; a harness that plays to the end says no."""

    def play(self, cases: Sequence[ParityCase]) -> Iterable[Played]:
        """Make the calls of each case through the real interface, and yield what came of them."""


def registered() -> Mapping[str, EntryPoint]:
    """Return every interface that some installed package registers, by name."""
    points = entry_points(group=GROUP)
    return {point.name: point for point in sorted(points, key=lambda point: point.name)}


def interfaces() -> Mapping[str, Interface]:
    """Return the interfaces by name, without those whose extra is missing."""
    found = {}
    for name, point in registered().items():
        try:
            found[name] = point.load()
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("whybench"):
                raise
    return found
