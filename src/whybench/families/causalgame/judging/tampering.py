"""A report that speaks to its judge: found by rule and reported, never scored.

The fence keeps such text from working; this tells readers of a log that it was there. It looks at
the text as written and as it reads once disguises are taken off: invisible characters, look-alike
letters, full-width forms, letters set apart, base64.

It knows its patterns and little else: of ten attempts in words it had not been written for it found
one. So a flag is worth reading, and no flag means nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from functools import cache
from importlib.resources import files

from whybench.families.causalgame.judging.fence import visible
from whybench.families.causalgame.judging.packet import Report

LONGEST = 20_000
"""Characters of an answer that are looked at."""

HIDDEN = "hidden_characters"
ENCODED = "encoded_text"

_ALIKE = str.maketrans(
    "авекмнорстухіѕјԁɡӏАВЕКМНОРСТУХІЅЈαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ’‘",
    "abekmhopctyxisjdglABEKMHOPCTYXISJaeiknoptuxABEZHIKMNOPTYX''",
)
_MIXED = re.compile(r"(?<!\w)(?=\w{0,40}?[A-Za-z])(?=\w{0,40}?[\u0370-\u03ff\u0400-\u04ff])\w+")
_SPACED = re.compile(r"\b(?:[A-Za-z][ ._-]){5,}[A-Za-z]\b")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def tampering(report: Report) -> tuple[str, ...]:
    """Return the signs of tampering in a report, none if there are none."""
    found: set[str] = set()
    for _, text in report.answers:
        found |= _signs(text[:LONGEST])
    return tuple(sorted(found))


def _signs(text: str) -> set[str]:
    found = _matched(text)
    if _hides(text):
        found.add(HIDDEN)
    for run in _BASE64.findall(text):
        decoded = _decoded(run)
        if decoded and _matched(decoded):
            found |= {ENCODED, *_matched(decoded)}
    return found


def _matched(text: str) -> set[str]:
    """Return the signs in a text, as it stands or with disguises off."""
    seen = unicodedata.normalize("NFKC", visible(text))
    plain = _MIXED.sub(lambda word: word[0].translate(_ALIKE), seen)
    joined = _SPACED.sub(lambda run: re.sub(r"[ ._-]", "", run[0]), plain)
    bare = "".join(
        c for c in unicodedata.normalize("NFD", joined) if unicodedata.category(c) != "Mn"
    )
    texts = {version.lower() for version in (seen, joined, bare)}
    return {name for name, sign in _patterns() if any(sign.search(version) for version in texts)}


def _hides(text: str) -> bool:
    """Tell whether characters stand there that only a machine sees: tags, bidi marks, joints."""
    inside = re.findall(r"(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff\u00ad](?=[A-Za-z])", text)
    return bool(re.search(r"[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]", text)) or (
        len(inside) >= 3
    )


def _decoded(run: str) -> str | None:
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = json.loads((files(__package__ or "") / "tampering.json").read_text("utf-8"))
    return tuple((name, re.compile(sign)) for name, sign in data["signs"].items())
