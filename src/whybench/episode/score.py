"""How well an episode went: components by name, and how it ended."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw
from whybench.episode.episode import INVALID_ACTION, INVALID_ANSWER, INVALID_FORMAT, TIMEOUT

UNFINISHED = "unfinished"
"""The outcome of an episode that was left open: the agent gave up, or an engine's limit struck."""

CONTEXT_EXCEEDED = "context_exceeded"
"""The outcome of an episode of which a model could not even take in the first prompt."""

ERROR_MODES = (INVALID_FORMAT, INVALID_ACTION, INVALID_ANSWER, TIMEOUT, UNFINISHED)
"""How an episode may end without an answer."""

Role = Literal["main", "side", "detail"]

Kind = Literal["rate", "share", "amount", "number"]

RANGES: dict[Kind, tuple[float, float]] = {
    "rate": (0.0, 1.0),
    "share": (0.0, 1.0),
    "amount": (0.0, math.inf),
    "number": (-math.inf, math.inf),
}
"""Where the values of a metric lie, and so its mean and the bounds of its interval."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One component of a family's score."""

    name: str
    meaning: str
    kind: Kind = "rate"
    """`rate`: every value is 0 or 1. `share`: from 0 to 1. `amount`: from 0 on. `number`: any."""
    role: Role = "main"
    """`main`: shown with its interval. `side`: shown as a mean. `detail`: left out at a glance."""

    @property
    def rate(self) -> bool:
        """Whether every value is 0 or 1."""
        return self.kind == "rate"

    @property
    def range(self) -> tuple[float, float]:
        """The least and the most that a value can be."""
        return RANGES[self.kind]


@cache
def declared_metrics(package: str) -> tuple[Metric, ...]:
    """Return the metrics that `family.toml` in a family's package declares, in their order.

    >>> declared_metrics("whybench.families.causallink")[0].name
    'accuracy'
    """
    text = (files(package) / "family.toml").read_text("utf-8")
    return tuple(Metric(**one) for one in tomllib.loads(text)["metrics"])


@dataclass(frozen=True, slots=True)
class Score:
    """The components of one episode's score. None means "does not apply here", never zero."""

    outcome: str
    """`answered`, or the error mode in which the episode ended."""
    values: Record
    """Metric name → value."""
    labels: Record = EMPTY
    """Categories in words, such as the verdict of the evidence."""

    def to_json(self) -> dict[str, Json]:
        """Return the score as JSON data."""
        return {"outcome": self.outcome, "values": thaw(self.values), "labels": thaw(self.labels)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Score:
        """Rebuild a score from `to_json`."""
        return cls(data["outcome"], freeze(data["values"]), freeze(data["labels"]))
