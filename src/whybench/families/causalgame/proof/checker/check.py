"""Check a stored certificate independently of the code that made it.

The fleet is flown drone by drone (`scalar_simulator`). Drawn systems have their own check
(`check_drawn`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from whybench.causal.canonical import Json, digest
from whybench.episode.certificate import Certificate
from whybench.episode.instance import Instance
from whybench.families.causalgame.proof.checker import check_drawn
from whybench.families.causalgame.proof.checker.scalar_simulator import fleet_rows, returns
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.physics.catalogue import parameters
from whybench.families.causalgame.world.world import World
from whybench.families.claims import differences, unknown

UNVERIFIED_CLAIMS: Mapping[str, str] = {
    "exact_steps": "the exact agent is not run again; only its budget is checked",
    "facts.fleet_exact": "the design is not stored, so its fleet cannot be flown again; checked "
    "only to be a share of the fleet",
    "facts.fleet_best: best": "nothing proves that no design of a published scenario does better; "
    "only the survival of the stored best known design is checked",
    "facts.recommended_by_records": "the records are not read again; only the survival of the "
    "stored design is checked",
}
"""Claim → why it is not checked, and what is checked instead."""

HYPOTHESES = (
    "any system in which a design and the circumstances of a flight decide, by chance, who returns"
)
SILENT = (
    "solvable", "identified", "best_score", "bits", "fewest", "minimax", "minimax_upper", "witness",
)  # fmt: skip
"""What the certificate of a published fleet says nothing of."""


def flaws(instance: Instance, world: World, certificate: Certificate) -> list[str]:
    """Return the errors of a certificate."""
    if certificate.instance != instance.id:
        return [f"instance: it is for {certificate.instance}, not for {instance.id}"]
    stored = certificate.to_json()
    facts, physics, rules = stored["facts"], world.physics, world.rules
    if isinstance(physics, Hazards):
        return check_drawn.flaws(world, physics, stored)
    drones = _Drones.of(world)
    flown = {
        "fleet_best": _share(drones, best_known(world)),
        "fleet_default": _share(drones, _default(world)),
    }
    figures: dict[str, Json] = {"bar": rules.threshold, **flown}
    reached = facts.get("fleet_exact")
    expected: dict[str, Json] = {
        "hypotheses": HYPOTHESES,
        "status": "none",
        **dict.fromkeys(SILENT),
    }
    found = differences(stored, expected) + differences(facts, figures, "facts.")
    found += check_drawn.bounded(stored["exact_steps"], reached, world)
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
    """Fly a fleet drone by drone; cached, because scenarios share theirs."""
    rows, physics = fleet_rows(drones.world), drones.world.physics
    if isinstance(physics, Hazards):
        raise TypeError("drawn systems have their own check")
    return sum(returns(physics, design, rows)) / len(rows)


def best_known(world: World) -> Design:
    """Return the best known design from its file."""
    text = (files("whybench.families.causalgame.proof") / "best_known.json").read_text("utf-8")
    data = json.loads(text)["designs"][world.rules.physics]
    return Design(
        tuple(data["defs"][name] for name in world.physics.sheet.components),
        tuple(data["equipment"].items()),
    )


def _default(world: World) -> Design:
    return Design(tuple(part.default_def for part in world.physics.sheet.components.values()))
