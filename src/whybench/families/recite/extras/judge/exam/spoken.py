"""What a generated document says besides its edges: concepts it names, relations it denies.

The document's reader finds them: names by their forms, and relations without support (denied,
withdrawn, conjectured, true elsewhere, correlated).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from whybench.families.recite.agents.words import forms_of
from whybench.families.recite.proof.document_parser import read
from whybench.families.recite.world.knowledge import FIELDS, Concept, Field, field_named
from whybench.families.recite.world.world import World

HEDGED = "hedged"
_WORDS = re.compile(r"[a-z]{4,}")
_STEM = 5
"""Letters by which words are compared: `teacher` and `teachers` are one."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The concepts that a text names, and the relations that it mentions without support."""

    named: frozenset[str]
    """Concepts that occur under their own name."""
    touched: frozenset[str]
    """Concepts that occur in any form, including descriptions."""
    lures: Mapping[tuple[str, str], str]
    """Pairs of concepts in a relation without support → its role; a hedge takes precedence."""


def field_of(world: World) -> Field:
    """Return the tables of a generated document's field."""
    for name in FIELDS:
        field = field_named(name)
        if (field.title,) == world.domains and {n.name for n in world.nodes} <= set(concepts(name)):
            return field
    raise ValueError(
        "The exam needs a generated document, whose synonyms are known. Use an instance of short, "
        "ladder or standard without `data`."
    )


@cache
def concepts(field: str) -> Mapping[str, Concept]:
    """Return a field's concepts by name."""
    return {concept.name: concept for concept in field_named(field).concepts}


@lru_cache(maxsize=64)
def spoken(text: str) -> Spoken:
    """Return what a text says besides its edges."""
    found = read(text)
    low = text.lower()
    lures: dict[tuple[str, str], str] = {}
    for pair in sorted(found.denied):
        lures[pair] = "denied"
    for role, pairs in found.related.items():
        for a, b in pairs:
            for pair in ((a, b), (b, a)) if role == "corr" else ((a, b),):
                lures[pair] = HEDGED if HEDGED in (role, lures.get(pair)) else role
    for pair in found.edges:
        lures.pop(pair, None)
    return Spoken(
        frozenset(name for name in found.forms if name.lower() in low),
        frozenset(found.forms),
        lures,
    )


def stems(*phrases: str) -> frozenset[str]:
    """Return the stems of the content words in phrases.

    >>> sorted(stems("The number of teachers", "Teacher pay gap"))
    ['teach']
    """
    words = {word for phrase in phrases for word in _WORDS.findall(phrase.lower())}
    return frozenset(word[:_STEM] for word in words - _light())


@cache
def called(concept: Concept) -> frozenset[str]:
    """Return the stems of all that a concept is called, its topic included."""
    return stems(*forms_of(concept), concept.cluster)


@cache
def _light() -> frozenset[str]:
    """Return the words that are not content words."""
    return frozenset(json.loads((files(__package__ or "") / "light_words.json").read_text("utf-8")))
