"""Parameters and suites of CausalLink."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whybench.episode.prompts.own_files import is_file, with_hash
from whybench.families.causallink.prompts.theme import read_theme

STRUCTURES: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = {
    "direct": (2, ((0, 1),)),
    "mediation": (3, ((0, 1), (1, 2))),
    "confounder": (3, ((1, 0), (1, 2))),
    "confounder_extra": (3, ((1, 0), (1, 2), (0, 2))),
    "collider": (3, ((0, 1), (2, 1))),
}
"""The fixed structures: number of entities, and edges (cause, effect)."""

CORE = ("direct", "mediation", "confounder", "confounder_extra")
"""The structures of the paper's core set, in its order."""

SIZES: dict[str, tuple[int, ...]] = {
    "advanced": (4, 5, 6, 7),
    "large": (10, 11, 12),
    "limited": (5,),
    "small": (2, 3, 4, 5),
}
"""Suites of random graphs → their sizes; those of `advanced` are the paper's."""

GRAPHS = 50
"""Random graphs of each size, as in the paper."""

QUESTIONS = 6
"""Questions for each random graph, as in the paper."""

SOURCES = 4
"""The most entities that nothing drives, in random graphs of profile `certified`."""

LARGEST = 12
"""Maximum number of entities for which the evidence is decided and names exist."""


class Parameters(BaseModel):
    """Parameters of the family; the defaults are the published settings of each suite."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    theme: str = "shapes"
    n: int | None = Field(None, ge=4, le=LARGEST)
    graphs: int = Field(GRAPHS, ge=1)
    budget: int | None = Field(None, ge=0)
    max_errors: int = Field(4, ge=1, le=100)

    @field_validator("theme")
    @classmethod
    def _known(cls, theme: str) -> str:
        name = with_hash(theme) if is_file(theme) else theme
        return read_theme(name).name

    def sizes(self, suite: str) -> tuple[int, ...]:
        """Return the sizes of a suite's random graphs."""
        return SIZES[suite] if self.n is None else (self.n,)
