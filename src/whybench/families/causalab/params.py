"""Knobs and suites of CausaLab."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from whybench.families.causalab.world import Semantics

NAME = "causalab"

GRAPHS = 50
"""Graphs of a suite."""

SMALLEST, LARGEST = 3, 12
"""Nodes of a graph, frequency included."""

RECORDS = 2
"""Records that an agent is given, if no regime says otherwise."""

_REGIME = re.compile(r"(\d{1,3})o(\d{1,3})i")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a suite is made of. Suites with the same k share graphs, weights and crystals."""

    k: int
    what: str
    file: str | None = None
    """The released file that holds the same condition."""
    regimes: tuple[str, ...] = ()
    """Each graph comes once in each of these."""
    quadratic: bool = False
    disturbance: float = 0.0
    """Size of the hidden disturbance."""
    affected: int = 0
    """How many properties it moves."""
    frequency_disturbed: bool = False
    frequency_parent: bool = False
    partial: bool = False
    """Whether one or two properties cannot be set."""
    golden: bool = False
    """Whether a chain of interventions is given instead of a budget."""
    fresh: bool = False
    """Whether graphs are drawn one by one, of any size, as many as asked for."""


def _main() -> dict[str, Plan]:
    return {
        f"main_{k}": Plan(k, f"{GRAPHS} linear worlds of {k} nodes", f"{k}nodes")
        for k in (3, 4, 5, 6, 7)
    }


def _scaling(k: int, sizes: tuple[int, ...]) -> Plan:
    """All regimes NoMi: N records and M interventions."""
    least = sizes[0]
    regimes = (
        *(f"{n}o0i" for n in sizes),
        *(f"0o{m}i" for m in sizes),
        *(f"{least}o{m}i" for m in sizes),
    )
    what = f"the worlds of main_{k} in {len(regimes)} regimes of records and interventions"
    return Plan(k, what, f"{k}nodes", regimes=regimes)


def _hidden() -> dict[str, Plan]:
    found = {}
    for n in (1, 2, 3):
        what = f"main_4 with a hidden disturbance of {n} {'property' if n == 1 else 'properties'}"
        file = f"4nodes_hidden_n{n}"
        found[f"hidden_count_{n}"] = Plan(4, what, file, disturbance=5.0, affected=n)
    for name, size in (("0p5", 0.5), ("5", 5.0), ("50", 50.0)):
        what = f"main_4 with a hidden disturbance of size {size:g}, its place drawn anew"
        file = f"4nodes_hidden_vrange_pm{name}"
        found[f"hidden_range_{name}"] = Plan(4, what, file, disturbance=size, affected=1)
    for n in (1, 2, 3):
        others = ("alone", "and 1 property", "and 2 properties")[n - 1]
        what = f"main_4 with a hidden disturbance of frequency {others}"
        file = f"4nodes_hidden_freqnode_n{n}"
        found[f"hidden_freq_{n}"] = Plan(
            4, what, file, disturbance=5.0, affected=n - 1, frequency_disturbed=True
        )
    return found


PLANS: dict[str, Plan] = {
    **_main(),
    "scaling_4": _scaling(4, (3, 6, 12, 24)),
    "scaling_6": _scaling(6, (5, 10, 20)),
    "quad_hard": Plan(
        4, "quadratic worlds on the graphs of main_4", "4nodes_quad_hard", quadratic=True
    ),
    **_hidden(),
    **{
        f"freqparent_{k}": Plan(
            k,
            f"main_{k} with frequency moved to where it has effects",
            f"{k}nodes_freqparent",
            frequency_parent=True,
        )
        for k in (4, 6)
    },
    **{
        f"partial_{k}": Plan(
            k, f"main_{k} with one or two properties that cannot be set", partial=True
        )
        for k in (4, 6)
    },
    **{
        f"golden_{k}": Plan(
            k,
            f"main_{k} with a chain of interventions that suffices, and no budget",
            f"{k}nodes_golden",
            golden=True,
        )
        for k in (4, 6)
    },
    "fresh": Plan(8, "fresh linear worlds of any size (knobs `k` and `graphs`)", fresh=True),
}


def regime(text: str) -> tuple[int, int]:
    """Read a regime: how many records and how many interventions.

    >>> regime("3o12i")
    (3, 12)
    """
    found = _REGIME.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no regime: write records and interventions like 3o12i")
    return int(found[1]), int(found[2])


class Knobs(BaseModel):
    """What may be turned; every suite has its own setting as the default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str | None = Field(
        None, description="profile `published` only: a folder with the released suites"
    )
    regime: str | None = Field(
        None, description="records and interventions, like 3o12i (default 2 and 4(k-1))"
    )
    semantics: Semantics | None = Field(
        None, description="`shift` (the value becomes the base) or `set` (it is read now)"
    )
    signs: Literal["positive", "mixed"] = Field(
        "positive", description="signs of linear weights; `mixed`: larger readings are no hint"
    )
    limit: float = Field(
        100.0, ge=1, le=1e9, description="settings go from 0 to this (`certified`)"
    )
    tolerance: float = Field(
        5.0, ge=0, le=1e6, description="how near a prediction must be, in Hz; 0 means exact"
    )
    k: int = Field(8, ge=SMALLEST, le=LARGEST, description="`fresh` only: nodes of a graph")
    graphs: int = Field(GRAPHS, ge=1, le=10**7, description="`fresh` only: how many worlds")
    verify: bool = Field(
        False, description="one explicit check of the hypothesis before the reactor is opened"
    )
    candidates: bool = Field(
        False, description="ask for the list of graphs that the agent still holds possible"
    )
    context: Literal["state", "full"] = Field(
        "state", description="protocol `record`: the previous state only, or all turns"
    )
    max_errors: int = Field(
        3, ge=1, le=100, description="unreadable or illegal requests after which an episode ends"
    )

    @field_validator("regime")
    @classmethod
    def _readable(cls, text: str | None) -> str | None:
        if text is not None:
            regime(text)
        return text
