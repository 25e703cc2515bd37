"""The protocol of an interface that can be tested for parity, and the installed interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeAlias

from whybench.causal.canonical import Json
from whybench.interfaces.parity.cases import ParityCase

GROUP = "whybench.interfaces"
"""The entry point group in which an interface registers."""


Played: TypeAlias = tuple[Json, Json, Sequence[str] | None]
"""Trace and score as JSON, and the texts shown: the instructions, then one text per call.

An interface that stops at the end of the episode shows no text for later calls. If an interface
does not show separate texts, the texts are None.
"""


class Interface(Protocol):
    """An interface through which episodes are played. Packages register an instance by name."""

    @property
    def name(self) -> str:
        """The name of the interface."""

    @property
    def leaves(self) -> bool:
        """Whether an agent can leave an episode before its end."""

    def play(self, cases: Sequence[ParityCase]) -> Iterable[Played]:
        """Make the calls of each case through the real interface, and yield the results."""


def registered() -> Mapping[str, EntryPoint]:
    """Return the interfaces that installed packages register, by name."""
    points = entry_points(group=GROUP)
    return {point.name: point for point in sorted(points, key=lambda point: point.name)}


def interfaces() -> Mapping[str, Interface]:
    """Return the interfaces whose extra is installed, by name."""
    found = {}
    for name, point in registered().items():
        try:
            found[name] = point.load()
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("whybench"):
                raise
    return found
