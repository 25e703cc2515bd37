"""How a server keeps score, and what it holds in memory of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    noted: float
    """When the store last heard that the session spoke."""
    bucket: Bucket
    session: Session | None = None
    attempt: int = 0
    over: bool = False
    volume: int = 0
    """Bytes of the attempt's actions."""
    receipt: str = ""
    restored: bool = False
    """Whether this is what the store holds; until then only the fields above `session` are."""
