"""Sentence frames, from which documents are written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from whybench.causal.canonical import digest

Sign = Literal["+", "-", "0"]
"""The sign that a frame states: more gives more, more gives less, or none."""

FILES = (
    "stated", "several", "implied", "through", "groups", "except", "counterfactual", "unnamed",
    "correlated", "denied", "hedged", "elsewhere", "mention", "plain",
)  # fmt: skip

HELD_OUT = 5
"""In each role, one frame in this number never occurs in `made_short`."""

MOST_USES = 3
"""How often a frame may occur in one document."""

SLOT = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True)
class Frame:
    """One or more sentences with slots."""

    id: str
    role: str
    """What it is for; the id's first part."""
    sign: Sign
    text: str
    held_out: bool

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots in order of appearance."""
        return tuple(SLOT.findall(self.text))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences, each with its full stop."""
        return tuple(re.split(r"(?<=\.) ", self.text))


@cache
def frames() -> Mapping[str, tuple[Frame, ...]]:
    """Return all frames by role."""
    found: dict[str, list[tuple[str, Sign, str]]] = {}
    for name in FILES:
        for key, sign, text in _data(name)["frames"]:
            found.setdefault(key.rpartition("-")[0], []).append((key, sign, text))
    return {role: _marked(role, rows) for role, rows in found.items()}


@cache
def furniture() -> Mapping[str, Any]:
    """Return titles, headings, openers, labels, places, bodies and other systems."""
    found: Mapping[str, Any] = _data("furniture")
    return found


def _marked(role: str, rows: list[tuple[str, Sign, str]]) -> tuple[Frame, ...]:
    """Hold out a fifth of a role's frames of each sign, by their hashes."""
    held: set[str] = set()
    for sign in ("+", "-", "0"):
        keys = sorted((digest(["recite", "held out", k]), k) for k, s, _ in rows if s == sign)
        held |= {key for _, key in keys[: round(len(keys) / HELD_OUT)]}
    return tuple(Frame(key, role, sign, text, key in held) for key, sign, text in rows)


def _data(name: str) -> Any:
    return json.loads((files(__package__ or "") / "frames" / f"{name}.json").read_text("utf-8"))
