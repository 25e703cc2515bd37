"""What a physics is: it draws an environment, and says how that threatens a design.

The two steps are apart so that a history can be flown in an environment that was tampered with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from whybench.families.causalgame.world.equipment import Loadout
from whybench.families.causalgame.world.fleet import Floats, Ints, Layout, Stage
from whybench.families.causalgame.world.physics.formulas import Agility, Formulas
from whybench.families.causalgame.world.sheet import Sheet

Column = NDArray[Any]
"""One value for each drone: a number, a truth value or a label."""

Draws = Mapping[str, Floats]
"""One random number of each drone for each purpose."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where each drone flies; labels are kept as their places in `labels`."""

    visible: Mapping[str, Column]
    """What a record shows."""
    hidden: Mapping[str, Column]
    """What it does not."""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The labels of variables that are not numbers."""

    def __getitem__(self, name: str) -> Column:
        return self.visible[name] if name in self.visible else self.hidden[name]

    def column(self, name: str) -> Column:
        """Return a variable with its labels spelled out."""
        values = self[name]
        return np.array(self.labels[name])[values] if name in self.labels else values


@dataclass(frozen=True, slots=True)
class Threat:
    """What an environment does to a design, before the luck of combat."""

    damage: Mapping[str, Ints]
    """Raw environment damage, which DEF still lessens."""
    direct: Mapping[str, Ints]
    """Damage that is taken as it is."""
    detection: Floats
    """Chance of detection before equipment and bounds."""
    rounds_modifier: Floats
    accuracy: Floats
    damage_modifier: Floats
    hidden: Mapping[str, Column] = field(default_factory=dict)
    """Mediators that no record shows."""


class Physics(Protocol):
    """One of the hidden systems."""

    @property
    def name(self) -> str:
        """Its name in the catalogue."""

    @property
    def sheet(self) -> Sheet:
        """What a drone is designed on."""

    @property
    def formulas(self) -> Formulas:
        """The shared formulas."""

    @property
    def agility(self) -> Agility:
        """How weight slows a drone here."""

    @property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""

    def environment(self, draws: Draws, load: Loadout, stage: Stage) -> Environment:
        """Return where each drone flies."""

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:
        """Return what that does to a design."""


def constant(value: float, like: Floats) -> Floats:
    """Return the same number for each drone."""
    return np.full(len(like), value)
