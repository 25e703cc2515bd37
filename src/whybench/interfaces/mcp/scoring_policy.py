"""The scoring rules of a server, and the data of a session in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whybench.causal.canonical import Json
from whybench.interfaces.mcp.limits import Bucket
from whybench.interfaces.mcp.store.protocol import StoredAttempt
from whybench.interfaces.session import Session

Attempts = Literal["owner", "session"]
"""Scope in which attempts on an instance are numbered."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The scoring rules of a server."""

    blind: bool = False
    """Whether scores are withheld, and claimed later with a receipt."""
    attempts: Attempts = "owner"
    run: str = ""
    """The operator's name of the run. Attempts of different runs are numbered separately."""


@dataclass(slots=True)
class Live:
    """A session in memory."""

    key: str
    owner: str
    spoke: float
    bucket: Bucket
    session: Session | None = None
    id: int = 0
    """Id of the attempt in the store."""
    attempt: int = 0
    """The number of the attempt, as it is shown."""
    over: bool = False
    volume: int = 0
    """Size of the attempt's actions in bytes."""
    receipt: str = ""
    score: dict[str, Json] | None = None
    """The score of a finished attempt, after it was requested."""
    restored: bool = False
    """Whether this agrees with the store. Until then, only the fields above `session` do."""

    def agrees(self, stored: StoredAttempt) -> bool:
        """Return whether memory has what the store has of the session's latest attempt."""
        return (
            self.session is not None
            and not stored.session.ended
            and (stored.session.attempt, stored.id) == (self.id, self.id)
            and stored.count == self.session.episode.count
            and stored.over <= self.over
        )

    def told(self, session: Session, counts: bool) -> dict[str, Json]:
        """Return the state of the episode: only coordinates and steps."""
        instance = session.instance
        return {
            "open": True,
            "suite": f"{instance.family}/{instance.suite}",
            "index": instance.index,
            **({"block": instance.block} if instance.block else {}),
            "instance": f"{instance.family}/{instance.id}",
            "template": session.template,
            "step": session.episode.count,
            "done": self.over,
            "attempt": self.attempt,
            "counts": counts,
        }
