"""Rubrics: weighted criteria, read from `rubric.json`, and sums of verdicts.

A verdict is 1, 0.5 or 0, multiplied by the criterion's weight; deductions have negative weights.
The published rubrics call some criteria mandatory but do not say what follows. Our decision:
`mandatory_met` reports whether every mandatory criterion got at least a half. The sums do not
change, so they can be compared with published sums.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from whybench.families.causalgame.report_checks import Checks

VERDICTS = (0.0, 0.5, 1.0)
"""Not met, half met, met; for a deduction: absent, in part, present."""

NAMES = ("six", "full")
"""`six`: six criteria, 16 points; `full`: all 17 items, 34 points and deductions to -11."""

Mechanical = Literal["faithful", "fabricated"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion to judge."""

    id: str
    weight: int
    """Points for a verdict of 1; a negative weight is a deduction."""
    dimension: str
    title: str
    text: str
    mandatory: bool = False
    mechanical: Mechanical | None = None
    """Whether `report_checks` decides it from the report's numbers, instead of a judge."""
    like: str | None = None
    """Id of the same criterion in the rubric with six criteria."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """Criteria in their order."""

    name: str
    dimensions: tuple[tuple[str, str], ...]
    """Name and title of each dimension."""
    criteria: tuple[Criterion, ...]

    @property
    def maximum(self) -> int:
        """Maximum number of points."""
        return sum(max(0, criterion.weight) for criterion in self.criteria)

    @property
    def judged(self) -> tuple[Criterion, ...]:
        """The criteria that a judge decides."""
        return tuple(c for c in self.criteria if c.mechanical is None)


@dataclass(frozen=True, slots=True)
class Graded:
    """The sums of verdicts."""

    total: float
    normalised: float
    """Total divided by the maximum; deductions can take it below 0."""
    dimensions: Mapping[str, float]
    """Points of each dimension."""
    dimensions_normalised: Mapping[str, float]
    """Points of each dimension, divided by its maximum."""
    mandatory_met: bool
    """Whether every mandatory criterion is at least half met; does not change any sum."""


@cache
def rubric(name: str) -> Rubric:
    """Return a rubric by name.

    >>> [rubric(name).maximum for name in NAMES]
    [16, 34]
    """
    if name not in NAMES:
        raise ValueError(f"Unknown rubric {name!r}. Choose one of {', '.join(NAMES)}.")
    data = json.loads((files(__package__ or "") / "rubric.json").read_text("utf-8"))
    own = {c["id"]: c for c in data["six"]["criteria"]}
    entries = [_criterion(c, own) for c in data[name]["criteria"]]
    return Rubric(name, tuple(data[name]["dimensions"].items()), tuple(entries))


def as_published(rubric: Rubric) -> Rubric:
    """Return the rubric as the paper uses it: judges also decide what we check by rule."""
    return replace(rubric, criteria=tuple(replace(c, mechanical=None) for c in rubric.criteria))


def graded(rubric: Rubric, verdicts: Mapping[str, float]) -> Graded:
    """Add up verdicts: exactly one for each criterion; means of several judges are allowed."""
    ids = {criterion.id for criterion in rubric.criteria}
    if ids != verdicts.keys():
        wrong = ", ".join(sorted(ids ^ verdicts.keys()))
        raise ValueError(f"Give exactly one verdict for each criterion. Wrong: {wrong}")
    points = {c.id: c.weight * verdicts[c.id] for c in rubric.criteria}
    scores, most = {}, {}
    for dimension, _ in rubric.dimensions:
        inside = [c for c in rubric.criteria if c.dimension == dimension]
        scores[dimension] = sum(points[c.id] for c in inside)
        most[dimension] = sum(max(0, c.weight) for c in inside)
    total = sum(points.values())
    return Graded(
        total=total,
        normalised=total / rubric.maximum,
        dimensions=scores,
        dimensions_normalised={name: scores[name] / most[name] for name in scores},
        mandatory_met=all(verdicts[c.id] >= 0.5 for c in rubric.criteria if c.mandatory),
    )


def six_of(rubric: Rubric, verdicts: Mapping[str, float]) -> dict[str, float]:
    """Return the verdicts on the six criteria, which every rubric contains."""
    return {
        c.like or c.id: verdicts[c.id] for c in rubric.criteria if c.like or rubric.name == "six"
    }


def mechanical(kind: Mechanical, checks: Checks) -> float:
    """Return the verdict on a criterion that is decided by rule.

    Faithful: 1 if victory, rate and bar are right; 0 if anything is wrong, or if neither victory
    nor rate is stated; otherwise 0.5. Fabricated: 1 if anything is wrong, otherwise 0.
    """
    if kind == "fabricated":
        return float(checks.wrong)
    told = (checks.won, checks.survival_rate, checks.threshold)
    if checks.wrong or "right" not in told[:2]:
        return 0.0
    return 1.0 if set(told) == {"right"} else 0.5


def _criterion(entry: dict[str, Any], own: Mapping[str, dict[str, Any]]) -> Criterion:
    return Criterion(**{**own.get(entry.get("like", ""), {}), **entry})
