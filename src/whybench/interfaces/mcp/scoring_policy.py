"""How a server keeps score, and what it holds in memory of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whybench.causal.canonical import Json
from whybench.interfaces.mcp.limits import Bucket
from whybench.interfaces.session import Session

Attempts = Literal["owner", "session"]
"""Within what attempts on an instance are numbered."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a server keeps score."""

    blind: bool = False
    """Whether scores are withheld and claimed later with a receipt."""
    attempts: Attempts = "owner"
    run: str = ""
    """The operator's name for what is being run: attempts of different runs are numbered apart."""


@dataclass(slots=True)
class Live:
    """A session in memory."""

    key: str
    owner: str
    spoke: float
    bucket: Bucket
    session: Session | None = None
    id: int = 0
    """Of the attempt, in the store."""
    attempt: int = 0
    """The number of the attempt, as it is told."""
    over: bool = False
    volume: int = 0
    """Bytes of the attempt's actions."""
    receipt: str = ""
    score: dict[str, Json] | None = None
    """Of an attempt that is over, once it was asked for."""
    restored: bool = False
    """Whether this is what the store holds; until then only the fields above `session` are."""

    def told(self, session: Session, counts: bool) -> dict[str, Json]:
        """Return where its episode stands: coordinates and steps alone."""
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
