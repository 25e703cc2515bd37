"""The exact reader: a parser that knows the frames and vocabularies of generated documents.

It never sees the gold graph. It finds everything that a text says. So a text that it parses right
determines its graph, except for the names of factors that the text leaves unnamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from whybench.families.recite.world.frames import Frame
from whybench.families.recite.world.language import Meaning, language, sentences
from whybench.families.recite.world.vocabulary import FIELDS

Pair = tuple[str, str]

NO_NAME = "a matter of "
"""Prefix for a factor that the text mentions only by its kind."""


SAMPLED = 16
"""Approximate number of paragraphs from which the field of a text is guessed."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says."""

    field: str
    """The field in which it was parsed."""
    edges: tuple[Pair, ...]
    """Pairs of cause and effect, by the names of concepts; unnamed factors by their kind."""
    forms: Mapping[str, str]
    """Concept → the first form in which the text mentions it."""
    unread: tuple[str, ...]
    """Sentences that match no frame."""
    related: Mapping[str, Sequence[Pair]]
    """Role of a frame → the pairs that it relates, in both orders if it has no direction."""


@dataclass(slots=True)
class _Record:
    """A frame that is partly or wholly parsed: slot → concepts, kind or label."""

    frame: Frame
    fills: dict[str, list[str]] = field(default_factory=dict)
    sentences: int = 0

    def awaits(self, meaning: Meaning) -> bool:
        return meaning.frame == self.frame and meaning.number == self.sentences

    @property
    def whole(self) -> bool:
        return self.sentences == len(self.frame.sentences)


@lru_cache(maxsize=64)
def read(text: str) -> Reading:
    """Parse a text in the field in which it is understood best."""
    return read_as(text, _field(text))


def named_together(text: str) -> list[tuple[str, ...]]:
    """Return the concepts that each sentence of a text names, by their names."""
    known = language(_field(text))
    return [known.named(sentence) for sentence in sentences(text)]


def _field(text: str) -> str:
    """Return the field in which a text is understood best, by some of its paragraphs."""
    lines = [line for line in text.splitlines() if line]
    some = "\n".join(lines[:: 1 + len(lines) // SAMPLED])
    return min(FIELDS, key=lambda name: len(read_as(some, name).unread))


def read_as(text: str, field_name: str) -> Reading:
    """Parse a text with the vocabulary of a field."""
    known = language(field_name)
    records: list[_Record] = []
    forms: dict[str, str] = {}
    unread: list[str] = []
    for sentence in sentences(text):
        found = known.read(sentence)
        if found is None:
            unread.append(sentence)
            continue
        meaning, fills = found
        if meaning.number == 0:
            records.append(_Record(meaning.frame))
        elif not records or not records[-1].awaits(meaning):
            unread.append(sentence)
            continue
        records[-1].sentences += 1
        for slot, filled in fills.items():
            held = records[-1].fills.setdefault(slot, [])
            for phrase in filled:
                concept = known.concept_of.get(phrase)
                if concept is not None:
                    forms.setdefault(concept, phrase)
                held.append(NO_NAME + phrase if slot == "kind" else concept or phrase)
    unread += [record.frame.text for record in records if not record.whole]
    whole = [record for record in records if record.whole]
    edges = tuple(dict.fromkeys(_edges(whole)))
    return Reading(field_name, edges, forms, tuple(unread), _related(whole))


def _related(records: Sequence[_Record]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for record in records:
        for first, second in (("cause", "effect"), ("a", "b"), ("b", "a")):
            if first in record.fills and second in record.fills:
                pair = record.fills[first][0], record.fills[second][0]
                found.setdefault(record.frame.role, []).append(pair)
    return found


def _edges(records: Sequence[_Record]) -> Iterable[Pair]:
    """Yield the edges that frames give, by the rule of their role."""
    groups = {
        record.fills["label"][0]: record.fills["members"]
        for record in records
        if record.frame.role == "define"
    }
    for record in records:
        yield from _given(record.frame.role, record.fills, groups)


def _given(
    role: str, fills: Mapping[str, Sequence[str]], groups: Mapping[str, Sequence[str]]
) -> Iterable[Pair]:
    one = {slot: held[0] for slot, held in fills.items()}
    members = groups.get(one.get("label", ""), ())
    match role:
        case "stated" | "implied" | "counterfactual":
            yield one["cause"], one["effect"]
        case "causes":
            yield from ((cause, one["effect"]) for cause in fills["causes"])
        case "effects":
            yield from ((one["cause"], effect) for effect in fills["effects"])
        case "mutual":
            yield from ((one["a"], one["b"]), (one["b"], one["a"]))
        case "through":
            yield from ((one["first"], one["middle"]), (one["middle"], one["last"]))
        case "acts":
            yield from ((member, one["effect"]) for member in members)
        case "receives":
            yield from ((one["cause"], member) for member in members)
        case "except":
            listed = (member for member in fills["members"] if member != one["exception"])
            yield from ((member, one["effect"]) for member in listed)
        case "from":
            yield one["cause"], one["kind"]
        case "to":
            yield one["kind"], one["effect"]
        case "between":
            yield from ((one["cause"], one["kind"]), (one["kind"], one["effect"]))
