"""Claims put to the test: an intervention on the same drones, and the difference it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.claims import Belief, Claim
from whybench.families.causalgame.world.design import design
from whybench.families.causalgame.world.equipment import loadout
from whybench.families.causalgame.world.fleet import Fleet, Floats, fleets
from whybench.families.causalgame.world.physics.flight import Flights, fly
from whybench.families.causalgame.world.physics.physics import Column, Environment, Physics

DRONES = 50_000
"""Drones on each side of a contrast, with common random numbers."""

NIL = 0.01
"""An effect smaller than a point is none."""

Finding = Literal["true", "false", "undecided"]


def effects(
    claim: Claim, physics: Physics, drones: int = DRONES, seed: str = "claims"
) -> dict[str, float]:
    """Return what the claim's intervention changes, on average, in each outcome it speaks of."""
    outcomes = {belief.effect for belief in claim.beliefs}
    # Two stages may draw other environments, so a condition is counted on each side apart.
    total = {name: np.zeros(2) for name in outcomes}
    kept = np.zeros(2)
    for fleet in fleets(physics.layout, Stream("causalgame", seed, physics.name), drones):
        for place, side in enumerate((claim.contrast["from"], claim.contrast["to"])):
            flights = _flown(physics, fleet, side)
            inside = np.ones(len(fleet), dtype=np.bool_)
            for name, value in claim.contrast.get("where", {}).items():
                inside &= flights.environment[name] == value
            kept[place] += inside.sum()
            for name in outcomes:
                total[name][place] += _outcome(flights, name)[inside].sum()
    return {name: float(np.diff(sums / kept)[0]) for name, sums in total.items()}


def least(claim: Claim) -> float:
    """Return the smallest effect that counts as one."""
    return claim.contrast.get("least", 0.02)


def found(belief: Belief, effect: float, least: float) -> Finding:
    """Tell whether a measured effect bears a belief out.

    It does if the effect has the sign and at least the size; it refutes it if there is no effect
    (less than a point) or one of the other sign; between the two it leaves it open.
    """
    if belief.sign == "no_effect":
        return "true" if abs(effect) < NIL else "false" if abs(effect) >= least else "undecided"
    towards = effect if belief.sign == "raises" else -effect
    return "true" if towards >= least else "false" if towards < NIL else "undecided"


def shown(claim: Claim, physics: Physics, drones: int = DRONES, seed: str = "claims") -> Finding:
    """Tell whether a claim is true of a physics, by simulation.

    True: the first of its beliefs is borne out (the others are near enough for an agent). False:
    every one of its beliefs is refuted.
    """
    measured = effects(claim, physics, drones, seed)
    verdicts = [found(belief, measured[belief.effect], least(claim)) for belief in claim.beliefs]
    if verdicts[0] == "true":
        return "true"
    return "false" if set(verdicts) == {"false"} else "undecided"


def _flown(physics: Physics, fleet: Fleet, side: Mapping[str, Any]) -> Flights:
    defs = {f"{name}_def": value for name, value in side.get("defs", {}).items()}
    built = design(physics.sheet, defs, side.get("equipment", {}), enforced=False)
    stage = side.get("stage", "stage2")
    if "set" not in side:
        return fly(physics, fleet, built, stage)
    given = physics.environment(fleet.draws, loadout(physics.sheet, built), stage)
    for name, value in side["set"].items():
        given = _forced(given, name, value)
    return fly(physics, fleet, built, stage, given)


def _forced(environment: Environment, name: str, value: float | str) -> Environment:
    """Return an environment with one variable set for all drones and the rest as it was."""
    if name not in environment.visible and name not in environment.hidden:
        raise ValueError(f"the environment has no {name!r}: set one of its variables")
    number = environment.labels[name].index(str(value)) if name in environment.labels else value
    column: Column = np.full_like(environment[name], number)
    if name in environment.visible:
        return replace(environment, visible={**environment.visible, name: column})
    return replace(environment, hidden={**environment.hidden, name: column})


def _outcome(flights: Flights, name: str) -> Floats:
    columns: dict[str, Column] = {
        "detection": flights.was_detected,
        "survival": flights.returned,
        "hit_count": flights.hit_count,
    }
    column = columns[name] if name in columns else flights.hidden["comm_failure"]
    return column.astype(np.float64)
