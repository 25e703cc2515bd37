"""Knobs and suites of CausalGame."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from whybench.families.causalgame.scenario import Rules

NAME = "causalgame"

SIZE = 100
"""Instances of a scenario."""

MOST_LOOKS = 200
"""So many actions that change nothing are carried out before an episode ends."""

ALL = "all"
KNOBS = "knobs"

Level = Literal["off", "mild", "strong"]
LEVELS: tuple[Level, ...] = ("off", "mild", "strong")


class Knobs(BaseModel):
    """What can be turned; a knob that is not turned leaves a scenario as its file has it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_failed: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="chance that a destroyed drone's record can be seen (q)",
    )
    counts: bool = Field(default=True, description="whether a deployment says how many came back")
    drones: int | None = Field(default=None, ge=1, le=10_000, description="drones for exploration")
    deploys: int | None = Field(
        default=None, ge=1, le=100, description="deployments for exploration"
    )
    queries: int | None = Field(
        default=None, ge=0, le=100, description="questions about the environment"
    )
    threshold: float | None = Field(default=None, gt=0, le=1, description="survival that wins")
    guard: bool = Field(default=True, description="whether a fleet needs one deployment before it")
    max_errors: int = Field(
        default=5, ge=1, le=100, description="errors after which an episode ends"
    )

    def over(self, rules: Rules) -> Rules:
        """Return rules with the turned knobs laid over them."""
        names = ("keep_failed", "drones", "deploys", "queries", "threshold")
        turned = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return rules.model_copy(update=turned | ({} if self.counts else {"counts": False}))
