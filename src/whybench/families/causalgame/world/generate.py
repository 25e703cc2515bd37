"""Build a hidden system from its coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import SUFFIX, Design, design
from whybench.families.causalgame.world.equipment import loadout
from whybench.families.causalgame.world.fleet import Bools, Fleet, Ints, Path, fleet, together
from whybench.families.causalgame.world.physics.catalogue import physics as physics_named
from whybench.families.causalgame.world.physics.flight import Flights, fly, joined
from whybench.families.causalgame.world.physics.formulas import between
from whybench.families.causalgame.world.physics.physics import Column, Draws, Environment, Physics
from whybench.families.causalgame.world.physics.weather_state import Sky
from whybench.families.causalgame.world.scenario import Blueprint, Cohort, History, Rules
from whybench.families.causalgame.world.world import Batch, World, kept_records

HISTORY = "history"
FORECAST = "forecast"
"""The warning that states the weather of both stages."""

FEWEST_DRAWN = 64
"""Minimum number of drones that are drawn at once for a cohort."""

BIRDS = (
    "heron", "plover", "kestrel", "petrel", "gannet", "merlin", "curlew", "osprey",
    "dunlin", "fulmar", "harrier", "whimbrel", "skua", "avocet", "garganey", "wigeon",
)  # fmt: skip
"""Call signs of missions; they carry no information."""


def world(scenario: str, rules: Rules, seed: str, index: int) -> World:
    """Return the hidden system at an index of a scenario."""
    found = physics_named(rules.physics)
    path: Path = ("causalgame", rules.physics, seed, index)
    past = history(found, rules, path)
    sign = call_sign(scenario, path)
    return World(scenario, rules, found, path, sign, past, forecast(found, rules))


def call_sign(scenario: str, path: Path) -> str:
    """Draw the call sign of a mission."""
    rng = Stream(*path, "call sign", scenario)
    return f"{rng.choice(BIRDS)}-{rng.below(9000) + 1000}"


def forecast(physics: Physics, rules: Rules) -> tuple[float, float] | None:
    """Return the share of storms in both stages, if the rules disclose it."""
    sky = getattr(physics, "sky", None)
    if rules.warning != FORECAST or not isinstance(sky, Sky):
        return None
    return sky.storm_probability["stage1"], sky.storm_probability["stage2"]


def built(physics: Physics, plan: Blueprint) -> Design:
    """Return a design from a data file; designs of the history may exceed today's limits."""
    defs = {name + SUFFIX: value for name, value in plan.defs.items()}
    return design(physics.sheet, defs, plan.equipment, enforced=False)


def history(physics: Physics, rules: Rules, path: Path) -> Batch:
    """Fly the history: the records that an agent starts with."""
    plan = rules.history
    designs = tuple(built(physics, cohort) for cohort in plan.cohorts)
    which = cohort_of_each(plan)
    parts = [
        _flown(
            physics, cohort, designs[place], (*path, HISTORY, place), int(np.sum(which == place))
        )
        for place, cohort in enumerate(plan.cohorts)
    ]
    if not parts:
        drones = fleet(physics.layout, Stream(*path, HISTORY), 0)
        parts = [fly(physics, drones, design(physics.sheet), "stage1")]
    # Cohorts are flown one after the other; records stand in the pattern's order.
    order = np.argsort(np.argsort(which, kind="stable"), kind="stable")
    flights = joined(parts).rows(order)
    kept = kept_records(path, HISTORY, flights.returned, rules.keep_failed)
    past = Batch(HISTORY, designs, which, flights, kept)
    return past.shuffled(Stream(*path, HISTORY, "order")) if plan.shuffled else past


def cohort_of_each(plan: History) -> Ints:
    """Return the cohort of each record."""
    cycle = plan.pattern or tuple(range(len(plan.cohorts)))
    if not plan.size:
        return np.zeros(0, dtype=np.int64)
    return np.resize(np.array(cycle, dtype=np.int64), plan.size)


def _flown(physics: Physics, cohort: Cohort, design: Design, path: Path, n: int) -> Flights:
    """Fly n drones of a cohort; drones are drawn until enough meet its conditions."""
    stream, load = Stream(*path), loadout(physics.sheet, design)
    drones: list[Fleet] = []
    while sum(map(len, drones)) < n:
        more = fleet(physics.layout, stream, max(n, FEWEST_DRAWN))
        where = physics.environment(more.draws, load, "stage1")
        drones.append(more.rows(np.flatnonzero(_matches(where, cohort))))
    chosen = together(drones, physics.layout).first(n)
    where = physics.environment(chosen.draws, load, "stage1")
    return fly(physics, chosen, design, "stage1", _overwritten(where, cohort, chosen.draws))


def _matches(environment: Environment, cohort: Cohort) -> Bools:
    size = len(next(iter(environment.visible.values())))
    found = np.ones(size, dtype=np.bool_)
    for name, values in cohort.where.items():
        found &= np.isin(environment.column(name), values)
    return found


def _overwritten(environment: Environment, cohort: Cohort, draws: Draws) -> Environment:
    """Overwrite variables as the release does, without redrawing what depends on them."""
    changed: dict[str, Column] = {}
    for name, value in cohort.forced.items():
        size = len(environment[name])
        if isinstance(value, str):
            changed[name] = np.full(size, environment.labels[name].index(value))
        else:
            changed[name] = between(draws[name], value)
    return replace(
        environment,
        visible={name: changed.get(name, old) for name, old in environment.visible.items()},
        hidden={name: changed.get(name, old) for name, old in environment.hidden.items()},
    )
