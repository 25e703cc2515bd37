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
    """The result of one action: a code, and what the agent sees.

    Any code except `ok` is an error. Its name is the error mode that a score reports.

    Examples:
        >>> Observation.refused("invalid_action", "no shape 'cube'").is_error
        True

    """

    code: str
    """`ok`, or the name of the error."""
    data: Record = EMPTY
    """What the agent sees. For an error it has the `reason`."""

    @classmethod
    def refused(cls, code: str, reason: str, **more: Json) -> Observation:
        """Return the error that says why an action was rejected.

        Args:
            code: The name of the error.
            reason: Why the action was rejected. The agent sees it.
            **more: Further data of the observation.

        Returns:
            The observation.

        """
        return cls(code, Record.of(reason=reason, **more))

    @property
    def is_error(self) -> bool:
        """Whether the action was rejected."""
        return self.code != OK

    def to_json(self) -> dict[str, Json]:
        """Return the observation as JSON data.

        Returns:
            The data, which `from_json` reads.

        """
        return {"code": self.code, "data": thaw(self.data)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Observation:
        """Rebuild an observation from `to_json`.

        Args:
            data: An object with `code` and `data`.

        Returns:
            The observation.

        """
        return cls(str(data["code"]), freeze(data["data"]))
