"""Claims about a hidden system: of the release from their file, of drawn systems from the law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from whybench.families.causalgame.claims import Belief, Claim, Sign, claims
from whybench.families.causalgame.world.design import SUFFIX
from whybench.families.causalgame.world.drawn.hazards import Hazards
from whybench.families.causalgame.world.world import World

OPPOSITE: dict[Sign, Sign] = {"raises": "lowers", "lowers": "raises"}
AMOUNTS: dict[Sign, str] = {"raises": "more", "lowers": "fewer", "no_effect": "as many"}


def known_claims(world: World) -> tuple[Claim, ...]:
    """Return the claims about a hidden system, golden ones first; ids name roles, not parts."""
    if not isinstance(world.physics, Hazards):
        return claims(world.rules.physics)
    true = list(_effects(world.physics))
    false = [(f"not {name}", belief) for name, belief in true if belief.cause.endswith(SUFFIX)]
    wrong = [(name, replace(held, sign=OPPOSITE[held.sign])) for name, held in false]
    return (
        *(_claim(name, held, golden=True) for name, held in true),
        *(_claim(name, held, golden=False) for name, held in wrong),
    )


def _effects(physics: Hazards) -> Iterator[tuple[str, Belief]]:
    """Yield the effects on survival, each with a name."""
    for place, (name, pair) in enumerate(physics.parts.items()):
        role = physics.roles[name]
        rank = 1 + [physics.roles[other] for other in physics.parts][:place].count(role)
        for stratum, own in zip(physics.strata, pair, strict=True):
            if not own or (role != "moody" and stratum == physics.strata[1]):
                continue
            sign: Sign = "lowers" if own > 0 else "raises"
            when = stratum if role == "moody" else ""
            yield f"{role} {when or rank}", Belief(name + SUFFIX, "survival", sign, when)
    slot = next(iter(physics.sheet.slots))
    right = next(option for option, pair in physics.options.items() if not any(pair))
    yield "right option", Belief(f"{slot}={right}", "survival", "raises")


def _claim(name: str, held: Belief, *, golden: bool) -> Claim:
    cause = held.cause
    lever = f"DEF on the {cause.removesuffix(SUFFIX)}" if cause.endswith(SUFFIX) else cause
    where = f" ({held.when})" if held.when else ""
    statement = f"With {lever}, {AMOUNTS[held.sign]} drones come back{where}."
    return Claim(name, golden, statement, (held,))
