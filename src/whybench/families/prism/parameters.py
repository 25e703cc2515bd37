"""Parameters and suites of Prism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from whybench.families.prism.world.world import KINDS, Kind


def without(kinds: tuple[Kind, ...], kind: Kind) -> tuple[Kind, ...]:
    """Return all kinds but one."""
    return tuple(one for one in kinds if one != kind)


MAIN = without(KINDS, "had")
"""All kinds but the one that needs a hidden input."""

LAB: tuple[Kind, ...] = ("do", "direct", "ancestor", "goal")
"""The kinds of laboratories."""


@dataclass(frozen=True)
class Plan:
    """What a suite holds: a class of systems, and the cells that are equally frequent."""

    cls: str
    sizes: tuple[int, ...]
    kinds: tuple[Kind, ...]
    hidden: int = 0
    screen: str | None = None
    """The screen that triples must pass: a model in `screen.json`."""
    most: int = 0
    """In a laboratory, the most systems that fit the shown trials; 0 without a laboratory."""
    deep: int = 2
    """The least worst case of the best plan of experiments."""
    open: float = 0.0
    """The fewest bits that the shown trials leave open about the answer."""


PLANS = {
    "main": Plan("any", (5, 6, 7, 8), MAIN, screen="cheap"),
    "hard": Plan("any", (5, 6, 7, 8), without(MAIN, "direct"), screen="local"),
    "hidden": Plan("mono", (6, 7, 8), KINDS, hidden=1),
    "lab": Plan("any", (5, 6), LAB, most=600),
    "small": Plan("any", (4,), LAB, most=64, deep=1, open=1.0),
    "teaching": Plan("mono", (4,), without(MAIN, "see")),
}
"""Suite → what it holds. The rule of one variable decides every question of kind `direct`, so
`hard` has none."""

TRIPLES = 5
"""Matched triples for each kind and size."""


class Parameters(BaseModel):
    """Parameters of the family."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int | None = Field(None, ge=4, le=8)
    kind: Literal["see", "do", "direct", "ancestor", "goal", "case", "had"] | None = None
    triples: int = Field(TRIPLES, ge=1)
    justify: bool = False
    max_errors: int = Field(4, ge=1, le=100)

    def cells(self, suite: str) -> list[tuple[Kind, int]]:
        """Return the kinds and sizes of a suite; raise ValueError if a parameter leaves none."""
        plan = PLANS[suite]
        found = [
            (kind, n)
            for kind in plan.kinds
            for n in plan.sizes
            if self.kind in (None, kind) and self.n in (None, n)
        ]
        if not found:
            sizes = ", ".join(map(str, plan.sizes))
            raise ValueError(f"prism/{suite} has n = {sizes} and kinds {', '.join(plan.kinds)}")
        return found
