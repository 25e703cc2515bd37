"""Parameters and suites of CausalGame."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

NAME = "causalgame"

SIZE = 100
"""Instances of a scenario."""

MOST_LOOKS = 200
"""Number of actions that change nothing after which an episode ends."""

ALL = "all"


class Parameters(BaseModel):
    """Parameters of the family; one that is not set keeps the scenario's own value."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_failed: float | None = Field(default=None, ge=0, le=1)
    counts: bool = True
    drones: int | None = Field(default=None, ge=1, le=10_000)
    deploys: int | None = Field(default=None, ge=1, le=100)
    queries: int | None = Field(default=None, ge=0, le=100)
    threshold: float | None = Field(default=None, gt=0, le=1)
    guard: bool | None = None
    max_errors: int = Field(default=5, ge=1, le=100)

    @property
    def given(self) -> dict[str, Any]:
        """What replaces the rules of a scenario or a story."""
        names = ("keep_failed", "drones", "deploys", "queries", "threshold")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return given | ({} if self.counts else {"counts": False})
