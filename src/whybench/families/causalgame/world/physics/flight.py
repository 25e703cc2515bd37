"""Fly a fleet at once: sheet, equipment, environment, damage, detection, combat, result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.equipment import loadout
from whybench.families.causalgame.world.fleet import DETECTION, Bools, Fleet, Ints, Stage, fleets
from whybench.families.causalgame.world.physics.combat import Fight, Places
from whybench.families.causalgame.world.physics.formulas import (
    agility,
    clamped,
    hit_chance,
    mitigated,
    rounds,
)
from whybench.families.causalgame.world.physics.physics import Column, Environment, Physics

STATUS = ("DESTROYED", "RETURNED")
"""The status of a drone; the release defines LOST too but never uses it."""


@dataclass(frozen=True, slots=True, eq=False)
class Flights:
    """The results of a fleet, one entry for each drone."""

    returned: Bools
    was_detected: Bools
    hit_count: Ints
    environment: Environment
    """The environment, visible and hidden."""
    hidden: Mapping[str, Column]
    """Mediators: detection probability, rounds, HP before combat, and what the physics adds."""

    def __len__(self) -> int:
        return len(self.returned)

    @property
    def status(self) -> Column:
        """RETURNED or DESTROYED."""
        return np.array(STATUS)[self.returned.astype(np.int64)]

    def rows(self, rows: Ints) -> Flights:
        """Return the flights in these rows."""
        where = self.environment
        return Flights(
            self.returned[rows],
            self.was_detected[rows],
            self.hit_count[rows],
            replace(where, visible=_each(where.visible, rows), hidden=_each(where.hidden, rows)),
            _each(self.hidden, rows),
        )

    @property
    def survival_rate(self) -> float:
        """The share of drones that returned."""
        return float(self.returned.mean())


def fly(
    physics: Physics,
    fleet: Fleet,
    design: Design,
    stage: Stage,
    environment: Environment | None = None,
) -> Flights:
    """Fly a fleet of one design, in its own environment or in a given one."""
    sheet, formulas, draws = physics.sheet, physics.formulas, fleet.draws
    load = loadout(sheet, design)
    if environment is None:
        environment = physics.environment(draws, load, stage)
    threat = physics.threat(draws, load, environment)
    defs = np.array(load.defs)
    raw = np.zeros((len(sheet.names), len(fleet)), dtype=np.int64)
    for name, damage in threat.damage.items():
        raw[sheet.index[name]] = damage
    hp = np.array([part.hp for part in sheet.components.values()])[:, None] - mitigated(
        formulas.mitigation, raw, defs[:, None]
    )
    for name, damage in threat.direct.items():
        hp[sheet.index[name]] -= damage
    np.maximum(hp, 0, out=hp)
    flying = _all_standing(hp, tuple(sheet.index[name] for name in formulas.grounding))
    bounds = formulas.detection
    seen = clamped(threat.detection + load.detection_modifier, bounds.least, bounds.most)
    detected = flying & (draws[DETECTION] < seen)
    length = rounds(formulas.combat, threat.rounds_modifier)
    critical = sheet.critical
    returned = _all_standing(hp, critical)
    hit_count = np.zeros(len(fleet), dtype=np.int64)
    found = np.flatnonzero(detected)
    fight = Fight(
        fleet.rounds[found],
        hit_chance(formulas.combat, threat.accuracy[found], agility(physics.agility, load.defs)),
        length[found],
        threat.damage_modifier[found],
        hp[:, found],
    )
    hit = fight.hits()
    hit_count[found] = hit.sum(axis=1)
    returned[found] &= ~fight.losses(formulas, sheet.names, hit, critical, defs)
    hidden = {
        **threat.hidden,
        "detection_prob": seen,
        "combat_rounds": length * detected,
        **{f"{name}_hp": hp[place] for name, place in sheet.index.items()},
    }
    return Flights(returned, detected, hit_count, environment, hidden)


def joined(parts: Sequence[Flights]) -> Flights:
    """Return the flights of several batches in one sequence."""
    first = parts[0].environment
    return Flights(
        np.concatenate([part.returned for part in parts]),
        np.concatenate([part.was_detected for part in parts]),
        np.concatenate([part.hit_count for part in parts]),
        replace(
            first,
            visible=_joined([part.environment.visible for part in parts]),
            hidden=_joined([part.environment.hidden for part in parts]),
        ),
        _joined([part.hidden for part in parts]),
    )


def _each(columns: Mapping[str, Column], rows: Ints) -> dict[str, Column]:
    return {name: column[rows] for name, column in columns.items()}


def _joined(parts: Sequence[Mapping[str, Column]]) -> dict[str, Column]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def survival(physics: Physics, design: Design, stage: Stage, stream: Stream, n: int) -> float:
    """Return the share of n fresh drones that return."""
    returned = sum(
        int(fly(physics, fleet, design, stage).returned.sum())
        for fleet in fleets(physics.layout, stream, n)
    )
    return returned / n


def _all_standing(hp: Ints, places: Places) -> Bools:
    standing = np.ones(hp.shape[1], dtype=np.bool_)
    for place in places:
        standing &= hp[place] > 0
    return standing
