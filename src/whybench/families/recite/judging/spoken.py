"""What a made document says besides its edges: which concepts it names, and relations it denies.

The generator does not keep these, so they are read back from the text: names by their forms, and
relations that are no support (denied, conjectured, true elsewhere, mere correlation) by the frames
that they were written with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from whybench.families.recite.distract import ROLES
from whybench.families.recite.frames import SLOT, Frame, frames
from whybench.families.recite.vocabulary import FIELDS, Concept, Field, field_named
from whybench.families.recite.world import World

HEDGED = "hedged"
_WORDS = re.compile(r"[a-z]{4,}")
_STEM = 5
"""Letters by which words are compared: `teacher` and `teachers` are one."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a text names, and what it says without saying that one thing causes another."""

    named: frozenset[str]
    """Concepts that occur under their own name or a synonym."""
    touched: frozenset[str]
    """Concepts that occur in any form, circumlocutions included."""
    lures: Mapping[tuple[str, str], str]
    """Pairs of concepts in a relation that is no support → its role; a hedge wins."""


def field_of(world: World) -> Field:
    """Return the vocabulary that a made document was written with."""
    for name in FIELDS:
        field = field_named(name)
        if (field.title,) == world.domains and {n.name for n in world.nodes} <= set(
            concepts(field)
        ):
            return field
    raise ValueError(
        "the exam needs a made document, whose synonyms and levels are known: take an instance of "
        "made_short, made_long or made_ladder"
    )


@cache
def concepts(field: Field) -> Mapping[str, Concept]:
    """Return a field's concepts by name."""
    return {concept.name: concept for concept in field.concepts}


@lru_cache(maxsize=64)
def spoken(field: Field, text: str) -> Spoken:
    """Read a text back.

    Args:
        field: The vocabulary that it was written with.
        text: The document.

    """
    known = _forms(field)
    order = list(concepts(field))
    place = {name: number for number, name in enumerate(order)}
    marked = _pattern(field).sub(lambda found: f"<{place[known[found[0]][0]]}>", text.lower())
    said = {known[found] for found in set(_pattern(field).findall(text.lower()))}
    return Spoken(
        frozenset(name for name, by_name in said if by_name),
        frozenset(name for name, _ in said),
        _lures(marked, order),
    )


def _lures(marked: str, order: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the relations without support in a text whose concepts are marked by their place."""
    found: dict[tuple[str, str], str] = {}
    written = [f for role in ROLES for f in frames()[role] if _longest_piece(f) in marked]
    for frame in written:
        for ends in _frame_pattern(frame).finditer(marked):
            first, second = (order[int(ends[slot])] for slot in _ends(frame))
            both_ways = _ends(frame) == ("a", "b")
            for pair in [(first, second), (second, first)][: 1 + both_ways]:
                found[pair] = HEDGED if found.get(pair) == HEDGED else frame.role
    return found


def stems(*phrases: str) -> frozenset[str]:
    """Return the beginnings of the words of weight in phrases.

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
    """Return words that say little."""
    return frozenset(json.loads((files(__package__ or "") / "light_words.json").read_text("utf-8")))


@cache
def _forms(field: Field) -> Mapping[str, tuple[str, bool]]:
    """Return each form in lower case → its concept, and whether it is the name or a synonym."""
    hinted = {form.lower(): (c.name, False) for c in field.concepts for form in c.hinted}
    return hinted | {form.lower(): (c.name, True) for c in field.concepts for form in c.said}


@cache
def _pattern(field: Field) -> re.Pattern[str]:
    longest_first = sorted(_forms(field), key=lambda form: (-len(form), form))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def _ends(frame: Frame) -> tuple[str, str]:
    return ("a", "b") if "a" in frame.slots else ("cause", "effect")


@cache
def _longest_piece(frame: Frame) -> str:
    """Return the longest piece of a frame between slots, to see quickly that it is not there."""
    return max(SLOT.sub("\n", frame.text).lower().split("\n"), key=len)


@cache
def _frame_pattern(frame: Frame) -> re.Pattern[str]:
    """Return a pattern of a frame in a text whose concepts are marked."""
    pieces = []
    seen: set[str] = set()
    at = 0
    for slot in SLOT.finditer(frame.text):
        pieces.append(re.escape(frame.text[at : slot.start()].lower()))
        name = slot[1]
        if name not in _ends(frame):
            pieces.append(r"[^<>\n]{1,80}?")
        else:
            pieces.append(rf"<(?P<{name}>\d+)>" if name not in seen else r"<\d+>")
        seen.add(name)
        at = slot.end()
    pieces.append(re.escape(frame.text[at:].lower()))
    return re.compile("".join(pieces))
