"""A text as words with their places, the same before and after a change of layout."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_JOINT = r"(?:[-‐‑\u00ad][ \t]*\n\s*|[-‐‑\u00ad])"
_WORD = re.compile(rf"[^\W\d_]+(?:{_JOINT}[^\W\d_]+)*|\d+")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_JOINTS = re.compile(r"[-‐‑\u00ad\s]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or the digits in one, and where it stands."""

    form: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    r"""Return the words of a text without case, hyphens, ligatures and signs.

    A word that a line's end divides is one word. Letters and digits are parted, so that a raised
    number behind a word is no part of it.

    >>> [word.form for word in words("Long-\nterm ﬂows of CO₂.12")]
    ['longterm', 'flows', 'of', 'co', '2', '12']
    """
    found = []
    for match in _WORD.finditer(text):
        form = unicodedata.normalize("NFKC", _JOINTS.sub("", match[0])).casefold()
        found += [Word(piece, match.start(), match.end()) for piece in _PIECE.findall(form)]
    return found


def forms(text: str) -> list[str]:
    """Return the words of a text without their places."""
    return [word.form for word in words(text)]
