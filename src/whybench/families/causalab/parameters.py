"""Parameters and suites of CausaLab."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whybench.families.causalab.world.world import Semantics

NAME = "causalab"

GRAPHS = 50
"""Graphs of a suite."""

SMALLEST, LARGEST = 3, 12
"""Nodes of a graph, frequency included."""

RECORDS = {"certified": 1, "published": 2}
"""Number of given records, unless a regime sets another number."""

TOLERANCE = {"certified": 0.5, "published": 5.0}
"""Default tolerance of a prediction, in Hz."""

SIGNS = {"certified": "mixed", "published": "positive"}
"""Default signs of linear weights."""

K, LIMIT = 8, 100.0
"""Default number of nodes in `fresh`, and default largest setting."""

_REGIME = re.compile(r"(\d{1,3})o(\d{1,3})i")


@dataclass(frozen=True, slots=True)
class Plan:
    """The definition of a suite. Suites with the same k share graphs, weights and crystals."""

    k: int
    file: str | None = None
    """The released file with the same condition."""
    regimes: tuple[str, ...] = ()
    """Each graph occurs once in each of these regimes."""
    quadratic: bool = False
    disturbance: float = 0.0
    """Size of the hidden disturbance."""
    affected: int = 0
    """Number of properties that it shifts."""
    frequency_disturbed: bool = False
    frequency_parent: bool = False
    partial: bool = False
    """Whether one or two properties cannot be set."""
    golden: bool = False
    """Whether a chain of interventions is given instead of a budget."""
    begun: int = 0
    """Number of interventions of such a chain that are given beside the budget."""
    observed: bool = False
    """Whether no property can be set, and records settle a part of the graph."""
    fresh: bool = False
    """Whether graphs are drawn one by one, of any size and number."""

    @property
    def whole(self) -> bool:
        """Whether certified systems are linear with whole numbers, so that readings are exact."""
        return bool(self.disturbance) or self.observed


def _scaling(k: int, sizes: tuple[int, ...]) -> Plan:
    """Return a plan with all regimes NoMi: N records and M interventions."""
    least = sizes[0]
    regimes = (
        *(f"{n}o0i" for n in sizes),
        *(f"0o{m}i" for m in sizes),
        *(f"{least}o{m}i" for m in sizes),
    )
    return Plan(k, f"{k}nodes", regimes=regimes)


def _hidden(file: str, size: float, affected: int, frequency: bool = False) -> Plan:
    name = f"4nodes_hidden_{file}"
    return Plan(4, name, disturbance=size, affected=affected, frequency_disturbed=frequency)


PLANS: dict[str, Plan] = {
    **{f"main_{k}": Plan(k, f"{k}nodes") for k in (3, 4, 5, 6, 7)},
    "scaling_4": _scaling(4, (3, 6, 12, 24)),
    "scaling_6": _scaling(6, (5, 10, 20)),
    "quad_hard": Plan(4, "4nodes_quad_hard", quadratic=True),
    **{f"hidden_count_{n}": _hidden(f"n{n}", 5.0, n) for n in (1, 2, 3)},
    "hidden_range_0p5": _hidden("vrange_pm0p5", 0.5, 1),
    "hidden_range_5": _hidden("vrange_pm5", 5.0, 1),
    "hidden_range_50": _hidden("vrange_pm50", 50.0, 1),
    **{f"hidden_freq_{n}": _hidden(f"freqnode_n{n}", 5.0, n - 1, True) for n in (1, 2, 3)},
    **{f"freqparent_{k}": Plan(k, f"{k}nodes_freqparent", frequency_parent=True) for k in (4, 6)},
    **{f"partial_{k}": Plan(k, partial=True) for k in (4, 6)},
    **{f"golden_{k}": Plan(k, f"{k}nodes_golden", golden=True) for k in (4, 6)},
    "observed_5": Plan(5, observed=True),
    "small": Plan(4, begun=1),
    "fresh": Plan(K, fresh=True),
}
"""Suite → its definition, in the order of `family.toml`."""


def regime(text: str) -> tuple[int, int]:
    """Read a regime: how many records and how many interventions.

    >>> regime("3o12i")
    (3, 12)
    """
    found = _REGIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a regime. Write it like 3o12i: records, interventions.")
    return int(found[1]), int(found[2])


class Parameters(BaseModel):
    """Parameters of the family; each suite has its own defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str | None = None
    regime: str | None = None
    semantics: Semantics | None = None
    signs: Literal["positive", "mixed"] | None = None
    limit: float = Field(LIMIT, ge=1, le=1e9)
    tolerance: float | None = Field(None, ge=0, le=1e6)
    k: int = Field(K, ge=SMALLEST, le=LARGEST)
    graphs: int = Field(GRAPHS, ge=1, le=10**7)
    verify: bool = False
    candidates: bool = False
    context: Literal["state", "full"] = "state"
    max_errors: int = Field(3, ge=1, le=100)

    @field_validator("regime")
    @classmethod
    def _readable(cls, text: str | None) -> str | None:
        if text is not None:
            regime(text)
        return text
