"""Long texts in pieces, cut where a sentence ends with its line if there is such a place."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"[.!?:][\"')\]”’]*[ \t]*\n+")
_LINE_END = re.compile(r"\n+")
_BLANK = re.compile(r"\s+")


def chunks(text: str, longest: int) -> tuple[str, ...]:
    r"""Cut a text; the pieces joined are the text, and none is longer than asked.

    >>> chunks("One is.\nTwo is\nlong.\nThree.", 22)
    ('One is.\nTwo is\nlong.\n', 'Three.')
    """
    if longest < 1:
        raise ValueError(f"pieces of {longest} characters are none: give at least 1")
    found, at = [], 0
    while len(text) - at > longest:
        end = _cut(text, at, at + longest)
        found.append(text[at:end])
        at = end
    return (*found, text[at:])


def ends_sentence(piece: str) -> bool:
    """Tell whether a piece was cut behind a sentence."""
    return _SENTENCE_END.search(piece.rstrip()[-4:] + "\n") is not None


def _cut(text: str, start: int, limit: int) -> int:
    """Return the last good place in the second half of a piece, else the end of the piece."""
    middle = (start + limit) // 2
    for pattern in (_SENTENCE_END, _LINE_END, _BLANK):
        ends = [m.end() for m in pattern.finditer(text, middle, limit)]
        if ends:
            return ends[-1]
    return limit
