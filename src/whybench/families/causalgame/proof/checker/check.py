"""Check a stored certificate independently of the code that made it.

The fleet is flown drone by drone (`scalar_simulator`). For a generated system, the best survival is
found over all ways to spend the budget, without the prover's argument that the steepest lever comes
first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from math import isclose

from whybench.causal.canonical import Json, digest
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.causalgame.parameters import LEVELS
from whybench.families.causalgame.proof.checker.scalar_simulator import STAGE, fleet_rows, returns
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.physics.catalogue import parameters
from whybench.families.causalgame.world.physics.generated import Generated
from whybench.families.causalgame.world.world import World
from whybench.families.claims import differences, unknown

UNVERIFIED_CLAIMS: Mapping[str, str] = {
    "exact_steps": "the exact agent is not run again; only its budget is checked",
    "facts.fleet_exact": "the design is not stored, so its fleet cannot be flown again; checked "
    "only to be a share of the fleet",
    "facts.fleet_best: best": "nothing proves that no design of a scenario does better; only the "
    "survival of the stored best known design is checked",
}
"""Claim → why it is not checked, and what is checked instead."""

HYPOTHESES = (
    "any system in which a design and the circumstances of a flight decide, by chance, who returns"
)
SILENT = (
    "solvable", "identified", "best_score", "bits", "fewest", "minimax", "minimax_upper", "witness",
)  # fmt: skip
"""What the certificate of one fleet says nothing of, except where it is statistical."""
_FACTORS = ("selection", "noise", "confounding", "shift")
_SEEDS = 20
"""Worlds of each setting of the four factors; the last factor changes fastest."""


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return the errors of a certificate."""
    if certificate.instance != instance.id:
        return [f"instance: it is for {certificate.instance}, not for {instance.id}"]
    stored = certificate.to_json()
    facts, physics, rules = stored["facts"], world.physics, world.rules
    drones = _Drones.of(world)
    flown = {
        "fleet_best": _share(drones, best_known(world)),
        "fleet_default": _share(drones, _default(world)),
    }
    figures: dict[str, Json] = {"bar": rules.threshold, **flown}
    found: list[str] = []
    if isinstance(physics, Generated):
        figures |= _formula(world, physics) | _levels(instance.index)
        found += _bar_flaws(instance, world, figures["best_known"])
    reached = facts.get("fleet_exact")
    expected: dict[str, Json] = {
        "hypotheses": HYPOTHESES,
        "status": "none",
        **dict.fromkeys(SILENT),
    }
    if instance.profile != "published":
        won = flown["fleet_best"] >= rules.threshold
        expected |= {"status": "statistical", "solvable": won, "best_score": 1.0 if won else None}
    found += differences(stored, expected) + differences(facts, figures, "facts.")
    found += _bounded(stored["exact_steps"], reached, world)
    return found + unknown(facts, {**figures, "fleet_exact": reached}, "facts.")


@dataclass(frozen=True, slots=True)
class _Drones:
    """The fleet of a hidden system; equal if random numbers and physics are equal."""

    key: bytes
    world: World = field(compare=False)

    @classmethod
    def of(cls, world: World) -> _Drones:
        luck = [list(world.path), world.rules.fleet_size]
        return cls(digest([luck, parameters(world.physics)]), world)


@lru_cache(maxsize=256)
def _share(drones: _Drones, design: Design) -> float:
    """Fly a fleet drone by drone; cached, because the 81 cells of suite `knobs` share theirs."""
    rows = fleet_rows(drones.world)
    return sum(returns(drones.world.physics, design, rows)) / len(rows)


def _bounded(steps: Json, reached: Json, world: World) -> list[str]:
    """Return what is impossible about the exact agent's figures."""
    rules, found = world.rules, []
    if not isinstance(steps, int | float) or not 0 <= steps <= rules.deploys or steps % 1:
        found.append(f"exact_steps: {steps!r} is stored, the budget is {rules.deploys} deployments")
    size = rules.fleet_size
    if not isinstance(reached, float) or not any(
        isclose(reached, back / size) for back in range(size + 1)
    ):
        found.append(f"facts.fleet_exact: {reached!r} is no share of {size} drones")
    return found


def best_known(world: World) -> Design:
    """Return the best known design, from its file or from the generated system."""
    if world.best is not None:
        return world.best
    text = (files("whybench.families.causalgame.proof") / "best_known.json").read_text("utf-8")
    data = json.loads(text)["designs"][world.rules.physics]
    return Design(
        tuple(data["defs"][name] for name in world.physics.sheet.components),
        tuple(data["equipment"].items()),
    )


def _default(world: World) -> Design:
    return Design(tuple(part.default_def for part in world.physics.sheet.components.values()))


# Generated worlds.


def _formula(world: World, physics: Generated) -> dict[str, Json]:
    """Return errors of the fleet's survival against the closed form."""
    best = _most(physics)
    past = [survival(physics, design) for design in world.history.designs]
    return {
        "best_known": best,
        "margin": best - world.rules.threshold,
        "default": survival(physics, _default(world)),
        "history_best": max(past),
    }


def survival(physics: Generated, design: Design) -> float:
    """Return the probability that a drone of the fleet returns."""
    defs = dict(zip(physics.sheet.components, design.defs, strict=True))
    added = sum(physics.options.get(str(choice), 0.0) for _, choice in design.equipment)
    shares = [(lever, defs[name] / _top(physics)) for name, lever in physics.levers.items()]
    storm = physics.base.storm + added + sum(lever.storm * share for lever, share in shares)
    clear = physics.base.clear + added + sum(lever.clear * share for lever, share in shares)
    return _mixed(physics, storm, clear)


def _mixed(physics: Generated, storm: float, clear: float) -> float:
    storms = physics.sky.storm_probability[STAGE]
    return storms / (1 + math.exp(-storm)) + (1 - storms) / (1 + math.exp(-clear))


def _top(physics: Generated) -> int:
    return physics.sheet.def_range[1]


def _most(physics: Generated) -> float:
    """Return the best survival of all designs.

    Every DEF is tried for levers that depend on the weather. For the others, only the largest sum
    that the rest of the budget can buy matters.
    """
    low, high = physics.sheet.def_range
    free = physics.sheet.total_def_budget - low * len(physics.sheet.components)
    moody = [lever for lever in physics.levers.values() if lever.storm != lever.clear]
    steady = [lever.storm for lever in physics.levers.values() if lever.storm == lever.clear]
    option = max((0.0, *physics.options.values()))
    added = [0.0] * (free + 1)
    for lever in steady:
        added = [
            max(
                added[spent - points] + lever * (low + points) / high
                for points in range(min(spent, high - low) + 1)
            )
            for spent in range(free + 1)
        ]
    ways = [(0, 0.0, 0.0)]
    for odds in moody:
        ways = [
            (used + points - low, s + odds.storm * points / high, c + odds.clear * points / high)
            for used, s, c in ways
            for points in range(low, high + 1)
            if used + points - low <= free
        ]
    base = physics.base
    return max(
        _mixed(
            physics,
            base.storm + storm + added[free - used] + option,
            base.clear + clear + added[free - used] + option,
        )
        for used, storm, clear in ways
    )


def _levels(index: int) -> dict[str, Json]:
    """Return the levels of the four factors: the last one changes fastest."""
    cell, found = index // _SEEDS, {}
    for name in reversed(_FACTORS):
        cell, found[name] = divmod(cell, len(LEVELS))
    return found


def _bar_flaws(instance: Instance, world: World, best: float) -> list[str]:
    """Return whether the bar leaves too little margin, or the design is not the best."""
    found = []
    if isinstance(world.physics, Generated):
        reached = survival(world.physics, best_known(world))
        if not isclose(reached, best):
            found.append(f"facts.best_known: the best design reaches {reached!r}, not {best!r}")
    if instance.parameters.get("threshold") is None:
        data = json.loads(
            (files("whybench.families.causalgame.world") / "cells.json").read_text("utf-8")
        )["bar"]
        error = math.sqrt(best * (1 - best) / world.rules.fleet_size)
        bar = math.floor(100 * (best - max(data["least"], data["errors"] * error))) / 100
        if not isclose(bar, world.rules.threshold):
            found.append(f"facts.bar: {world.rules.threshold!r} is the bar, {bar!r} was promised")
    return found
