"""Define standings: a row per system, a cell per family, and a comparison for each pair.

A score of 0 is the floor, the best cheap guesser. A score of 1 is the ceiling, the exact
experimenter. `low` and `high` are bounds of a 95 % interval over hidden systems. Floor and ceiling
count as known. A figure that is not known is nan, and null in JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

NOTHING = math.nan

FEWEST_RIGHT = 5
"""Fewest right answers for which the share understood is shown."""

FIRST_LOOK = 30
"""With fewer hidden systems in a family, a result is only a first look."""


class Estimate(NamedTuple):
    """A figure with its interval."""

    value: float = NOTHING
    low: float = NOTHING
    high: float = NOTHING

    @property
    def known(self) -> bool:
        """Whether there is a figure."""
        return not math.isnan(self.value)

    def mapped(self, floor: float, ceiling: float) -> Estimate:
        """Return the figure on the scale from floor (0) to ceiling (1); unknown without room.

        >>> Estimate(0.75, 0.5, 1.0).mapped(0.5, 1.0)
        Estimate(value=0.5, low=0.0, high=1.0)
        """
        room = ceiling - floor
        if not room > 1e-9:
            return Estimate()
        return Estimate(*((one - floor) / room for one in self))


@dataclass(frozen=True, slots=True)
class Cell:
    """One system on one family."""

    family: str
    suites: tuple[str, ...]
    """`family/suite`, each once."""
    metric: str
    """The headline metric."""
    score: Estimate
    """Between floor (0) and ceiling (1)."""
    raw: Estimate
    """The headline metric itself."""
    floor: float
    floor_name: str
    """The guesser."""
    ceiling: float
    ceiling_name: str
    understood: Estimate
    """Share of right answers that the evidence bears out; unknown without a rule."""
    right: int
    """Right answers behind this share."""
    experiments: float
    """Mean experiments of an episode; nan in families without experiments."""
    efficiency: float
    """Of understood answers: experiments of the exact agent, divided by those of the system."""
    input_tokens: float
    output_tokens: float
    cost: float
    """Price of all episodes, as logged."""
    unusable: float
    """Share of episodes that ended because a reply could not be used."""
    outcomes: Mapping[str, float]
    """Outcome → share of episodes."""
    episodes: int
    instances: int
    clusters: int
    """Hidden systems."""

    @property
    def is_floor(self) -> bool:
        """Whether the interval reaches the floor."""
        return not self.score.low > 0

    @property
    def share(self) -> Estimate:
        """The share understood, if enough answers were right; otherwise unknown."""
        return self.understood if self.right >= FEWEST_RIGHT else Estimate()


@dataclass(frozen=True, slots=True)
class System:
    """One row."""

    name: str
    model: str
    reference: bool
    """Whether it is a reference agent."""
    cells: Mapping[str, Cell]
    """By family; a family that was not run is missing."""
    overall: Estimate
    """Plain mean over the families; unknown unless all were run."""
    understood: Estimate
    """Part of the overall score that is understood."""
    missing: tuple[str, ...] = ()
    """Families that were not run."""

    @property
    def unusable(self) -> float:
        """Share of all episodes that ended because a reply could not be used."""
        known = [cell for cell in self.cells.values() if not math.isnan(cell.unusable)]
        episodes = sum(cell.episodes for cell in known)
        lost = math.fsum(cell.unusable * cell.episodes for cell in known)
        return lost / episodes if episodes else NOTHING

    def total(self, name: str) -> float:
        """Return the sum of a figure over the families; nan if one is unknown."""
        return math.fsum(getattr(cell, name) for cell in self.cells.values())

    def mean(self, name: str) -> float:
        """Return the mean of a figure over the families in which it is known."""
        known = [v for c in self.cells.values() if not math.isnan(v := getattr(c, name))]
        return math.fsum(known) / len(known) if known else NOTHING


@dataclass(frozen=True, slots=True)
class Gap:
    """First minus second, on the scale of scores, by the paired test."""

    difference: Estimate
    p: float
    """Two-sided."""
    p_holm: float
    """Corrected over families, or over pairs for the overall score."""
    n: int
    """Instances that both played; families for the overall score."""
    clusters: int

    @property
    def shown(self) -> bool:
        """Whether a difference is shown."""
        return self.p_holm < 0.05

    @property
    def level(self) -> bool:
        """Whether the interval lies within 0.05 on both sides of 0."""
        return self.difference.low >= -0.05 and self.difference.high <= 0.05


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems; the first has the higher rank."""

    first: str
    second: str
    overall: Gap | None
    families: Mapping[str, Gap]


@dataclass(frozen=True, slots=True)
class Standings:
    """All systems of some logs, best first."""

    families: tuple[str, ...]
    """Columns."""
    systems: tuple[System, ...]
    """By overall score; systems without one follow, by the mean of what they ran."""
    pairs: tuple[Pair, ...]
    release: str = ""
    set: str = ""
    remarks: tuple[str, ...] = field(default=())

    @property
    def first_look(self) -> bool:
        """Whether there is too little to say more than a first look."""
        return self.set == "lite" or any(
            cell.clusters < FIRST_LOOK for one in self.systems for cell in one.cells.values()
        )

    def pair(self, first: str, second: str) -> Pair | None:
        """Return the comparison of two systems in this order."""
        return next((p for p in self.pairs if (p.first, p.second) == (first, second)), None)

    def to_json(self) -> dict[str, Any]:
        """Return plain data; unknown figures are null."""
        data: dict[str, Any] = _plain(asdict(self))
        return data


def _plain(value: Any) -> Any:
    """Return JSON data."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Estimate):
        return {name: _plain(one) for name, one in zip(Estimate._fields, value, strict=True)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
