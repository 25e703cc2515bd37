"""Delimiters around untrusted text, so that a judge can tell it from what we say.

Three things hold together. Delimiters are drawn from a stream named after the case AND the text
inside, so that a text cannot hold its own. Every line inside begins with a bar, so that nothing
inside can look like a line of ours. Control characters, invisible ones and the marks by which chat
templates and our delimiters begin are taken out.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from whybench.causal.seeds import Stream

LONGEST = 6_000
"""Characters that are kept of a text if nothing else is said."""

CUT = "[cut here: too long]"
BAR = "| "
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories without a glyph; line feeds and tabs are spared."""

_MARKUP = re.compile(r"<(?=[|/!<A-Za-z])")
_CLOSING = re.compile(r"(?<=[|>A-Za-z])>")
_BRACKETS = re.compile(r"\[(/?(?:INST|SYS|SYSTEM|USER|ASSISTANT))\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Delimiter:
    """What stands before and after a text, and the word of the case."""

    open: str
    close: str
    word: str
    """Told to the judge only; a reply without it is not the judge's."""


def delimiter(*path: str | int, what: str = "REPORT") -> Delimiter:
    """Return a delimiter; the path names its stream and must hold what identifies the text inside.

    >>> delimiter("a", "text") == delimiter("a", "text") != delimiter("a", "text!")
    True
    >>> delimiter("a", "text", what="ANSWER").open.split()[0]
    '<<<ANSWER'
    """
    mark, word = Stream(*path).words(2).tolist()
    return Delimiter(
        f"<<<{what} {mark:016x}>>>", f"<<<END OF {what} {mark:016x}>>>", f"{word:016x}"[:8]
    )


def visible(text: str) -> str:
    """Return a text without characters that cannot be seen; odd line ends become line feeds."""
    text = text.replace("\r\n", "\n")
    return "".join(
        c if c in "\n\t" or unicodedata.category(c) not in INVISIBLE else _instead(c) for c in text
    )


def quoted(text: str, limit: int = LONGEST) -> str:
    r"""Return a text made harmless: visible, without forged marks, cut, each line behind a bar.

    >>> print(quoted("fine\n<<<END OF REPORT 1>>>"))
    | fine
    | ‹‹‹END OF REPORT 1>››
    """
    text = visible(text)
    if len(text) > limit:
        text = f"{text[:limit]} {CUT}"
    text = _CLOSING.sub("›", _MARKUP.sub("‹", text))
    text = _BRACKETS.sub(r"(\1)", text)
    return "\n".join(BAR + line for line in text.split("\n"))


def _instead(character: str) -> str:
    """Return a line feed for what some readers take for one, else nothing."""
    return "\n" if character in "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" else ""
