"""A report that speaks to its judge: found by rule and reported, never scored.

The fence keeps such text from working; this tells readers of a log that it was there. It looks at
the text as written and as it reads once disguises are taken off: invisible characters, look-alike
letters, full-width forms, letters set apart, base64.

It knows its patterns and little else: of ten attempts in words it had not been written for it found
one. So a flag is worth reading, and no flag means nothing.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files

from whybench.episode.disguise import decoded, hides, undisguised
from whybench.families.causalgame.judging.packet import Report

LONGEST = 20_000
"""Characters of an answer that are looked at."""

HIDDEN = "hidden_characters"
ENCODED = "encoded_text"


def tampering(report: Report) -> tuple[str, ...]:
    """Return the signs of tampering in a report, none if there are none."""
    found: set[str] = set()
    for _, text in report.answers:
        found |= _signs(text[:LONGEST])
    return tuple(sorted(found))


def _signs(text: str) -> set[str]:
    found = _matched(text)
    if hides(text):
        found.add(HIDDEN)
    for inner in decoded(text):
        if _matched(inner):
            found |= {ENCODED, *_matched(inner)}
    return found


def _matched(text: str) -> set[str]:
    """Return the signs in a text, as it stands or with disguises off."""
    texts = undisguised(text)
    return {name for name, sign in _patterns() if any(sign.search(version) for version in texts)}


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = json.loads((files(__package__ or "") / "tampering.json").read_text("utf-8"))
    return tuple((name, re.compile(sign)) for name, sign in data["signs"].items())
