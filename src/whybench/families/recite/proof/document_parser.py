"""The exact reader: parses a generated document and returns the graph that it describes.

It knows the grammar and the vocabulary of the fields, but never sees the graph. Its rules are those
that the prompt tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from whybench.families.recite.proof.scanner import CITE, CITED, CONCEPT, TAG, Token, scanner
from whybench.families.recite.proof.sentence_parser import Parse, parses
from whybench.families.recite.world.grammar import words
from whybench.families.recite.world.knowledge import FIELDS
from whybench.families.recite.world.say import LEVEL
from whybench.families.recite.world.world import Span

Pair = tuple[str, str]

SAMPLE = 2_000
"""Characters from which the field of a text is guessed."""

NO_ARROW = {"corr", "hedged", "elsewhere", "control", "doubted"}
"""Roles that speak of two concepts and neither give nor deny an arrow."""
_SKIPPED = re.compile(r"[#|]|Table \d+\. ")
"""Headings, tables and their captions begin so."""

_LINE = re.compile(r"[^\n]+")
_ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the text, with its parse and the concepts that it names."""

    span: Span
    parse: Parse | None
    named: tuple[str, ...]
    tokens: tuple[Token, ...]
    tag: str = ""
    """The number of a hypothesis or a first result."""

    @property
    def labels(self) -> set[str]:
        """What other sentences can call it by: its number, or the study that it cites."""
        return {self.tag} if self.tag else {study(text) for text in self.cites}

    @property
    def cites(self) -> list[str]:
        """The studies that it names."""
        return [token.text for token in self.tokens if token.kind in (CITE, CITED)]

    def held(self, slot: str) -> list[str]:
        """Return the concepts, or other phrases, in a slot."""
        if self.parse is None:
            return []
        found = [self.tokens[at] for name, at in self.parse.slots if name == slot]
        return list(dict.fromkeys(token.value or token.text for token in found))

    def sign(self, *variables: str) -> int:
        """Return the product of the polarities of some variables; 0 if none has one."""
        signs = dict(self.parse.signs) if self.parse else {}
        found = [signs[name] for name in variables if name in signs]
        product = 1
        for sign in found:
            product *= sign
        return product if found else 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says."""

    field: str
    edges: tuple[Pair, ...]
    """Pairs of cause and effect, by the names of concepts."""
    signs: Mapping[Pair, int]
    """The signs that the text tells."""
    passages: Mapping[Pair, tuple[Span, ...]]
    """Where it gives each edge."""
    forms: Mapping[str, str]
    """Concept → the first form in which the text mentions it."""
    denied: frozenset[Pair]
    """Pairs of which it says that the first does not affect the second directly."""
    related: Mapping[str, tuple[Pair, ...]]
    """Role → the pairs that it relates without an arrow."""
    unread: tuple[str, ...]
    """Sentences that cannot be parsed, or contradict others."""
    sentences: tuple[Sentence, ...]
    rejected: frozenset[Span]
    """Where sentences are that the text rejects by their number or study."""


def study(text: str) -> str:
    """Return a citation without brackets and commas."""
    return re.sub(r"[(),]", "", text)


@dataclass(slots=True)
class _Claims:
    given: dict[Pair, list[Span]] = field(default_factory=dict)
    own: set[Pair] = field(default_factory=set)
    denied: set[Pair] = field(default_factory=set)
    signs: dict[Pair, set[int]] = field(default_factory=dict)
    related: dict[str, list[Pair]] = field(default_factory=dict)

    def give(self, cause: str, effect: str, sign: int, *spans: Span, own: bool = True) -> None:
        self.given.setdefault((cause, effect), []).extend(spans)
        if own:
            self.own.add((cause, effect))
        if sign:
            self.signs.setdefault((cause, effect), set()).add(sign)

    def back(self, span: Span | None) -> None:
        """Add a passage that accepts what is given."""
        for spans in self.given.values():
            spans.extend([span] if span else [])

    def add(self, other: _Claims) -> None:
        """Add what another sentence says."""
        for pair, spans in other.given.items():
            self.given.setdefault(pair, []).extend(spans)
        for pair, signs in other.signs.items():
            self.signs.setdefault(pair, set()).update(signs)
        for role, pairs in other.related.items():
            self.related.setdefault(role, []).extend(pairs)
        self.own |= other.own
        self.denied |= other.denied


@lru_cache(maxsize=64)
def read(text: str) -> Reading:
    """Parse a text in the field whose concepts it mentions most."""
    name = max(FIELDS, key=lambda one: scanner(one).hits(text[:SAMPLE]))
    sentences = [sentence for paragraph in _paragraphs(text, name) for sentence in paragraph]
    claims = _Claims()
    unread: list[str] = []
    accepted, refused = _verdicts(sentences)
    refused |= {label for label, holds in verdict_rows(text).values() if not holds}
    rejected: set[Span] = set()
    labels = {
        label: (sentence.held("ms"), sentence.span)
        for sentence in sentences if _role(sentence) == "define"
        for label in sentence.held("label")
    }  # fmt: skip
    for paragraph in _paragraphs(text, name):
        before: Sentence | None = None
        for sentence in paragraph:
            own = _Claims()
            right = _understood(own, sentence, before, labels)
            if refused & sentence.labels and _role(sentence) in LEVEL:
                rejected.add(sentence.span)
                own = _Claims(denied=own.denied | own.given.keys())
            elif sentence.tag.startswith("H"):
                right = right and sentence.tag in accepted
                own.back(accepted.get(sentence.tag))
            if not right or refused & accepted.keys():
                unread.append(text[slice(*sentence.span)])
            claims.add(own)
            before = sentence
    unread += [f"{a} → {b}: given and denied" for a, b in sorted(claims.own & claims.denied)]
    unread += [f"{a} → {b}: two signs" for (a, b), both in claims.signs.items() if len(both) > 1]
    edges = tuple(pair for pair in claims.given if pair not in claims.denied)
    forms: dict[str, str] = {}
    for sentence in sentences:
        for token in sentence.tokens:
            if token.kind == CONCEPT:
                forms.setdefault(token.value, token.text)
    return Reading(
        name,
        edges,
        {pair: next(iter(claims.signs[pair])) for pair in edges if pair in claims.signs},
        {pair: tuple(claims.given[pair]) for pair in edges},
        forms,
        frozenset(claims.denied),
        {role: tuple(pairs) for role, pairs in claims.related.items()},
        tuple(unread),
        tuple(sentences),
        frozenset(rejected),
    )


def _verdicts(sentences: Sequence[Sentence]) -> tuple[dict[str, Span], set[str]]:
    """Return the numbers that the text accepts, and where; and what it rejects."""
    accepted: dict[str, Span] = {}
    refused: set[str] = set()
    for sentence in sentences:
        match _role(sentence):
            case "supported":
                accepted |= dict.fromkeys(sentence.held("tags"), sentence.span)
            case "rejected" | "retracted":
                refused.update(sentence.held("tags"))
            case "unreplicated":
                refused.update(map(study, sentence.cites))
    return accepted, refused


def verdict_rows(text: str) -> dict[str, tuple[str, bool]]:
    """Return the rows of tables that decide: row → number or study, and whether it holds."""
    known = {word.forms["-", "s"]: word.polarity > 0 for word in words()["verdict"]}
    return {
        row[0]: (study(row[1]), known[row[2]]) for row in _ROW.finditer(text) if row[2] in known
    }


def named_together(text: str) -> list[tuple[str, ...]]:
    """Return the concepts that each sentence of a text names, by their names."""
    return [sentence.named for sentence in read(text).sentences]


def _role(sentence: Sentence) -> str:
    return sentence.parse.production.role if sentence.parse else ""


@lru_cache(maxsize=8)
def _paragraphs(text: str, field_name: str) -> tuple[tuple[Sentence, ...], ...]:
    found = []
    for line in _LINE.finditer(text):
        if not _SKIPPED.match(line[0]):
            tokens = scanner(field_name).scan(line[0], line.start())
            found.append(tuple(_sentences(tokens)))
    return tuple(found)


def _sentences(tokens: Sequence[Token]) -> Iterator[Sentence]:
    first = 0
    for k, token in enumerate(tokens):
        if token.kind in (".", "?"):
            own = tuple(tokens[first : k + 1])
            whole, tag = own, ""
            if [one.kind for one in own[-4:]] == ["(", TAG, ")", "."]:
                own, tag = (*own[:-4], own[-1]), own[-3].text
            told = [one.value for one in own if one.kind == CONCEPT]
            named = tuple(dict.fromkeys(told[::-1]))[::-1]  # the last mention counts
            found = parses(tuple(one.kind for one in own))
            meanings = {(one.production.role, one.slots, one.signs) for one in found}
            parse = found[0] if len(meanings) == 1 else None
            yield Sentence((whole[0].start, whole[-1].end), parse, named, own, tag)
            first = k + 1
    if first < len(tokens):
        rest = tuple(tokens[first:])
        yield Sentence((rest[0].start, rest[-1].end), None, (), rest)


def _understood(
    claims: _Claims,
    sentence: Sentence,
    before: Sentence | None,
    labels: Mapping[str, tuple[list[str], Span]],
) -> bool:
    """Take down what a sentence says; return whether it can be understood."""
    if sentence.parse is None:
        return False
    one = {name: held[0] for name in ("a", "b", "c", "d") if len(held := sentence.held(name)) == 1}
    if any(len(sentence.held(name)) > 1 for name in ("a", "b", "c", "d")):
        return False
    span, y = sentence.span, sentence.sign("x", "y")
    a, b, c = one.get("a", ""), one.get("b", ""), one.get("c", "")
    here = (before.span[0], span[1]) if before else span
    earlier = before.named if before else ()
    match sentence.parse.production.role:
        case "claim" | "hypothesis" | "reasoned" | "because" | "overturn" | "revised":
            both = dict(sentence.parse.signs)
            claims.give(a, b, y if "y" in both else 0, span)
        case "cited":
            both = dict(sentence.parse.signs)
            claims.give(a, b, y if "y" in both else 0, span, own=False)
        case "chain":
            claims.give(a, b, y, span)
            claims.give(b, c, sentence.sign("z"), span)
        case "mutual":
            claims.give(a, b, sentence.sign("y"), span)
            claims.give(b, a, sentence.sign("z"), span)
        case "causes":
            for cause in sentence.held("cs"):
                claims.give(cause, b, 0, span)
        case "effects":
            for effect in sentence.held("es"):
                claims.give(a, effect, 0, span)
        case "common":
            claims.give(c, a, 0, span)
            claims.give(c, b, 0, span)
        case "this" | "latter" | "former":
            if not earlier:
                return False
            cause = earlier[0 if sentence.parse.production.role == "former" else -1]
            claims.give(cause, b, y if "y" in dict(sentence.parse.signs) else 0, here)
        case "both":
            if len(earlier) != 2:
                return False
            for cause in earlier:
                claims.give(cause, b, y, here)
        case "response":
            if before is None or _role(before) != "trial":
                return False
            moved = y * before.sign("x")
            claims.give(before.held("a")[0], b, moved, here)
        case "acts" | "receives":
            label = sentence.held("label")[0]
            if label not in labels:
                return False
            members, defined = labels[label]
            for member in members:
                ends = (member, b) if b else (a, member)
                claims.give(*ends, 0, defined, span)
        case "except":
            for cause in sentence.held("cs"):
                if cause != one["d"]:
                    claims.give(cause, b, 0, span)
            claims.denied.add((one["d"], b))
        case "through":
            claims.give(a, b, 0, span)
            claims.give(b, c, 0, span)
            claims.denied.add((a, c))
        case "absent":
            claims.give(a, b, y if len(sentence.parse.signs) == 2 else 0, span)
        case "null":
            claims.denied.add((a, b))
        case "route":
            claims.denied |= {(a, b), (b, a)}
    if sentence.parse.production.role in NO_ARROW:
        claims.related.setdefault(sentence.parse.production.role, []).append((a, b))
    return True
