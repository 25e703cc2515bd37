"""Normalize untrusted text, so that rules see what a model would read.

Handles invisible characters, look-alike letters, full-width forms, spaced letters, accents and
base64. Also holds the signs that such a text addresses its judge.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import unicodedata
from collections.abc import Callable
from importlib.resources import files

from whybench.episode.cleaning import visible

HIDDEN = "hidden_characters"
ENCODED = "encoded_text"

_ALIKE = str.maketrans(
    "авекмнорстухіѕјԁɡӏАВЕКМНОРСТУХІЅЈαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ’‘",
    "abekmhopctyxisjdglABEKMHOPCTYXISJaeiknoptuxABEZHIKMNOPTYX''",
)
_MIXED = re.compile(r"(?<!\w)(?=\w{0,40}?[A-Za-z])(?=\w{0,40}?[\u0370-\u03ff\u0400-\u04ff])\w+")
_SPACED = re.compile(r"\b(?:[A-Za-z][ ._-]){5,}[A-Za-z]\b")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def undisguised(text: str) -> set[str]:
    """Return a text in lower case as displayed, with spaced letters joined, without accents.

    >>> sorted(undisguised("i.g.n.o.r.e it"))
    ['i.g.n.o.r.e it', 'ignore it']
    """
    seen = unicodedata.normalize("NFKC", visible(text))
    plain = _MIXED.sub(lambda word: word[0].translate(_ALIKE), seen)
    joined = _SPACED.sub(lambda run: re.sub(r"[ ._-]", "", run[0]), plain)
    bare = "".join(
        c for c in unicodedata.normalize("NFD", joined) if unicodedata.category(c) != "Mn"
    )
    return {version.lower() for version in (seen, joined, bare)}


def hides(text: str) -> bool:
    """Tell whether a text has characters that only a machine sees: tags, bidi marks, joiners."""
    inside = re.findall(r"(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff\u00ad](?=[A-Za-z])", text)
    return bool(re.search(r"[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069]", text)) or (
        len(inside) >= 3
    )


def decoded(text: str) -> list[str]:
    """Return the texts that a text contains as base64."""
    runs = (_decoded(run) for run in _BASE64.findall(text))
    return [run for run in runs if run]


class Signs:
    """Patterns by name, read from the entry `signs` of a package's JSON file."""

    def __init__(
        self, package: str, file: str, forms: Callable[[str], set[str]] = undisguised
    ) -> None:
        self.data = json.loads((files(package) / file).read_text("utf-8"))
        self._patterns = {name: re.compile(sign) for name, sign in self.data["signs"].items()}
        self._forms = forms

    def has(self, text: str) -> bool:
        """Tell whether a text has a visible sign; the first match is enough."""
        texts = self._forms(text)
        return any(sign.search(form) for sign in self._patterns.values() for form in texts)

    def plain(self, text: str) -> set[str]:
        """Return the signs in a text, as written or normalized."""
        texts = self._forms(text)
        return {n for n, sign in self._patterns.items() if any(map(sign.search, texts))}

    def found(self, text: str, suspicious: Callable[[str], bool]) -> set[str]:
        """Return all signs in a text, including hidden characters and suspicious base64."""
        found = self.plain(text) | ({HIDDEN} if hides(text) else set())
        for inner in filter(suspicious, decoded(text)):
            found |= {ENCODED, *self.plain(inner)}
        return found


def _decoded(run: str) -> str | None:
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
