"""Variables of a field of knowledge, and the words for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FIELDS = (
    "cities",
    "economy",
    "energy",
    "farming",
    "health",
    "industry",
    "schools",
    "water",
)


@dataclass(frozen=True, slots=True)
class Concept:
    """A variable that a document may be about. All forms but the name are singular phrases."""

    name: str
    """As in a diagram."""
    said: tuple[str, ...]
    """Forms for running text: the name, and synonyms."""
    hinted: tuple[str, ...]
    """Indirect descriptions that share no content word with the name."""
    kind: str
    """Completes "a matter of …"."""
    broader: str
    narrower: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field of knowledge."""

    name: str
    title: str
    concepts: tuple[Concept, ...]


@cache
def field_named(name: str) -> Field:
    """Return a field's vocabulary."""
    data = json.loads((files(__package__ or "") / "fields" / f"{name}.json").read_text("utf-8"))
    concepts = tuple(
        Concept(label, tuple(said), tuple(hinted), kind, broader, narrower)
        for label, said, hinted, kind, broader, narrower in data["concepts"]
    )
    return Field(data["field"], data["title"], concepts)
