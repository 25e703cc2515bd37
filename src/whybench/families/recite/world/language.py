"""The language of generated documents: every sentence of every frame, and its slots.

Names are recognised word by word, longest first. The rest of a sentence is looked up among the
frames. A test checks that every sentence has exactly one reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from whybench.families.recite.world.frames import SLOT, Frame, frames, furniture
from whybench.families.recite.world.vocabulary import Field, field_named
from whybench.families.recite.world.wording import KIND

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\s\w]|_")
_SENTENCE = re.compile(r"(?<=\.) ")
_LISTED = re.compile(r"\{c\}(?: , \{c\})* and \{c\}")
_SCENERY = {"place": "places", "body": "bodies", "elsewhere": "elsewhere", "label": "labels"}
_PLAIN = frozenset({*_SCENERY, "kind", "year"})
_PLURAL = frozenset({"causes", "effects", "members"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """A sentence of a frame, and its slots in order."""

    frame: Frame
    number: int
    slots: tuple[str, ...]


class Language:
    """All sentences that are possible in a field."""

    def __init__(self, known: Field) -> None:
        self.concept_of: dict[str, str] = {}
        self._phrases: dict[tuple[str, ...], tuple[str, str]] = {}
        for name, listed in _SCENERY.items():
            for phrase in furniture()[listed]:
                self._phrases[_words(phrase)] = (name, phrase)
        for concept in known.concepts:
            self._phrases[_words(KIND.format(kind=concept.kind))] = ("kind", concept.kind)
            for form in (*concept.said, *concept.hinted):
                self._phrases[_words(form)] = ("c", form)
                self.concept_of[form] = concept.name
        lengths: dict[str, set[int]] = {}
        for words in self._phrases:
            lengths.setdefault(words[0], set()).add(len(words))
        self._lengths = {word: sorted(found, reverse=True) for word, found in lengths.items()}
        self._openers = sorted(map(_words, furniture()["openers"]), key=len, reverse=True)

    def read(self, sentence: str) -> tuple[Meaning, dict[str, list[str]]] | None:
        """Return the meaning of a sentence and the fills of its slots; None if it is unknown."""
        words = _words(sentence)
        for opener in ((), *self._openers):
            if words[: len(opener)] == opener:
                key, fills = self._masked(words[len(opener) :])
                if key in _meanings():
                    meaning = _meanings()[key]
                    return meaning, _handed(meaning.slots, fills)
        return None

    def named(self, sentence: str) -> tuple[str, ...]:
        """Return the concepts that a sentence names."""
        return tuple(dict.fromkeys(self.concept_of[form] for form in self.forms(sentence)))

    def forms(self, sentence: str) -> list[str]:
        """Return the forms of concepts that occur in a sentence."""
        _, fills = self._masked(_words(sentence))
        return [phrase for phrase in fills if phrase in self.concept_of]

    def _masked(self, words: tuple[str, ...]) -> tuple[str, list[str]]:
        """Return a sentence with its names masked, and the names."""
        shown: list[str] = []
        fills: list[str] = []
        at = 0
        while at < len(words):
            for length in self._lengths.get(words[at], ()):
                found = self._phrases.get(words[at : at + length])
                if found is not None:
                    shown.append(f"{{{found[0]}}}")
                    fills.append(found[1])
                    at += length
                    break
            else:
                year = words[at].isdigit()
                shown.append("{year}" if year else words[at])
                fills += [words[at]] if year else []
                at += 1
        return _listed(" ".join(shown)), fills


@cache
def language(name: str) -> Language:
    """Return the language of a field."""
    return Language(field_named(name))


def sentences(text: str) -> Iterable[str]:
    """Yield the sentences of a document without its headings."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield from _SENTENCE.split(line)


def pattern(sentence: str) -> tuple[str, tuple[str, ...]]:
    """Return how a frame's sentence looks with its slots masked, and the slots in order."""
    shown: list[str] = []
    slots: list[str] = []
    at = 0
    for slot in SLOT.finditer(sentence):
        shown += _words(sentence[at : slot.start()])
        shown.append(f"{{{slot[1]}}}" if slot[1] in _PLAIN else "{c}")
        slots.append(slot[1])
        at = slot.end()
    shown += _words(sentence[at:])
    return _listed(" ".join(shown)), tuple(slots)


@cache
def _meanings() -> dict[str, Meaning]:
    found: dict[str, Meaning] = {}
    for frame in (frame for role in frames().values() for frame in role):
        for number, sentence in enumerate(frame.sentences):
            key, slots = pattern(sentence)
            found[key] = Meaning(frame, number, slots)
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _listed(shown: str) -> str:
    """Treat a list of names as one name, so that its length does not matter."""
    return _LISTED.sub("{c}", shown)


def _handed(slots: Sequence[str], fills: Sequence[str]) -> dict[str, list[str]]:
    """Assign fills to slots in order; a plural slot takes what the others leave."""
    spare = len(fills) - len(slots)
    found: dict[str, list[str]] = {}
    at = 0
    for slot in slots:
        size = 1 + spare if slot in _PLURAL else 1
        found.setdefault(slot, []).extend(fills[at : at + size])
        at += size
    return found
