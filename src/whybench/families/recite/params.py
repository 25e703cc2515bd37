"""Knobs and suites of ReCITE."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whybench.families.recite.diagram import FEWEST_NODES, MOST_NODES
from whybench.families.recite.plan import Shares
from whybench.families.recite.sizes import LONGEST, SHORTEST
from whybench.families.recite.world import Names

FAMILY = "recite"


@dataclass(frozen=True, slots=True)
class Collection:
    """What a suite is made of."""

    size: int
    source: str
    """Which graphs: `short`, `long`, `ladder` or `matched` (to the published statistics)."""
    names: Names
    what: str


COLLECTIONS = {
    "made_short": Collection(
        200, "short", "free", "made: 5 to 14 nodes in 700 to 6,000 characters"
    ),
    "made_long": Collection(
        100, "long", "free", "made: 20 to 140 nodes in 20,000 to 170,000 characters"
    ),
    "made_ladder": Collection(
        200, "ladder", "free", "made: 40 graphs, each at five levels of explicitness"
    ),
    "standard": Collection(
        292, "matched", "free", "like the published texts, or those themselves; names are free"
    ),
    "name_assisted": Collection(
        292, "matched", "told", "the same with the nodes' names told; the answer is by id"
    ),
}

PUBLISHED = ("standard", "name_assisted")
"""Suites that the release has texts for."""


@cache
def levels() -> tuple[Shares, ...]:
    """Return the ladder of explicitness, least explicit first."""
    return tuple(Shares(**level) for level in _shares()["ladder"])


@cache
def matched() -> Shares:
    """Return the shares of documents off the ladder."""
    return Shares(**_shares()["matched"])


def _shares() -> Any:
    return json.loads((files(__package__ or "") / "levels.json").read_text("utf-8"))


class Knobs(BaseModel):
    """What may be turned; every suite has its own setting as the default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: Names | None = Field(None, description="`free`, or `told`: nodes are given with an id")
    similarity: Literal["lexical", "both"] | None = Field(
        None,
        description="how free names are matched: `lexical` (default for made texts, whose synonyms "
        "are known), or `both` with sentence embeddings (default for published texts)",
    )
    max_errors: int = Field(
        3, ge=1, le=100, description="invalid answers after which an episode ends"
    )
    data: str | None = Field(
        None,
        description="profile `published` only: `hub`, or a Parquet or JSONL file with the texts",
    )
    filter: str | None = Field(
        None, description="with `data` only: which texts, such as `nodes=5..30,cyclic=false`"
    )

    @field_validator("filter", mode="before")
    @classmethod
    def _joined(cls, value: Any) -> Any:
        """Put together again what Inspect's command line takes apart at commas."""
        return ",".join(map(str, value)) if isinstance(value, list) else value

    nodes: int | None = Field(
        None, ge=FEWEST_NODES, le=MOST_NODES, description="made texts: how many nodes each"
    )
    length: int | None = Field(
        None, ge=SHORTEST, le=LONGEST, description="made texts: characters, about"
    )
    field: str | None = Field(None, description="made texts: the field of all, such as `health`")
    explicit: float | None = Field(None, ge=0, le=1, description="made texts: share of nodes")
    implicit: float | None = Field(None, ge=0, le=1, description="made texts: share of nodes")
    stated: float | None = Field(None, ge=0, le=1, description="made texts: share of edges")
    implied: float | None = Field(None, ge=0, le=1, description="made texts: share of edges")
    distractors: float = Field(
        0.4, ge=0, le=1, description="made texts: share of distractors among what gives no edge"
    )


MADE_ONLY = (
    "nodes", "length", "field", "explicit", "implicit", "stated", "implied", "distractors",
)  # fmt: skip
"""Knobs that a published text cannot follow."""


def shares(suite: str, index: int, knobs: Knobs) -> Shares:
    """Return how openly a document speaks: by its suite, its level, and the knobs."""
    ladder = COLLECTIONS[suite].source == "ladder"
    found = levels()[index % len(levels())] if ladder else matched()
    turned = {
        name: value
        for name in ("explicit", "implicit", "stated", "implied")
        if (value := getattr(knobs, name)) is not None
    }
    found = replace(found, **turned)
    for one, other in (("explicit", "implicit"), ("stated", "implied")):
        if getattr(found, one) + getattr(found, other) > 1 + 1e-9:
            raise ValueError(f"`{one}` and `{other}` are shares of one whole: together at most 1")
    return found
