"""What a door must do to be tested for parity, and which doors are installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Protocol

from whybench.core.canonical import Json
from whybench.interfaces.parity.cases import Case

GROUP = "whybench.doors"
"""The entry point group in which a door registers."""


class Door(Protocol):
    """A way into episodes. An instance of it is registered under its name."""

    @property
    def name(self) -> str:
        """What the door is called."""

    @property
    def leaves(self) -> bool:
        """Whether an agent can leave in mid-episode; a harness that plays to the end says no."""

    def play(self, cases: Sequence[Case]) -> Iterable[tuple[Json, Json]]:
        """Make the calls of each case through the real door; yield trace and score as JSON."""


def doors() -> Mapping[str, Door]:
    """Return the installed doors by name, without those whose extra is missing."""
    found = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found[point.name] = point.load()
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("whybench"):
                raise
    return found
