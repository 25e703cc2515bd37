"""The hidden system of one instance: its physics, rules and random numbers; it flies drones.

All randomness depends on the path of hashed streams: the fleet, every deployment and the history
have their own streams. The random numbers of deployment k and of the fleet do not depend on
designs. All agents, and all scenarios with the same physics, seed and index, therefore meet the
same drones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.fleet import Bools, Fleet, Ints, Layout, Path, Stage, fleet
from whybench.families.causalgame.world.physics.flight import Flights, fly
from whybench.families.causalgame.world.physics.physics import Physics
from whybench.families.causalgame.world.scenario import Rules

RESERVE = 100
"""Number of further flights of a deployment whose survivors are not counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Flights of one deployment, or of the history: results, and which records are kept."""

    name: str
    """Name of the batch within the hidden system; its random numbers depend on it."""
    designs: tuple[Design, ...]
    which: Ints
    """The place of each drone's design."""
    flights: Flights
    kept: Bools
    """Which records are visible: all survivors', and a share of the failures'."""

    reserve: int = 0
    """Number of final flights that are not part of the batch; they fill a sample of survivors."""

    def __len__(self) -> int:
        return len(self.flights) - self.reserve

    def shuffled(self, rng: Stream) -> Batch:
        """Return the batch with its records in another order."""
        order = np.array(rng.shuffled(range(len(self))), dtype=np.int64)
        return replace(
            self,
            which=self.which[order],
            flights=self.flights.rows(order),
            kept=self.kept[order],
        )


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The hidden system that the agent acts on; `history` is empty if there is none."""

    scenario: str
    rules: Rules
    physics: Physics | Hazards
    path: Path
    call_sign: str
    history: Batch
    forecast: tuple[float, float] | None = None
    """The forecast, if disclosed: the share of storms in exploration and for the fleet."""
    best: Design | None = None
    """The best design, if it is known exactly by construction."""

    @property
    def drawn(self) -> bool:
        """Whether the physics is drawn, not one of the release."""
        return isinstance(self.physics, Hazards)

    def deploy(self, number: int, design: Design, count: int) -> Batch:
        """Fly the deployment of this number, in the weather and zones of exploration."""
        name = f"deploy-{number}"
        reserve = 0 if self.rules.counts else RESERVE
        drones = fleet(self.physics.layout, Stream(*self.path, name), count + reserve)
        flights = flown(self.physics, drones, design, "stage1")
        kept = kept_records(self.path, name, flights.returned, self.rules.keep_failed)
        which = np.zeros(len(drones), dtype=np.int64)
        return Batch(name, (design,), which, flights, kept, reserve)

    def final(self, design: Design) -> Flights:
        """Fly the fleet that is scored."""
        return flown(self.physics, self._fleet(), design, "stage2")

    def _fleet(self) -> Fleet:
        return _final_fleet(self.physics.layout, self.path, self.rules.fleet_size)


def flown(physics: Physics | Hazards, drones: Fleet, design: Design, stage: Stage) -> Flights:
    """Fly drones of one design."""
    if isinstance(physics, Hazards):
        return physics.fly(drones, design, physics.rough[stage])
    return fly(physics, drones, design, stage)


def kept_records(path: Path, name: str, returned: Bools, keep_failed: float) -> Bools:
    """Return which records are kept: all survivors', and others with a given probability."""
    found: Bools = returned | (Stream(*path, name, "kept").uniforms(len(returned)) < keep_failed)
    return found


@lru_cache(maxsize=64)
def _final_fleet(layout: Layout, path: Path, n: int) -> Fleet:
    """Draw the final fleet; pure, so recent results are cached."""
    return fleet(layout, Stream(*path, "fleet"), n)
