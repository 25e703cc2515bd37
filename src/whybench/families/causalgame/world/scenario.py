"""Scenarios of profile `published`: what is hidden, shown and allowed; read from a file."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from whybench.families.causalgame.world.design import Choice
from whybench.families.causalgame.world.physics.catalogue import overlaid
from whybench.families.causalgame.world.sheet import Frozen

Challenge = Literal["selection", "confounder", "shift", "noise"]


class Blueprint(Frozen):
    """A design as data: components left out keep their default DEF."""

    defs: dict[str, int] = Field(default_factory=dict)
    equipment: dict[str, Choice] = Field(default_factory=dict)


class Cohort(Blueprint):
    """Flights of one design in a history."""

    where: dict[str, tuple[bool | str, ...]] = Field(default_factory=dict)
    """The flights meet these conditions: each variable, also a hidden one, has one of these values.
    """
    forced: dict[str, str | tuple[float, float]] = Field(default_factory=dict)
    """Variables that are overwritten after they were drawn, as the release does: a label, or the
    bounds of a uniform number. Variables that depend on them are not redrawn."""


class History(Frozen):
    """The records that an agent starts from."""

    size: int = Field(default=0, ge=0)
    cohorts: tuple[Cohort, ...] = ()
    pattern: tuple[int, ...] = ()
    """The cohort of each record, repeated; if empty, cohorts follow one after another."""
    shuffled: bool = False
    """Whether records are in random order: in a rotation, every gap reveals a hidden failure."""


class Noise(Frozen):
    """Measurement noise, relative to the value, by weather."""

    storm: float
    clear: float
    flip: float
    """A status is reported wrongly with this probability times the noise."""
    everywhere: bool
    """Whether history and counts are noisy too; in the release only single results are."""


class Rules(Frozen):
    """The rules of a scenario or of a drawn system."""

    physics: str
    threshold: float
    drones: int = 200
    """Number of drones for exploration."""
    deploys: int = 10
    most_per_deploy: int = 50
    fleet_size: int = 1000
    keep_failed: float = Field(ge=0.0, le=1.0)
    """The probability that a lost drone's record is visible."""
    counts: bool = True
    """Whether the agent sees the number of survivors of a batch."""
    queries: int = 10
    """Number of questions about the environment; 0: none are allowed."""
    noise: Noise | None = None
    history: History = History()
    trap: Blueprint = Blueprint()
    """The naive design that the records suggest."""
    intended: Blueprint = Blueprint()
    """The design that the scenario's authors intended."""
    warning: str = ""
    """The passage that warns of a change between exploration and fleet; if empty, there is none."""


class Scenario(Frozen):
    """One of the published scenarios."""

    challenges: tuple[Challenge, ...]
    published: Rules


@cache
def scenarios() -> dict[str, Scenario]:
    """Return all scenarios by their published ids.

    >>> scenarios()["antenna_trap"].published.threshold
    0.75
    """
    text = (files(__package__ or "") / "scenarios.json").read_text("utf-8")
    raw: dict[str, dict[str, Any]] = json.loads(text)
    return {
        name: Scenario.model_validate(overlaid(raw, name))
        for name in raw
        if not name.startswith("_")
    }
