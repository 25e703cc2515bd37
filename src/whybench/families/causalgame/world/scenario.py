"""Scenarios: what is hidden, shown, allowed and asked for, in either profile; read from a file."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from whybench.episode.instance import Profile
from whybench.families.causalgame.world.design import Choice
from whybench.families.causalgame.world.physics.catalogue import overlaid
from whybench.families.causalgame.world.sheet import Frozen

Challenge = Literal["selection", "confounder", "shift", "noise"]


class Blueprint(Frozen):
    """A design as data: components left out keep their default DEF."""

    defs: dict[str, int] = Field(default_factory=dict)
    equipment: dict[str, Choice] = Field(default_factory=dict)


class Cohort(Blueprint):
    """Records of one design in a history."""

    where: dict[str, tuple[bool | str, ...]] = Field(default_factory=dict)
    """Flown only where these variables, hidden ones too, have one of these values."""
    forced: dict[str, str | tuple[float, float]] = Field(default_factory=dict)
    """Variables that are overwritten after they were drawn, as the release does: a label, or the
    bounds of a uniform number. What follows from them is not drawn again."""


class History(Frozen):
    """The records that an agent starts from."""

    size: int = Field(default=0, ge=0)
    cohorts: tuple[Cohort, ...] = ()
    pattern: tuple[int, ...] = ()
    """Which cohort each record belongs to, over and over; empty: one after the other."""
    shuffled: bool = False
    """Whether records stand in random order: in a rota, every gap tells of a hidden failure."""


class Noise(Frozen):
    """Measurement noise: so large relative to a value, by weather."""

    storm: float
    clear: float
    flip: float
    """A status is reported wrongly with this chance times the noise."""
    everywhere: bool
    """Whether history and counts are measured too; in the release only single results are."""


class Concealed(Frozen):
    """Wrecks that are harder to find the more armour a component has."""

    component: str
    least: float = Field(ge=0.0, le=1.0)
    """The chance that a destroyed drone's record can be seen at much armour; at none it is
    `keep_failed`, and in between it falls evenly."""
    at: int = Field(ge=1)
    """So much DEF is much."""


class Spurious(Frozen):
    """What the visible records seem to say, and should not be believed."""

    lever: str
    """A component's DEF, like `antenna_def`, or an option, like `coating=stealth`."""
    sign: Literal[-1, 1]
    """The sign of its association with survival over all visible records."""
    strata: str | None = None
    """The variable within whose values the sign is the opposite."""


class Rules(Frozen):
    """One scenario in one profile."""

    physics: str
    threshold: float
    drones: int = 200
    """How many may be deployed before the fleet is submitted."""
    deploys: int = 10
    most_per_deploy: int = 50
    fleet_size: int = 1000
    keep_failed: float = Field(ge=0.0, le=1.0)
    """The chance that a destroyed drone's record can be seen."""
    concealed: Concealed | None = None
    """What makes that chance smaller for some designs."""
    counts: bool = True
    """Whether a batch's survivors are counted for the agent."""
    queries: int = 10
    """How often the environment may be asked about; 0: not at all."""
    noise: Noise | None = None
    history: History = History()
    spurious: Spurious | None = None
    trap: Blueprint = Blueprint()
    """The naive design that the scenario leads to."""
    intended: Blueprint = Blueprint()
    """The design that its authors had in mind."""
    warning: str = ""
    """The passage that warns of a change between exploration and fleet; empty: none."""


class Scenario(Frozen):
    """One of the published scenarios."""

    challenges: tuple[Challenge, ...]
    published: Rules
    certified: Rules

    def rules(self, profile: Profile) -> Rules:
        """Return what holds in a profile."""
        return self.certified if profile == "certified" else self.published


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
