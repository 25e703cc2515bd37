"""The interface of a physics: it draws an environment, and gives its threat to a design.

The two steps are separate so that a history can be flown in an environment that was overwritten.
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
    """The environment of each drone; labels are stored as indices into `labels`."""

    visible: Mapping[str, Column]
    """What a record shows."""
    hidden: Mapping[str, Column]
    """What a record does not show."""
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
    """The effect of an environment on a design, before the random numbers of combat."""

    damage: Mapping[str, Ints]
    """Raw environment damage, which DEF reduces."""
    direct: Mapping[str, Ints]
    """Damage that DEF does not reduce."""
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
        """Return the threat of an environment to a design."""


def constant(value: float, like: Floats) -> Floats:
    """Return the same number for each drone."""
    return np.full(len(like), value)
