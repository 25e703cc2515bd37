"""Parse sentences by the grammar: recursive descent over tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from whybench.families.recite.proof.scanner import CITE, CONCEPT, NUMBER, SLOTS, TAG, tokens_of
from whybench.families.recite.world.compose import LISTS
from whybench.families.recite.world.grammar import (
    Choice,
    Part,
    Production,
    Slot,
    Word,
    productions,
    words,
)

LISTED = {**dict.fromkeys(LISTS, CONCEPT), "tags": TAG, "cites": CITE}
"""Slots that hold lists, and of what; a list of concepts has at least two."""

Bound = tuple[tuple[str, int], ...]
"""Slots, or polarity variables, with the token or the sign that they hold."""


@dataclass(frozen=True, slots=True)
class Parse:
    """A sentence as a production generates it."""

    production: Production
    slots: Bound
    """Slots with the positions of their tokens."""
    signs: Bound
    """Polarity variables with their values."""


@lru_cache(maxsize=100_000)
def parses(kinds: tuple[str, ...]) -> tuple[Parse, ...]:
    """Return all parses of a sentence, given as the kinds of its tokens; usually one."""
    found = []
    for production in _index().get(kinds[0], ()) if kinds else ():
        for end, slots, signs in _walk(production.parts, 0, kinds, 0, (), ()):
            if end == len(kinds):
                found.append(Parse(production, slots, signs))
    return tuple(dict.fromkeys(found))


def _walk(
    parts: Sequence[Part], k: int, kinds: Sequence[str], at: int, slots: Bound, signs: Bound
) -> Iterator[tuple[int, Bound, Bound]]:
    if k == len(parts):
        yield at, slots, signs
        return
    part = parts[k]
    if isinstance(part, str):
        literal = _literal(part)
        if tuple(kinds[at : at + len(literal)]) == literal:
            yield from _walk(parts, k + 1, kinds, at + len(literal), slots, signs)
    elif isinstance(part, Slot):
        for end, more in _slot(part.name, kinds, at):
            yield from _walk(parts, k + 1, kinds, end, slots + more, signs)
    elif isinstance(part, Word):
        held = dict(signs).get(part.polarity)
        for literal, sign in _forms(part.kind, part.form).get(
            kinds[at] if at < len(kinds) else "", ()
        ):
            fits = part.polarity == "-" or held is None or held == sign
            if fits and tuple(kinds[at : at + len(literal)]) == literal:
                new = signs if part.polarity == "-" or held else (*signs, (part.polarity, sign))
                yield from _walk(parts, k + 1, kinds, at + len(literal), slots, new)
    else:
        for option in part.options:
            for end, own, held_signs in _walk(option, 0, kinds, at, slots, signs):
                yield from _walk(parts, k + 1, kinds, end, own, held_signs)


def _slot(name: str, kinds: Sequence[str], at: int) -> Iterator[tuple[int, Bound]]:
    kind = kinds[at] if at < len(kinds) else ""
    if name in LISTED:
        end, own = at, LISTED[name]
        held: Bound = ()
        while end < len(kinds) and kinds[end] == own:
            held = (*held, (name, end))
            if kinds[end + 1 : end + 3] not in ((",", own), ("and", own)):
                break
            end += 2
        if len(held) > (own == CONCEPT):
            yield end + 1, held
    elif name == "cluster":
        if kind == "⟨topic⟩":
            yield at + 1, ()
    elif name == "#p":
        if kind in ("=", "<") and kinds[at + 1 : at + 2] == (NUMBER,):
            yield at + 2, ((name, at + 1),)
    elif name.startswith("#"):
        if kind == NUMBER:
            yield at + 1, ((name, at),)
    elif name in SLOTS:
        if kind in SLOTS[name]:
            yield at + 1, ((name, at),)
    elif kind == CONCEPT:
        yield at + 1, ((name, at),)


@cache
def _literal(text: str) -> tuple[str, ...]:
    return tokens_of(text)


@cache
def _forms(kind: str, form: str) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """Return the texts of a word in a form, by their first token."""
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for lemma in words()[kind]:
        for text in {lemma.forms[form, number] for number in "sp"}:
            literal = tokens_of(text)
            found.setdefault(literal[0], []).append((literal, lemma.polarity))
    return found


@cache
def _index() -> dict[str, tuple[Production, ...]]:
    """Return the productions by the kinds with which they can begin."""
    found: dict[str, list[Production]] = {}
    for own in productions().values():
        for production in own:
            for kind in _first(production.parts):
                found.setdefault(kind, []).append(production)
    return {kind: tuple(own) for kind, own in found.items()}


def _first(parts: Sequence[Part]) -> set[str]:
    part = parts[0]
    if isinstance(part, str):
        return {_literal(part)[0]} if _literal(part) else _first(parts[1:])
    if isinstance(part, Word):
        return set(_forms(part.kind, part.form))
    if isinstance(part, Choice):
        found: set[str] = set()
        for option in part.options:
            found |= _first((*option, *parts[1:]))
        return found
    if part.name in SLOTS:
        return set(SLOTS[part.name])
    if part.name == "cluster":
        return {"⟨topic⟩"}
    return {NUMBER if part.name.startswith("#") else LISTED.get(part.name, CONCEPT)}
