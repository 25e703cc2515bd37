"""The law of drawn systems: independent hazards in two strata.

A flight meets one of two strata. A part has a hazard in each: a positive one destroys the drone
with probability hazard × DEF / maximum, a negative one with probability |hazard| × (1 − DEF /
maximum). The option in the slot has a hazard too. Hazards are independent, so the probability of
returning is a product. It is linear in the DEF of each part, so the best design is a corner.

One part, the moody one, acts through a hidden mediator: it is active with probability DEF /
maximum, and its hazard applies if it is active (positive) or if it is not (negative).
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np

from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.fleet import Fleet, Floats, Layout, Stage
from whybench.families.causalgame.world.physics.flight import Flights
from whybench.families.causalgame.world.physics.physics import Environment
from whybench.families.causalgame.world.sheet import Frozen, Sheet

Role = Literal["protects", "harms", "moody", "inert"]
Pair = tuple[float, float]
"""A number in the rough stratum, and in the calm one."""

PURPOSES = ("stratum", "misread", "active", "moody", "others")


class Hazards(Frozen):
    """A drawn physics."""

    name: str
    sheet: Sheet
    column: str
    """Name of the stratum on records."""
    strata: tuple[str, str]
    """Rough, calm."""
    shown: bool
    misread: float
    rough: dict[Stage, float]
    """Share of flights in the rough stratum."""
    survives: Pair
    """Chance of a drone in which nothing is wrong."""
    parts: dict[str, Pair]
    """Hazards of live parts; other parts have none."""
    options: dict[str, Pair]
    """Hazards of the options of the slot."""
    roles: dict[str, Role]

    @cached_property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""
        return Layout(PURPOSES, 0)

    @property
    def moody(self) -> str:
        """The part that acts through the mediator."""
        return next(name for name, role in self.roles.items() if role == "moody")

    def share(self, design: Design, part: str) -> float:
        """Return DEF as a share of the maximum."""
        return design.defs[self.sheet.index[part]] / self.sheet.def_range[1]

    def option(self, design: Design) -> str:
        """Return the option in the slot; an empty slot holds its default."""
        slot, offer = next(iter(self.sheet.slots.items()))
        return str(dict(design.equipment).get(slot, offer.default))

    def chances(self, design: Design, without: str = "") -> Pair:
        """Return the probability of returning in each stratum; one part can be left out."""
        found = []
        for stratum, chance in enumerate(self.survives):
            chance *= 1 - self.options[self.option(design)][stratum]
            for name, pair in self.parts.items():
                if name != without:
                    chance *= 1 - hazard(pair[stratum], self.share(design, name))
            found.append(chance)
        return found[0], found[1]

    def survival(self, design: Design, stage: Stage) -> float:
        """Return the exact probability that a drone of this design returns."""
        rough, calm = self.chances(design)
        return self.rough[stage] * rough + (1 - self.rough[stage]) * calm

    def fly(self, drones: Fleet, design: Design, rough: float) -> Flights:
        """Fly drones of one design, of which a share meets the rough stratum."""
        draws = drones.draws
        calm = draws["stratum"] >= rough
        seen = calm ^ (draws["misread"] < self.misread)
        active = draws["active"] < self.share(design, self.moody)
        own = np.array(self.parts[self.moody])[calm.astype(np.int64)]
        hit = (draws["moody"] < np.abs(own)) & (active == (own > 0))
        others: Floats = np.array(self.chances(design, without=self.moody))[calm.astype(np.int64)]
        returned = (draws["others"] < others) & ~hit
        none = np.zeros(len(drones), dtype=np.int64)
        where = Environment(
            {self.column: seen.astype(np.int64)} if self.shown else {},
            {"calm": calm},
            {self.column: self.strata},
        )
        return Flights(returned, none > 0, none, where, {"active": active})


def hazard(own: float, share: float) -> float:
    """Return the probability that a part destroys a drone, at a share of the maximal DEF.

    >>> hazard(0.5, 0.25), hazard(-0.5, 0.25)
    (0.125, 0.375)
    """
    return own * share if own > 0 else -own * (1 - share)


def corner(physics: Hazards, full: frozenset[str], option: str) -> Design:
    """Return the design with some parts at their maximum, the others bare."""
    low, high = physics.sheet.def_range
    slot = next(iter(physics.sheet.slots))
    defs = tuple(high if name in full else low for name in physics.sheet.names)
    return Design(defs, ((slot, option),))


def live_corners(physics: Hazards) -> list[Design]:
    """Return all corners that leave inert parts bare; live parts at their maximum fit the budget.

    Survival is linear in the DEF of each part, and inert parts change nothing. So no design
    survives better than the best of these.
    """
    live = list(physics.parts)
    return [
        corner(physics, frozenset(n for n, on in zip(live, full, strict=True) if on), option)
        for full in product((False, True), repeat=len(live))
        for option in physics.options
    ]


def best_design(physics: Hazards) -> Design:
    """Return the best of all designs for the fleet: each live part at one end.

    The sign of a steady part decides its end. For a moody part, both ends are compared.
    """
    option = min(physics.options, key=lambda name: sum(physics.options[name]))
    sure = {name for name, pair in physics.parts.items() if pair[0] < 0 and pair[1] <= 0}
    tried = [corner(physics, frozenset(sure | more), option) for more in (set(), {physics.moody})]
    return max(tried, key=lambda design: physics.survival(design, "stage2"))


def role_pattern(physics: Hazards) -> list[object]:
    """Return the roles by place, the ends of a moody part's hazards, and the right option."""
    signs = [own > 0 for own in physics.parts[physics.moody]]
    right = [not any(pair) for pair in physics.options.values()].index(True)
    return [list(physics.roles.values()), signs, right]


def relabelled(physics: Hazards) -> Hazards:
    """Return a physics with the same sheet whose parts have their neighbours' roles."""
    names = physics.sheet.names
    after = dict(zip(names, (*names[1:], names[0]), strict=True))
    return physics.model_copy(
        update={
            "parts": {after[name]: pair for name, pair in physics.parts.items()},
            "roles": {name: physics.roles[before] for before, name in after.items()},
        }
    )
