"""Split a text into tokens: words, numbers, mentions of concepts, citations and other phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from whybench.families.recite.world.knowledge import Field, field_named, scenery

CONCEPT, WHY, NUMBER, UNIT, CITE, CITED, TAG = "§", "¤", "№", "⟨unit⟩", "@", "@@", "⟨tag⟩"
"""Kinds of tokens besides words; others are named after their slots."""

_TOKEN = re.compile(r"−?\d+(?:\.\d+)?|\w[\w’'-]*|\S")
_WORD = re.compile(r"\w[\w’'-]*")
_NUMBER = re.compile(r"−?\d")
_TAG = re.compile(r"[HR]\d+\b")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text."""

    kind: str
    """A word in lower case, or a kind."""
    text: str
    start: int
    end: int
    value: str = ""
    """The name of a concept."""


def tokens_of(literal: str) -> tuple[str, ...]:
    """Return the kinds of tokens of a literal part of the grammar."""
    return tuple(_kind(text) for text in _TOKEN.findall(literal))


def _kind(text: str) -> str:
    return NUMBER if _NUMBER.match(text) else text.lower()


class Scanner:
    """Finds the tokens of texts in one field."""

    def __init__(self, field: Field) -> None:
        self._units = sorted({c.said_unit for c in field.concepts}, key=len, reverse=True)
        self._phrases: dict[str, list[tuple[str, str, str]]] = {}
        for phrase, kind, value in sorted(_phrases(field), key=lambda row: -len(row[0])):
            self._phrases.setdefault(_key(phrase, 0), []).append((phrase, kind, value))
        names = "|".join(scenery("author", field.name))
        team = rf"(?:{names})(?: and (?:{names})| et al\.)"
        self._cite = re.compile(rf"{team} \(\d{{4}}\)|\({team}, \d{{4}}\)")
        self._authors = frozenset(scenery("author", field.name))

    def scan(self, text: str, offset: int = 0) -> list[Token]:
        """Return the tokens of a paragraph; positions are counted from an offset."""
        found: list[Token] = []
        at = 0
        while match := _TOKEN.search(text, at):
            start = match.start()
            token = self._at(text, start, found)
            if token is None:
                token = Token(_kind(match[0]), match[0], start, match.end())
            at = token.end
            if offset:
                token = Token(
                    token.kind, token.text, token.start + offset, token.end + offset, token.value
                )
            found.append(token)
        return found

    def _at(self, text: str, start: int, before: list[Token]) -> Token | None:
        """Return the longest phrase at a position."""
        if before and before[-1].kind == NUMBER and text[start - 1] == " ":
            for unit in self._units:
                if text.startswith(unit, start) and not text[start + len(unit) :][:1].isalnum():
                    return Token(UNIT, unit, start, start + len(unit))
        if text[start] == "(" or text[start].isupper():
            cite = self._cite.match(text, start)
            tag = _TAG.match(text, start)
            if tag:
                return Token(TAG, tag[0], start, tag.end())
            if cite:
                kind = CITED if cite[0][0] == "(" else CITE
                return Token(kind, cite[0], start, cite.end())
        for phrase, kind, value in self._phrases.get(_key(text, start), ()):
            end = start + len(phrase)
            same = (
                text.startswith(phrase[1:], start + 1) and text[start].lower() == phrase[0].lower()
            )
            if kind == "⟨label⟩" and not text.startswith(" factors", end):
                continue
            if same and not (text[end : end + 1].isalnum() or text[end : end + 1] == "-"):
                return Token(kind, text[start:end], start, end, value)
        return None

    def hits(self, text: str) -> int:
        """Return how many concepts a text mentions."""
        return sum(token.kind == CONCEPT for token in self.scan(text))


def _key(text: str, start: int) -> str:
    """Return the first word at a position; the first two if the first is an article."""
    first = _WORD.match(text, start)
    if first is None:
        return text[start : start + 1]
    word = first[0].lower()
    if word not in ("the", "how", "a"):
        return word
    second = _WORD.match(text, first.end() + 1)
    return f"{word} {second[0].lower()}" if second else word


def _phrases(field: Field) -> Iterable[tuple[str, str, str]]:
    for concept in field.concepts:
        forms = [concept.full, concept.reference, concept.described]
        if concept.short != "-":
            forms += [concept.short, f"{concept.full} ({concept.short})"]
        for form in forms:
            yield form, CONCEPT, concept.name
    for pair in field.pairs.values():
        if pair.mechanism != "-":
            yield pair.mechanism, WHY, ""
    for kind in ("place", "other", "units", "periods"):
        for phrase in scenery(kind, field.name):
            yield phrase, f"⟨{kind}⟩", ""
    for cluster in {concept.cluster for concept in field.concepts}:
        article = "the " if cluster in scenery("the", field.name) else ""
        yield article + cluster, "⟨topic⟩", ""
    for label in scenery("label", field.name):
        yield label, "⟨label⟩", label


@cache
def scanner(field_name: str) -> Scanner:
    """Return the scanner of a field."""
    return Scanner(field_named(field_name))


SLOTS: Mapping[str, tuple[str, ...]] = {
    "why": (WHY,),
    "unit_a": (UNIT,),
    "unit_b": (UNIT,),
    "cite": (CITE,),
    "cited": (CITED,),
    "delay": ("days", "weeks", "months", "years", "⟨periods⟩", UNIT),
    "k": ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "n": ("two", "three", "four", "five", "six", "seven", "eight", "nine"),
    **{name: (f"⟨{name}⟩",) for name in ("place", "other", "units", "label", "topic")},
    "periods": ("⟨periods⟩", UNIT),
}
"""Slot → the kinds of tokens that fill it; other slots hold concepts or numbers."""
