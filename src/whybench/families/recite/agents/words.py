"""A document as guessers see it: its words, with the names of quantities found."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

from whybench.families.recite.world.knowledge import FIELDS, Concept, field_named
from whybench.families.recite.world.world import View

SAMPLED = 4_000
"""Characters from which the field of a text is guessed."""
FARTHEST = 40
"""Most words between two names that are looked at together."""
NAME, NUMBER, STOP, TAG = "{c}", "0", ".", "{t}"
_HEADING = re.compile(r"^#.*$", re.M)
_WORD = re.compile(r"[-−]?\d+(?:[.,]\d+)*|[^\W\d_]\w*(?:['’-]\w+)*|[.,;:()|=<]|\n")
_TAG = re.compile(r"[HR]\d+")
_ABBREVIATION = re.compile(r"\b(?:et al|e\.g|i\.e|cf|vs|Fig|Eq|resp)\.")

Arrow = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Read:
    """A document: words, with the names of quantities found."""

    words: tuple[str, ...]
    """In small letters; a name is `{c}`, a number `0`, a label such as H3 `{t}`, a stop `.`."""
    at: tuple[int, ...]
    """Where the names are."""
    names: tuple[str, ...]
    values: Mapping[int, float]
    """Where the numbers are → their values."""

    @property
    def sentences(self) -> Iterator[list[tuple[int, str]]]:
        """The places and names of each sentence that has any."""
        found: dict[int, list[tuple[int, str]]] = defaultdict(list)
        sentence, place = 0, 0
        for at, name in zip(self.at, self.names, strict=True):
            sentence += self.words[place:at].count(STOP)
            place = at
            found[sentence].append((at, name))
        return iter(found.values())

    @property
    def pairs(self) -> Iterator[tuple[Arrow, tuple[int, int]]]:
        """Pairs of different names that are near each other, in the order of the text."""
        for first, (one, name) in enumerate(zip(self.at, self.names, strict=True)):
            for two, other in zip(self.at[first + 1 :], self.names[first + 1 :], strict=True):
                if two - one > FARTHEST:
                    break
                if name != other:
                    yield (name, other), (one, two)


def read(view: View) -> Read:
    """Find the names of quantities in a text; if names are given, only those."""
    return _read(view.text, view.nodes)


@lru_cache(maxsize=2048)
def _read(text: str, known: tuple[str, ...]) -> Read:
    return _found(_words(_plain(text)), _field(text), frozenset(known))


def _plain(text: str) -> str:
    """Return a text without headings and without stops that end no sentence."""
    return _HEADING.sub("", _ABBREVIATION.sub(lambda m: m[0][:-1], text))


@lru_cache(maxsize=2048)
def _field(text: str) -> str:
    """Return the field whose names a text has most."""
    words = _words(_plain(text)[:SAMPLED])
    return max(FIELDS, key=lambda field: len(_found(words, field, frozenset()).at))


def named_in(text: str, view: View) -> list[str]:
    """Return the names in a part of a document, each once."""
    found = _found(_words(text), _field(view.text), frozenset(view.nodes))
    return list(dict.fromkeys(found.names))


def named_together(view: View) -> list[tuple[str, ...]]:
    """Return the names that each sentence of a document has, each once."""
    return [tuple(dict.fromkeys(name for _, name in found)) for found in read(view).sentences]


@cache
def _forms(field: str) -> tuple[Mapping[tuple[str, ...], str], Sequence[int]]:
    """Return the words for the quantities of a field, and their lengths, longest first."""
    found = {
        _words(form): one.name for one in field_named(field).concepts for form in forms_of(one)
    }
    return found, sorted({len(form) for form in found}, reverse=True)


def forms_of(concept: Concept) -> list[str]:
    """Return all that a concept is called, without articles."""
    called = (concept.name, concept.short, concept.reference, concept.described)
    return [form.removeprefix("the ") for form in called if form not in ("", "-")]


def _found(words: Sequence[str], field: str, known: frozenset[str]) -> Read:
    forms, sizes = _forms(field)
    shown: list[str] = []
    at: list[int] = []
    names: list[str] = []
    values: dict[int, float] = {}
    place = 0
    while place < len(words):
        for size in sizes:
            name = forms.get(tuple(words[place : place + size]))
            if name is not None and (not known or name in known):
                at.append(len(shown))
                names.append(name)
                shown.append(NAME)
                place += size
                break
        else:
            word = words[place]
            if word[-1].isdigit() and word[0] in "-−0123456789":
                values[len(shown)] = float(word.replace("−", "-").replace(",", ""))
                word = NUMBER
            shown.append(TAG if _TAG.fullmatch(word) else word)
            place += 1
    return Read(tuple(shown), tuple(at), tuple(names), values)


def _words(text: str) -> tuple[str, ...]:
    """Return words and stops; only abbreviations keep their capital letters."""
    found = (match[0] for match in _WORD.finditer(text))
    return tuple(
        STOP if word == "\n" else word if len(word) > 1 and word.isupper() else word.casefold()
        for word in found
    )


def both_ways(names: Sequence[str]) -> Iterator[Arrow]:
    """Yield all arrows between names."""
    for a, b in combinations(dict.fromkeys(names), 2):
        yield a, b
        yield b, a
