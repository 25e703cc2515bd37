"""The suite `knobs`: generated systems; four factors are off, mild or strong.

Cell and draw determine the hidden system. All cells of a draw share physics and random numbers, so
cells are compared in pairs. The history is an orthogonal array: with all factors off, what is
associated with survival is what causes it.
"""

from __future__ import annotations

import json
import math
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from operator import mul
from typing import Literal

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.parameters import FACTORIAL, LEVELS, Level, Parameters
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.fleet import Floats, Ints, Path, fleet
from whybench.families.causalgame.world.generate import BIRDS, HISTORY, forecast
from whybench.families.causalgame.world.physics.flight import Flights, fly
from whybench.families.causalgame.world.physics.generated import (
    NAME,
    Generated,
    Mixed,
    Plan,
    best_design,
    expected_survival,
)
from whybench.families.causalgame.world.scenario import Concealed, Noise, Rules
from whybench.families.causalgame.world.sheet import Frozen, Sheet
from whybench.families.causalgame.world.world import Batch, World, keep_chance, kept_records

Factor = Literal["selection", "noise", "confounding", "shift"]
FACTORS: tuple[Factor, ...] = ("selection", "noise", "confounding", "shift")
"""The last one changes fastest from cell to cell."""

_CELLS = tuple(product(LEVELS, repeat=len(FACTORS)))
CELLS = len(_CELLS)
SEEDS = 20

_RUNS = tuple(product((0, 1), repeat=4))
_COLUMNS = tuple(y for y in _RUNS if (y[0] & y[1]) ^ (y[2] & y[3]))
_SLOT = ((1, 0, 0, 0), (0, 0, 1, 0))
"""Runs of the history are the points of GF(2)⁴: a component is armoured in the runs whose product
with its column is 1. The six columns are the points where a bent function is 1, so two or four
components are armoured in every run except the empty one, and a small budget is enough for all
runs. The slot's two columns and their sum are not among the six, and all columns differ, so every
two levers are balanced against each other."""

_ARRAY = tuple(
    tuple(sum(map(mul, run, column)) % 2 for column in (*_COLUMNS, *_SLOT)) for run in _RUNS
)

_DEALS = 1000
"""Maximum number of attempts to assign the columns."""


class Records(Frozen):
    """The history's numbers."""

    each: int
    """Records of each design."""
    low: tuple[int, int]
    """Bounds of the lower DEF of a component; drawn for each component."""
    rise: int
    """Difference between the higher and the lower DEF."""
    margin: float
    """Distance below the bar that all history designs keep, whatever the fleet's weather."""


class Bar(Frozen):
    """Distance of the bar below the best design: the larger of the two, rounded down to 0.01."""

    least: float
    errors: float
    """Standard errors of the fleet's survival rate."""


class Selection(Frozen):
    """Which records of lost drones are visible; the decoy conceals wrecks."""

    keep_failed: float
    least: float
    at: int


class Limits(Frozen):
    """What an agent may do, as in `Rules`."""

    drones: int
    deploys: int
    fleet_size: int
    queries: int


class Numbers(Frozen):
    """All of `cells.json`."""

    source: str
    world: Plan
    history: Records
    rules: Limits
    bar: Bar
    selection: dict[Level, Selection]
    noise: dict[Level, Noise | None]
    confounding: dict[Level, float]
    """How far the weather of the history's designs goes towards all clear or all storm: clear for
    those with the decoy and without the weak lever, storm for the opposite."""
    shift: dict[Level, float]
    """The share of storms that the fleet meets."""


@cache
def numbers() -> Numbers:
    """Return all numbers of the suite."""
    text = (files(__package__ or "") / "cells.json").read_text("utf-8")
    return Numbers.model_validate(json.loads(text))


def cell_of(index: int) -> dict[str, Level]:
    """Return the level of each factor at an index.

    >>> cell_of(20)
    {'selection': 'off', 'noise': 'off', 'confounding': 'off', 'shift': 'mild'}
    """
    if not 0 <= index < CELLS * SEEDS:
        raise ValueError(f"There is no instance {index}. Give 0 to {CELLS * SEEDS - 1}.")
    return dict(zip(FACTORS, _CELLS[index // SEEDS], strict=True))


def cell_world(suite_seed: str, index: int, parameters: Parameters | None = None) -> World:
    """Return the hidden system at an index; parameters of the family override its rules."""
    cell, seed = cell_of(index), index % SEEDS
    path: Path = ("causalgame", NAME, suite_seed, seed)
    physics, best = _physics(path, cell["shift"])
    rules = _rules(cell, physics, best)
    if parameters is not None:
        rules = parameters.over(rules)
    past = _history(rules, path, cell["confounding"])
    rng = Stream(*path, "call sign", FACTORIAL, index)
    sign = f"{rng.choice(BIRDS)}-{rng.below(9000) + 1000}"
    return World(FACTORIAL, rules, physics, path, sign, past, forecast(physics, rules), best)


def refused_deals(suite_seed: str, index: int) -> int:
    """Return how many histories were discarded at an index because some design was too good."""
    return _designs(("causalgame", NAME, suite_seed, index % SEEDS))[1]


@lru_cache(maxsize=256)
def _physics(path: Path, shift: Level) -> tuple[Generated, Design]:
    """Draw a physics and find its best design; of the factors, only the shift affects it."""
    found = numbers().world.drawn(Stream(*path, "physics"), numbers().shift[shift])
    return found, best_design(found, "stage2")


def bar(physics: Generated, best: Design) -> float:
    """Return the survival rate that wins."""
    given, most = numbers(), expected_survival(physics, best, "stage2")
    error = math.sqrt(most * (1 - most) / given.rules.fleet_size)
    return math.floor(100 * (most - max(given.bar.least, given.bar.errors * error))) / 100


def _rules(cell: dict[str, Level], physics: Generated, best: Design) -> Rules:
    given = numbers()
    selection = given.selection[cell["selection"]]
    conceals = selection.least < selection.keep_failed
    return Rules(
        physics=NAME,
        threshold=bar(physics, best),
        keep_failed=selection.keep_failed,
        concealed=Concealed(
            component=physics.roles["decoy"], least=selection.least, at=selection.at
        )
        if conceals
        else None,
        noise=given.noise[cell["noise"]],
        warning="" if cell["shift"] == "off" else "forecast",
        **dict(given.rules),
    )


# The history --------------------------------------------------------------------------------------


def _history(rules: Rules, path: Path, confounding: Level) -> Batch:
    physics, _ = _physics(path, "off")
    designs, which, flights = _flown(path, confounding)
    chances = np.array([keep_chance(rules, physics.sheet, found) for found in designs])
    kept = kept_records(path, HISTORY, flights.returned, chances[which])
    past = Batch(HISTORY, designs, which, flights, kept)
    return past.shuffled(Stream(*path, HISTORY, "order"))


@lru_cache(maxsize=256)
def _flown(path: Path, confounding: Level) -> tuple[tuple[Design, ...], Ints, Flights]:
    """Fly the same drones and designs in every cell; only their weather may differ."""
    physics, _ = _physics(path, "off")
    designs, _ = _designs(path)
    which = np.resize(np.arange(len(designs)), len(designs) * numbers().history.each)
    drones = fleet(physics.layout, Stream(*path, HISTORY), len(which))
    usual = physics.sky.storm_probability["stage1"]
    bent = numbers().confounding[confounding]
    storms = np.array([_storms(physics, found, usual, bent) for found in designs])[which]
    pattern = _stretched(drones.draws["weather_pattern"], usual, storms)
    where = physics.sky.environment({**drones.draws, "weather_pattern": pattern}, "stage1")
    chances = [physics.chances(found.defs, dict(found.equipment)) for found in designs]
    known = {name: getattr(physics, name) for name in Generated.model_fields}
    mixed = Mixed(**known, each=tuple(chances[place] for place in which.tolist()))
    return designs, which, fly(mixed, drones, designs[0], "stage1", where)


@lru_cache(maxsize=256)
def _designs(path: Path) -> tuple[tuple[Design, ...], int]:
    """Return the history's designs, and how many attempts had a design that was too good."""
    rng, plan = Stream(*path, HISTORY, "designs"), numbers().history
    worlds = [_physics(path, level) for level in reversed(LEVELS)]  # the strictest first
    limits = [(physics, bar(physics, best) - plan.margin) for physics, best in worlds]
    for refused in range(_DEALS):
        found = _dealt(worlds[0][0].sheet, rng)
        if all(
            expected_survival(physics, tried, "stage2") < limit
            for physics, limit in limits
            for tried in found
        ):
            return found, refused
    raise ValueError("No history stays below the bar. Lower `margin` in cells.json.")


def _dealt(sheet: Sheet, rng: Stream) -> tuple[Design, ...]:
    plan = numbers().history
    low, high = plan.low
    columns = rng.shuffled(range(len(_COLUMNS)))
    lows = [low + rng.below(high - low + 1) for _ in columns]
    slot, offer = next(iter(sheet.slots.items()))
    options = rng.shuffled(tuple(offer.options))
    return tuple(
        Design(
            tuple(
                start + plan.rise * armoured[column]
                for start, column in zip(lows, columns, strict=True)
            ),
            ((slot, options[2 * first + second]),),
        )
        for *armoured, first, second in rng.shuffled(_ARRAY)
    )


def _storms(physics: Generated, found: Design, usual: float, confounding: float) -> float:
    """Return the share of storms that a history design met."""
    place, roles = physics.sheet.index, physics.roles
    decoy, weak = found.defs[place[roles["decoy"]]], found.defs[place[roles["weak"]]]
    if abs(decoy - weak) < numbers().history.rise / 2:
        return usual
    return usual * (1 - confounding) if decoy > weak else usual + (1 - usual) * confounding


def _stretched(pattern: Floats, usual: float, storms: Floats) -> Floats:
    """Stretch a uniform pattern so that storms, where it is above 1 − usual, get other shares."""
    rough = pattern > 1 - storms
    found: Floats = np.where(
        rough,
        1 - (1 - pattern) * usual / np.maximum(storms, 1e-9),
        pattern * (1 - usual) / np.maximum(1 - storms, 1e-9),
    )
    return found
