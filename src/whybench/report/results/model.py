"""Define a result: one system of the standings, with what produced its figures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from whybench.report.standings.model import NOTHING, Cell, Estimate, System

SCHEMA = "whybench-result/1"

CLOSE = 1e-6
"""Figures that must agree may differ by this much."""

_SAME = ("overall", "understood")
"""Fields of a system that have the same name in a file."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one file holds."""

    system: System
    release: str
    set: str
    date: str
    versions: Mapping[str, str]
    settings: Mapping[str, Mapping[str, str]]
    logs: Mapping[str, str]
    """Name of a log → SHA-256 of its bytes."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Values that two results must not share on one leaderboard."""
        return self.release, self.set, self.system.name

    def to_json(self) -> dict[str, Any]:
        """Return the data of the file; unknown figures are null."""
        one = self.system
        return {
            "schema": SCHEMA,
            "system": one.name,
            "model": one.model,
            "reference": one.reference,
            "release": self.release,
            "set": self.set,
            "date": self.date,
            "versions": dict(self.versions),
            "families": {
                family: {name: _plain(getattr(cell, name)) for name in _CELL}
                for family, cell in one.cells.items()
            },
            "missing": list(one.missing),
            **{name: _plain(getattr(one, name)) for name in _SAME},
            "settings": {family: dict(given) for family, given in self.settings.items()},
            "logs": [{"file": file, "sha256": sha256} for file, sha256 in self.logs.items()],
            "self_reported": True,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Return the result that a file holds. The data must fit the schema."""
        cells = {
            family: Cell(family=family, **{name: _read(cell[name]) for name in _CELL})
            for family, cell in data["families"].items()
        }
        system = System(
            name=data["system"],
            model=data["model"],
            reference=data["reference"],
            cells=cells,
            missing=tuple(data["missing"]),
            **{name: _read(data[name]) for name in _SAME},
        )
        rest = {name: data[name] for name in ("release", "set", "date", "versions", "settings")}
        return cls(system, logs={log["file"]: log["sha256"] for log in data["logs"]}, **rest)


_CELL = tuple(field.name for field in fields(Cell) if field.name != "family")


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of result files."""
    text = files(__package__).joinpath("result.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def contradictions(result: Result) -> Iterator[tuple[str, str]]:
    """Yield each field that contradicts another one, with the reason."""
    one = result.system
    for name in _SAME:
        yield from _disordered(name, getattr(one, name))
    for family, cell in one.cells.items():
        for name in ("score", "raw", "understood"):
            yield from _disordered(f"families.{family}.{name}", getattr(cell, name))
        if cell.ceiling < cell.floor:
            yield f"families.{family}.ceiling", "is below the floor"
        mapped = cell.raw.mapped(cell.floor, cell.ceiling)
        if cell.score.known and not _close(cell.score.value, mapped.value):
            yield f"families.{family}.score", "is not raw between floor and ceiling"
        if not cell.clusters <= cell.instances <= cell.episodes or cell.right > cell.episodes:
            yield f"families.{family}.episodes", "is less than a count of its parts"
        if abs(math.fsum(cell.outcomes.values()) - 1) > CLOSE:
            yield f"families.{family}.outcomes", "does not add up to 1"
    if twice := sorted(set(one.missing) & set(one.cells)):
        yield "missing", f"lists {twice[0]}, which was run"
    if one.overall.known:
        mean = math.fsum(cell.score.value for cell in one.cells.values()) / len(one.cells)
        if one.missing or not _close(one.overall.value, mean):
            yield "overall", "is not the mean of all families"


def _close(given: float, due: float) -> bool:
    return abs(given - due) <= CLOSE * (1 + abs(due))


def _disordered(name: str, given: Estimate) -> Iterator[tuple[str, str]]:
    """Yield an interval that does not contain its figure."""
    if given.known and (given.low > given.value + CLOSE or given.high < given.value - CLOSE):
        yield name, "is outside its interval"


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {name: _plain(one) for name, one in value._asdict().items()}
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _read(value: Any) -> Any:
    if value is None:
        return NOTHING
    if isinstance(value, dict) and set(value) == set(Estimate._fields):
        return Estimate(**{name: _read(one) for name, one in value.items()})
    return tuple(value) if isinstance(value, list) else value
