"""The grammar of generated documents: productions with slots, agreement, tense and polarity.

A production is a text with four kinds of parts: words, slots such as `{a}`, inflected words such
as `<push.pres.y.a>` (class, form, polarity, and the slot with which it agrees), and alternatives
such as `[directly|clearly|]`. A prime marks a slot that mentions the same concept again, an
exclamation mark a slot that begins the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from whybench.families.recite.world.knowledge import rows

FILES = ("causal", "other", "plain")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a concept, a number, a citation or another phrase."""

    name: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """An inflected word; its polarity is a variable, or `-` for none."""

    kind: str
    form: str
    polarity: str = "-"
    agrees: str = "s"


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternatives, each a sequence of parts."""

    options: tuple[tuple[Part, ...], ...]


Part = str | Slot | Word | Choice


@dataclass(frozen=True, slots=True)
class Production:
    """A sentence of the grammar."""

    id: str
    role: str
    """What the sentence does."""
    held_out: bool
    """Whether documents for training lack it."""
    parts: tuple[Part, ...]


_PIECE = re.compile(r"\{[^}]*\}|<[^>]*>|[\[\]|]|[^\[\]|{}<]+")


@cache
def productions() -> Mapping[str, tuple[Production, ...]]:
    """Return all productions by role."""
    found: dict[str, list[Production]] = {}
    for file in FILES:
        for row in rows(f"grammar/{file}.tsv"):
            own = found.setdefault(row["role"], [])
            name = f"{row['role']}-{len(own) + 1:02d}"
            own.append(Production(name, row["role"], row["held"] == "h", parsed(row["text"])))
    return {role: tuple(own) for role, own in found.items()}


def parsed(text: str) -> tuple[Part, ...]:
    """Return the parts of a production's text."""
    return _sequence(iter(_PIECE.findall(text)))[0]


def _sequence(pieces: Iterator[str]) -> tuple[tuple[Part, ...], str]:
    """Read parts up to the end of an alternative; return them and what ended it."""
    parts: list[Part] = []
    for piece in pieces:
        if piece in ("|", "]"):
            return tuple(parts), piece
        if piece == "[":
            options, end = [], "|"
            while end == "|":
                option, end = _sequence(pieces)
                options.append(option)
            parts.append(Choice(tuple(options)))
        elif piece[0] == "{":
            parts.append(Slot(piece[1:-1].strip("'!"), "'" in piece))
        elif piece[0] == "<":
            parts.append(Word(*piece[1:-1].split(".")))
        else:
            parts.append(piece)
    return tuple(parts), ""


@dataclass(frozen=True, slots=True)
class Lemma:
    """A word with its forms: form and number → text."""

    polarity: int
    forms: Mapping[tuple[str, str], str]


@cache
def words() -> Mapping[str, tuple[Lemma, ...]]:
    """Return the inflected words by class."""
    found: dict[str, list[Lemma]] = {}
    for row in rows("grammar/words.tsv"):
        polarity = {"+": 1, "-": -1, "0": 0}[row["polarity"]]
        found.setdefault(row["class"], []).append(Lemma(polarity, _forms(row["forms"].split("|"))))
    return {kind: tuple(own) for kind, own in found.items()}


def _forms(given: list[str]) -> dict[tuple[str, str], str]:
    if len(given) == 1:
        return {("-", number): given[0] for number in "sp"}
    base, present, past, participle, gerund = (form.split("/") for form in given)
    plural = present[1] if len(present) > 1 else base[0]
    fixed = {"inf": base[0], "part": participle[0], "ing": gerund[0]}
    return {
        ("pres", "s"): present[0],
        ("pres", "p"): plural,
        ("past", "s"): past[0],
        ("past", "p"): past[-1],
        ("perf", "s"): f"has {participle[0]}",
        ("perf", "p"): f"have {participle[0]}",
        **{(form, number): text for form, text in fixed.items() for number in "sp"},
    }


def variables(parts: tuple[Part, ...]) -> set[str]:
    """Return the polarity variables of parts."""
    found: set[str] = set()
    for part in parts:
        if isinstance(part, Word) and part.polarity != "-":
            found.add(part.polarity)
        elif isinstance(part, Choice):
            found = found.union(*(variables(option) for option in part.options))
    return found


def needs(parts: tuple[Part, ...]) -> set[str]:
    """Return the slots that every sentence of these parts has."""
    found: set[str] = set()
    for part in parts:
        if isinstance(part, Slot):
            found.add(part.name)
        elif isinstance(part, Choice):
            found |= set.intersection(*(needs(option) for option in part.options))
    return found
