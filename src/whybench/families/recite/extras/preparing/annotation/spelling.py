"""When two names are two spellings of one, and when they are two names that look alike."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from rapidfuzz.distance import OSA

_DASHES = str.maketrans("‐‑‒–—−’‘“”", "------''\"\"")
_JOINTS = re.compile(r"[\s_]+|(?<=[^\W\d_])-(?=[^\W\d_])")
_WORDS = re.compile(r"[^\W_]+")

SHORT_CAPITALS = 4
"""A word of capitals with at most so many letters is taken for an abbreviation."""


def is_marked(name: str) -> bool:
    """Tell whether a name has angle brackets: diagrams mark shadow variables so."""
    return "<" in name or ">" in name


def plain(name: str) -> str:
    """Return a name in one case, with plain dashes and quotes."""
    return unicodedata.normalize("NFKC", name).translate(_DASHES).casefold()


def squeezed(name: str) -> str:
    """Return a name without case, blanks, underscores, and hyphens between letters.

    >>> squeezed("Carbon-dioxide  level"), squeezed("trust (-)")
    ('carbondioxidelevel', 'trust(-)')
    """
    return _JOINTS.sub("", plain(name))


@dataclass(frozen=True, slots=True)
class Difference:
    """How two names differ."""

    distance: int
    """Letters to add, drop, change or swap with a neighbour, blanks and case apart."""
    words: tuple[str, str] | None
    """The one word in which they differ, in either; None if they do not differ in just one."""
    abbreviation: bool
    """Whether a short word in capitals is spelt otherwise in the other name."""
    digits: bool
    """Whether the numbers in them differ."""

    @property
    def word(self) -> int:
        """Letters of the shorter of the words that differ."""
        return min(map(len, self.words)) if self.words else 0

    @property
    def same_start(self) -> bool:
        """Whether the words that differ begin alike: un-, in-, de-, a- turn a meaning round."""
        return self.words is not None and self.words[0][:1] == self.words[1][:1]

    @property
    def inner(self) -> bool:
        """Whether the words that differ begin with the same two letters and end alike."""
        if self.words is None:
            return False
        one, other = self.words
        return one[:2] == other[:2] and one[-1:] == other[-1:]


def difference(one: str, other: str) -> Difference:
    """Compare two names.

    >>> found = difference("air polution", "Air pollution")
    >>> found.distance, found.words, found.inner, difference("GDP", "GNP").abbreviation
    (1, ('polution', 'pollution'), True, True)
    """
    ours, theirs = _WORDS.findall(plain(one)), _WORDS.findall(plain(other))
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
    alone = len(ours) == len(theirs) and len(pairs) == 1
    return Difference(
        distance=OSA.distance(squeezed(one), squeezed(other)),
        words=pairs[0] if alone else None,
        abbreviation=_abbreviations(one) != _abbreviations(other),
        digits=re.findall(r"\d+", plain(one)) != re.findall(r"\d+", plain(other)),
    )


def _abbreviations(name: str) -> list[str]:
    """Return the short words in capitals of a name, unless all of a longer name is in capitals."""
    found = _WORDS.findall(name)
    if len(found) > 1 and name.isupper():
        return []
    return [word for word in found if word.isupper() and 2 <= len(word) <= SHORT_CAPITALS]
