"""A change that a step made, or what it noticed: all of them are listed beside the result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["removed", "added", "replaced", "renamed", "dropped", "doubt", "refused"]
"""What happened. A doubt changed nothing: somebody should look at it. What was refused is a reply
of a model that broke a rule; it changed nothing either."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change, one doubt or one refused reply."""

    step: str
    kind: Kind
    where: str
    """Line, chunk or round, as far as it is known."""
    before: str = ""
    after: str = ""
    note: str = ""
    """Why."""

    def to_json(self) -> dict[str, Any]:
        """Return the change as JSON data."""
        return asdict(self)
