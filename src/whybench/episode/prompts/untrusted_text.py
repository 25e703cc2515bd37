"""Delimiters around untrusted text, so that a judge can distinguish it from our own text.

Three measures work together:

- Delimiters are drawn from a stream named after the case AND the text inside. So a text cannot
  contain its own delimiters.
- Every line inside begins with a bar. So nothing inside can look like one of our lines.
- Control characters, invisible characters, and the marks with which chat templates and our
  delimiters begin are removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from whybench.causal.seeds import Stream
from whybench.episode.cleaning import visible

LONGEST = 6_000
"""The default number of characters of a text that are kept."""

CUT = "[cut here: too long]"
BAR = "| "

_MARKUP = re.compile(r"<(?=[|/!<A-Za-z])")
_CLOSING = re.compile(r"(?<=[|>A-Za-z])>")
_BRACKETS = re.compile(r"\[(/?(?:INST|SYS|SYSTEM|USER|ASSISTANT))\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Delimiter:
    """The lines before and after a text, and the secret word of the case."""

    open: str
    close: str
    word: str
    """Only the judge knows this word; a reply without it does not come from the judge."""


def delimiter(*path: str | int, what: str = "REPORT") -> Delimiter:
    """Return a delimiter; the path names its stream and must identify the text inside.

    >>> delimiter("a", "text") == delimiter("a", "text") != delimiter("a", "text!")
    True
    >>> delimiter("a", "text", what="ANSWER").open.split()[0]
    '<<<ANSWER'
    """
    mark, word = Stream(*path).words(2).tolist()
    return Delimiter(
        f"<<<{what} {mark:016x}>>>", f"<<<END OF {what} {mark:016x}>>>", f"{word:016x}"[:8]
    )


def quoted(text: str, limit: int = LONGEST) -> str:
    r"""Return a text quoted safely: visible, without forged marks, cut, each line after a bar.

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
