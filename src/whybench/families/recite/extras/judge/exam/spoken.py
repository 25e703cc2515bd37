"""What a generated document says besides its edges: concepts it names, relations it denies.

The generator does not keep these, so they are parsed with the exact reader's language: names by
their forms, and relations without support (denied, conjectured, true elsewhere, correlated).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from whybench.families.recite.proof.document_parser import read_as
from whybench.families.recite.world.distract import ROLES
from whybench.families.recite.world.language import language
from whybench.families.recite.world.vocabulary import FIELDS, Concept, Field, field_named
from whybench.families.recite.world.world import World

HEDGED = "hedged"
_WORDS = re.compile(r"[a-z]{4,}")
_STEM = 5
"""Letters by which words are compared: `teacher` and `teachers` are one."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The concepts that a text names, and the relations that it mentions without support."""

    named: frozenset[str]
    """Concepts that occur under their own name or a synonym."""
    touched: frozenset[str]
    """Concepts that occur in any form, including indirect descriptions."""
    lures: Mapping[tuple[str, str], str]
    """Pairs of concepts in a relation without support → its role; a hedge takes precedence."""


def field_of(world: World) -> Field:
    """Return the vocabulary of a generated document."""
    for name in FIELDS:
        field = field_named(name)
        if (field.title,) == world.domains and {n.name for n in world.nodes} <= set(
            concepts(field)
        ):
            return field
    raise ValueError(
        "The exam needs a generated document, whose synonyms and levels are known. Use an instance "
        "of made_short, made_long or made_ladder."
    )


@cache
def concepts(field: Field) -> Mapping[str, Concept]:
    """Return a field's concepts by name."""
    return {concept.name: concept for concept in field.concepts}


@lru_cache(maxsize=64)
def spoken(field: Field, text: str) -> Spoken:
    """Parse a text with its own vocabulary."""
    known = language(field.name)
    forms = {form for line in text.splitlines() for form in known.forms(line)}
    names = {form for concept in field.concepts for form in concept.said}
    lures: dict[tuple[str, str], str] = {}
    related = read_as(text, field.name).related
    for role in ROLES:
        for pair in related.get(role, ()):
            lures[pair] = HEDGED if lures.get(pair) == HEDGED else role
    return Spoken(
        frozenset(known.concept_of[form] for form in forms & names),
        frozenset(known.concept_of[form] for form in forms),
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
def weight_of(concept: Concept) -> frozenset[str]:
    """Return the stems of all that a concept is called, its levels and kind included."""
    forms = (*concept.said, *concept.hinted)
    return stems(concept.name, *forms, concept.broader, concept.narrower, concept.kind)


@cache
def _light() -> frozenset[str]:
    """Return the words that are not content words."""
    return frozenset(json.loads((files(__package__ or "") / "light_words.json").read_text("utf-8")))
