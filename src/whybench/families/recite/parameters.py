"""Parameters and suites of ReCITE."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whybench.episode.prompts.dialogue import Retry
from whybench.families.recite.world.sizes import FEWEST_NODES, LONGEST, MOST_NODES, SHORTEST
from whybench.families.recite.world.world import Names

FAMILY = "recite"


@dataclass(frozen=True, slots=True)
class Shares:
    """How explicit a document is."""

    explicit: float
    """Share of the nodes that are named; the others are described."""
    stated: float
    """Share of the edges that one sentence states."""
    implied: float
    """Share of the edges that several sentences imply; the others are derivable."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What a suite is made of."""

    size: int
    source: str
    """Which graphs: `short`, `ladder` or `matched` (to the published statistics)."""
    names: Names


COLLECTIONS = {
    "short": Collection(200, "short", "free"),
    "ladder": Collection(200, "ladder", "free"),
    "standard": Collection(292, "matched", "free"),
    "name_assisted": Collection(292, "matched", "told"),
}

PUBLISHED = ("standard", "name_assisted")
"""Suites that the release has texts for."""


@cache
def levels() -> tuple[Shares, ...]:
    """Return the ladder of explicitness, least explicit first."""
    return tuple(Shares(**level) for level in _shares()["ladder"])


@cache
def matched() -> Shares:
    """Return the shares of documents outside `ladder`."""
    return Shares(**_shares()["matched"])


def _shares() -> Any:
    return json.loads((files(__package__ or "") / "levels.json").read_text("utf-8"))


class Parameters(BaseModel):
    """The parameters; the default of None means the setting of the suite."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: Names | None = None
    similarity: Literal["lexical", "both"] | None = None
    max_errors: int = Field(3, ge=1, le=100)
    retry: Retry = "reason"
    data: str | None = None
    filter: str | None = None

    @field_validator("filter", mode="before")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        """Join a value that Inspect's command line has split at commas."""
        return ",".join(map(str, value)) if isinstance(value, list) else value

    nodes: int | None = Field(None, ge=FEWEST_NODES, le=MOST_NODES)
    length: int | None = Field(None, ge=SHORTEST, le=LONGEST)
    field: str | None = None
    explicit: float | None = Field(None, ge=0, le=1)
    stated: float | None = Field(None, ge=0, le=1)
    implied: float | None = Field(None, ge=0, le=1)
    distractors: float = Field(2.0, ge=0, le=3)
    grammar: Literal["seen", "held_out", "all"] = "held_out"


MADE_ONLY = (
    "nodes", "length", "field", "explicit", "stated", "implied", "distractors", "grammar",
)  # fmt: skip
"""Parameters that apply to generated documents only."""


def shares(suite: str, index: int, parameters: Parameters) -> Shares:
    """Return the shares of explicitness, from the suite, the level and the parameters."""
    ladder = COLLECTIONS[suite].source == "ladder"
    found = levels()[index % len(levels())] if ladder else matched()
    given = {
        name: value
        for name in ("explicit", "stated", "implied")
        if (value := getattr(parameters, name)) is not None
    }
    found = replace(found, **given)
    if found.stated + found.implied > 1 + 1e-9:
        raise ValueError(
            "`stated` and `implied` are shares of one whole. Their sum must be at most 1."
        )
    return found
