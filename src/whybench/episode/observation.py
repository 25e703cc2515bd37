"""What an agent gets back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whybench.causal.canonical import EMPTY, Json, Record, freeze, thaw

OK = "ok"
OVER = "over"
"""The code of the answer to an action after the end; such an action leaves no trace."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of one action: a code, and what can be seen now.

    Any code but `ok` is an error, and its name is the error mode that a score reports.
    """

    code: str
    data: Record = EMPTY

    @classmethod
    def refused(cls, code: str, reason: str, **more: Json) -> Observation:
        """Return the error that says why an action was not carried out."""
        return cls(code, Record.of(reason=reason, **more))

    @property
    def is_error(self) -> bool:
        """Whether the action was not carried out."""
        return self.code != OK

    def to_json(self) -> dict[str, Json]:
        """Return the observation as JSON data."""
        return {"code": self.code, "data": thaw(self.data)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Observation:
        """Rebuild an observation from `to_json`."""
        return cls(str(data["code"]), freeze(data["data"]))
