"""A structured belief that an agent may record with any action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whybench.core.canonical import Json, freeze, thaw


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of a hypothesis: what is believed of one subject."""

    subject: str
    """What the claim is about: an edge (`circle->square`), an equation, a mechanism."""
    value: Json
    """What is believed of it."""
    confidence: float | None = None
    """The agent's own probability that the claim is right, if it gave one."""
    undetermined: bool = False
    """The agent says that its evidence does not settle this."""

    def __post_init__(self) -> None:
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence {self.confidence} is not between 0 and 1")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What an agent believes of the hidden world at one moment."""

    claims: tuple[Claim, ...] = ()

    def to_json(self) -> Json:
        """Return the claims as JSON data."""
        return [
            {
                "subject": claim.subject,
                "value": thaw(claim.value),
                "confidence": claim.confidence,
                "undetermined": claim.undetermined,
            }
            for claim in self.claims
        ]

    @classmethod
    def from_json(cls, data: list[Mapping[str, Any]]) -> Hypothesis:
        """Rebuild a hypothesis from `to_json`."""
        return cls(
            tuple(
                Claim(
                    str(item["subject"]),
                    freeze(item["value"]),
                    item.get("confidence"),
                    bool(item.get("undetermined", False)),
                )
                for item in data
            )
        )
