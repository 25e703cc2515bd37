"""Generated systems: armour adds to the log-odds of surviving the weather, storm or clear.

Everything acts through one logistic probability in each weather. The survival of a design and the
best design therefore have a closed form.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Literal

import numpy as np

from whybench.causal.canonical import Json, canonical_json
from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Choice, Design
from whybench.families.causalgame.world.equipment import Loadout
from whybench.families.causalgame.world.fleet import Floats, Layout, Stage
from whybench.families.causalgame.world.physics.catalogue import physics as physics_named
from whybench.families.causalgame.world.physics.formulas import Agility, Formulas, between
from whybench.families.causalgame.world.physics.physics import (
    Draws,
    Environment,
    Physics,
    Threat,
    constant,
)
from whybench.families.causalgame.world.physics.weather_state import PURPOSES, Sky
from whybench.families.causalgame.world.scenario import Rules
from whybench.families.causalgame.world.sheet import Component, Effect, Frozen, Sheet, Slot

NAME = "generated"

Role = Literal["strong", "weak", "harmful", "stormproof", "decoy", "inert"]
"""The role of a component. Two help, one harms, one helps in storms and harms otherwise, one has no
effect; the decoy harms, and selection and confounding favour it."""


class Odds(Frozen):
    """Log-odds of survival in either weather."""

    storm: float
    clear: float


class Generated(Frozen):
    """A physics drawn from a seed; a drone that the weather does not destroy returns."""

    name: str
    sheet: Sheet
    formulas: Formulas
    agility: Agility
    sky: Sky
    base: Odds
    """Of a drone without armour and equipment."""
    levers: dict[str, Odds]
    """What DEF at the top of the range adds, in proportion below it; other components add nothing.
    A lever that does not depend on the weather has the same number twice."""
    options: dict[str, float]
    """What an option adds if it is chosen, in any weather."""
    roles: dict[Role, str]
    """Which component was drawn for which role."""

    @cached_property
    def layout(self) -> Layout:
        """What a drone's random numbers are for."""
        return Layout((*PURPOSES, "weathered"), 1)

    def environment(self, draws: Draws, load: Loadout, stage: Stage) -> Environment:  # noqa: ARG002 - a design may matter
        """Draw the weather; no design changes it."""
        return self.sky.environment(draws, stage)

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:
        """Decide which drones survive the weather; the others lose their critical components."""
        storm, clear = self.chances(load.defs, load.equipment)
        return self._wreck(draws, np.where(environment["is_storm"], storm, clear))

    def _wreck(self, draws: Draws, chance: Floats) -> Threat:
        wrecked = (draws["weathered"] >= chance).astype(np.int64)
        parts = self.sheet.components.items()
        return Threat(
            damage={},
            direct={name: part.hp * wrecked for name, part in parts if part.critical},
            detection=constant(self.formulas.detection.least, chance),
            rounds_modifier=constant(0.0, chance),
            accuracy=constant(1.0, chance),
            damage_modifier=constant(0.0, chance),
            hidden={"weather_survival_prob": chance},
        )

    def chances(self, defs: tuple[int, ...], equipment: dict[str, Choice]) -> tuple[float, float]:
        """Return the probability of surviving a storm, and of surviving clear weather."""
        storm, clear = self.base.storm, self.base.clear
        for name, lever in self.levers.items():
            share = defs[self.sheet.index[name]] / self.sheet.def_range[1]
            storm += lever.storm * share
            clear += lever.clear * share
        added = sum(self.options.get(str(choice), 0.0) for choice in equipment.values())
        return _logistic(storm + added), _logistic(clear + added)


class Mixed(Generated):
    """The same for a fleet whose drones differ in design; nothing else of a design matters."""

    each: tuple[tuple[float, float], ...]
    """The chances of each drone in a storm, and in clear weather."""

    def threat(self, draws: Draws, load: Loadout, environment: Environment) -> Threat:  # noqa: ARG002 - each drone has its own
        """Decide which drones survive the weather."""
        storm, clear = np.array(self.each).T
        return self._wreck(draws, np.where(environment["is_storm"], storm, clear))


def expected_survival(physics: Generated, design: Design, stage: Stage) -> float:
    """Return the exact probability that a drone of this design returns."""
    storm, clear = physics.chances(design.defs, dict(design.equipment))
    storms = physics.sky.storm_probability[stage]
    return storms * storm + (1 - storms) * clear


def best_design(physics: Generated, stage: Stage) -> Design:
    """Return the best of all designs within range and budget, proven.

    At most one lever may depend on the weather. Once its DEF is fixed, survival grows with the sum
    of what the other levers and the option add, and each further point of DEF adds the same amount.
    The sum is largest if the budget goes to the steepest lever first and nothing goes to harmful
    levers. It is therefore enough to try every DEF of the one lever.
    """
    sheet, (low, high) = physics.sheet, physics.sheet.def_range
    moody = [name for name, lever in physics.levers.items() if lever.storm != lever.clear]
    if len(moody) > 1:
        raise ValueError(f"{' and '.join(moody)} depend on the weather: let one do so at most")
    steady = sorted(
        (name for name, lever in physics.levers.items() if name not in moody and lever.storm > 0),
        key=lambda name: -physics.levers[name].storm,
    )
    option = max(physics.options, key=lambda name: physics.options[name], default=None)
    slot = next((slot for slot, offer in sheet.slots.items() if option in offer.options), None)
    equipment = () if slot is None or option is None else ((slot, option),)
    found = []
    for tried in range(low, high + 1) if moody else (low,):
        defs = dict.fromkeys(sheet.names, low) | dict.fromkeys(moody, tried)
        left = sheet.total_def_budget - sum(defs.values())
        for name in steady:
            spent = max(0, min(left, high - low))
            defs[name] += spent
            left -= spent
        if left >= 0:
            found.append(Design(tuple(defs.values()), equipment))
    return max(found, key=lambda design: expected_survival(physics, design, stage))


def nameless(physics: Generated) -> Json:
    """Return a physics without the names and the order of components and options."""
    rest = physics.model_dump(
        mode="json", exclude={"formulas", "sheet", "levers", "options", "roles"}
    )
    parts = [_part(physics, name) for name in physics.sheet.components]
    offers = [
        [
            [effect.model_dump(mode="json"), physics.options.get(name, 0.0), name == slot.default]
            for name, effect in slot.options.items()
        ]
        for slot in physics.sheet.slots.values()
    ]
    limits = [physics.sheet.def_range, physics.sheet.total_def_budget]
    slots = [sorted(offer, key=canonical_json) for offer in offers]
    return [rest, limits, sorted(parts, key=canonical_json), sorted(slots, key=canonical_json)]


def nameless_rules(rules: Rules, physics: Physics) -> Json:
    """Return rules; those of a generated system without the name of a component."""
    told = rules.model_dump(mode="json")
    if rules.concealed is not None and isinstance(physics, Generated):
        told["concealed"]["component"] = _part(physics, rules.concealed.component)
    return told


def _part(physics: Generated, name: str) -> Json:
    """Return the properties and effects of a component, without its name."""
    lever = physics.levers.get(name, Odds(storm=0.0, clear=0.0))
    part = physics.sheet.components[name]
    return [part.model_dump(mode="json"), lever.model_dump(mode="json")]


class Plan(Frozen):
    """The distributions from which systems are drawn."""

    always: tuple[str, ...]
    """Components of every sheet; they are critical."""
    others: tuple[str, ...]
    """Components of which some are drawn."""
    hp: int
    default_def: int
    def_range: tuple[int, int]
    total_def_budget: int
    slot: str
    options: tuple[str, ...]
    option_odds: tuple[float, ...]
    """What the options add; the assignment is drawn."""
    base: Odds
    levers: dict[Role, Odds]
    """What components add; the assignment is drawn."""
    spread: tuple[float, float]
    """Bounds of the factor that is drawn for each lever."""
    agility: Agility
    sky: Sky

    def drawn(self, rng: Stream, fleet_storms: float) -> Generated:
        """Draw a system; names, their order and defaults are independent of roles."""
        taken = {*self.always, *rng.sample(self.others, len(self.levers) - len(self.always))}
        names = [name for name in (*self.always, *self.others) if name in taken]
        roles = dict(zip(self.levers, rng.shuffled(names), strict=True))
        factors = between(rng.uniforms(len(roles)), self.spread).tolist()
        offered = rng.shuffled(self.options)
        storms = {**self.sky.storm_probability, "stage2": fleet_storms}
        return Generated(
            name=NAME,
            sheet=Sheet(
                components={
                    name: Component(
                        hp=self.hp, default_def=self.default_def, critical=name in self.always
                    )
                    for name in names
                },
                def_range=self.def_range,
                total_def_budget=self.total_def_budget,
                slots={
                    self.slot: Slot(
                        default=rng.choice(offered), options=dict.fromkeys(offered, Effect())
                    )
                },
            ),
            formulas=physics_named("default").formulas,
            agility=self.agility,
            sky=self.sky.model_copy(update={"storm_probability": storms}),
            base=self.base,
            levers={
                roles[role]: Odds(storm=lever.storm * factor, clear=lever.clear * factor)
                for (role, lever), factor in zip(self.levers.items(), factors, strict=True)
                if lever.storm or lever.clear
            },
            options=dict(zip(rng.shuffled(offered), self.option_odds, strict=True)),
            roles=roles,
        )


def _logistic(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
