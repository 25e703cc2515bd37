"""Draw the hidden system of an instance: roles, strengths, names, the bar and the records.

All numbers are in `stories.toml`. The records mislead for two reasons. Their designs did not fly in
random strata: a design that is wrong in most of three drawn parts flew almost only in the calm
stratum, one that is right in most of them almost only in the rough one. And most lost drones left
no record.
"""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from whybench.causal.seeds import Stream
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.hazards import (
    Hazards,
    Pair,
    Role,
    best_design,
    corner,
)
from whybench.families.causalgame.world.fleet import Path, Stage, fleet
from whybench.families.causalgame.world.generate import FORECAST, HISTORY, call_sign
from whybench.families.causalgame.world.physics.catalogue import overlaid
from whybench.families.causalgame.world.physics.flight import joined
from whybench.families.causalgame.world.scenario import Rules
from whybench.families.causalgame.world.sheet import Component, Effect, Frozen, Sheet, Slot
from whybench.families.causalgame.world.world import Batch, World, kept_records


class Survives(Frozen):
    """Bounds of the chance of a drone in which nothing is wrong."""

    rough: Pair
    calm: Pair


class Numbers(Frozen):
    """What all stories share; `stories.toml` says what each number is."""

    most: int
    defaults: tuple[int, int]
    survives: Survives
    steady: Pair
    steady_calm: Pair
    moody: Pair
    option: Pair
    option_spread: Pair
    option_calm: float
    margin: float
    below: float
    traps: int
    mostly: float


class Story(Frozen):
    """One story."""

    roles: dict[Role, int]
    choices: int
    budget: float
    column: str
    strata: tuple[str, str]
    where: tuple[str, str]
    """The strata in a sentence about flights."""
    moody_calm: Pair
    rough: Pair
    fleet: tuple[float, ...]
    misread: float
    shown: bool
    keep_failed: float
    drones: int
    deploys: int
    designs: int
    each: int
    confounded: bool
    kind: str
    """The story whose systems it shares."""


class Names(Frozen):
    """Pools of names."""

    parts: tuple[str, ...]
    slots: tuple[str, ...]
    options: tuple[str, ...]


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files(__package__ or "") / "stories.toml").read_text("utf-8"))


@cache
def stories() -> dict[str, Story]:
    """Return all stories by name.

    >>> stories()["zone_no_history"].kind, stories()["zone"].shown
    ('zone', False)
    """
    raw = _data()["stories"]
    return {
        name: Story.model_validate({**overlaid(raw, name), "kind": _kind(name)}) for name in raw
    }


def _kind(name: str) -> str:
    return name.partition("_no_")[0]


@cache
def numbers() -> Numbers:
    """Return what all stories share."""
    return Numbers.model_validate(_data()["numbers"])


@cache
def names() -> Names:
    """Return the pools of names."""
    return Names.model_validate(_data()["names"])


def world(suite: str, seed: str, index: int, **given: Any) -> World:
    """Return the hidden system at an index of a story; given rules replace its own."""
    story = stories()[suite]
    path: Path = ("causalgame", "drawn", story.kind, seed, index)
    physics = drawn(story, Stream(*path, "physics"))
    best = best_design(physics)
    rules = Rules(
        physics=physics.name,
        threshold=bar(physics, best),
        drones=story.drones,
        deploys=story.deploys,
        keep_failed=story.keep_failed,
        queries=5,
        warning=FORECAST if story.fleet else "",
    ).model_copy(update=given)
    forecast = (physics.rough["stage1"], physics.rough["stage2"]) if story.fleet else None
    past = _history(story, rules, physics, best, path)
    return World(suite, rules, physics, path, call_sign(suite, path), past, forecast, best)


def bar(physics: Hazards, best: Design) -> float:
    """Return the survival rate that wins."""
    return math.floor(100 * (physics.survival(best, "stage2") - numbers().margin)) / 100


def drawn(story: Story, rng: Stream) -> Hazards:
    """Draw a physics; names, their order and defaults are independent of roles."""
    known = numbers()

    def between(bounds: Pair) -> float:
        return bounds[0] + (bounds[1] - bounds[0]) * rng.uniform()

    roles = rng.shuffled([role for role, count in story.roles.items() for _ in range(count)])
    parts = rng.sample(names().parts, len(roles))
    low, high = known.defaults
    defaults = [low + rng.below(high - low + 1) for _ in parts]
    options = rng.sample(names().options, story.choices)
    slot, right, default = rng.choice(names().slots), rng.choice(options), rng.choice(options)
    hazards: dict[str, Pair] = {}
    for name, role in zip(parts, roles, strict=True):
        rough = between(known.moody if role == "moody" else known.steady)
        calm = between(story.moody_calm if role == "moody" else known.steady_calm)
        sign = rng.choice((-1, 1)) if role == "moody" else -1 if role == "protects" else 1
        if role != "inert":
            hazards[name] = (sign * rough, sign * rough * calm)
    wrong = between(known.option)
    lost = [0.0 if name == right else wrong * between(known.option_spread) for name in options]
    before = round(between(story.rough), 2)
    after = round(between((story.fleet[0], story.fleet[1])), 2) if story.fleet else before
    shares: dict[Stage, float] = {"stage1": before, "stage2": after}
    return Hazards(
        name=f"drawn_{story.kind}",
        sheet=Sheet(
            components={
                name: Component(hp=1, default_def=value)
                for name, value in zip(parts, defaults, strict=True)
            },
            def_range=(0, known.most),
            total_def_budget=int(story.budget * known.most * len(parts)),
            slots={slot: Slot(default=default, options=dict.fromkeys(options, Effect()))},
        ),
        column=story.column,
        strata=story.strata,
        shown=story.shown,
        misread=story.misread,
        rough=shares,
        survives=(between(known.survives.rough), between(known.survives.calm)),
        parts=hazards,
        options={n: (h, h * known.option_calm) for n, h in zip(options, lost, strict=True)},
        roles=dict(zip(parts, roles, strict=True)),
    )


def random_corner(physics: Hazards, rng: Stream) -> Design:
    """Draw a corner that fits the budget."""
    high = physics.sheet.def_range[1]
    while True:
        full = frozenset(name for name in physics.sheet.names if rng.below(2))
        if len(full) * high <= physics.sheet.total_def_budget:
            return corner(physics, full, rng.choice(tuple(physics.options)))


def _history(story: Story, rules: Rules, physics: Hazards, best: Design, path: Path) -> Batch:
    rng, known = Stream(*path, HISTORY, "designs"), numbers()
    traps = rng.sample(tuple(physics.parts), known.traps)
    designs: list[Design] = []
    while len(designs) < story.designs:
        found = random_corner(physics, rng)
        if physics.survival(found, "stage2") < bar(physics, best) - known.below:
            designs.append(found)
    flown = []
    for place, design in enumerate(designs):
        right = sum(physics.share(design, part) == physics.share(best, part) for part in traps)
        rough = known.mostly if 2 * right > len(traps) else 1 - known.mostly
        drones = fleet(physics.layout, Stream(*path, HISTORY, place), story.each)
        flown.append(
            physics.fly(drones, design, rough if story.confounded else physics.rough["stage1"])
        )
    if not flown:
        none = fleet(physics.layout, Stream(*path, HISTORY), 0)
        flown = [physics.fly(none, best, 0.0)]
    flights = joined(flown)
    which = np.repeat(np.arange(len(designs)), story.each)
    kept = kept_records(path, HISTORY, flights.returned, rules.keep_failed)
    return Batch(HISTORY, tuple(designs), which, flights, kept)
