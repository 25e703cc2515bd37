"""An independent parser of generated documents, for `check`.

The exact reader works sentence by sentence and word by word. Here one regular expression, built as
a tree of letters, finds the names; lists of names are written out at every length; and a frame is
looked up as a whole. The two parsers share only the data files: fields, frames, fixed phrases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

from whybench.families.recite.world.frames import SLOT, Frame, frames, furniture
from whybench.families.recite.world.vocabulary import FIELDS, Field, field_named
from whybench.families.recite.world.world import Status

Arrow = tuple[str, str]
"""Cause and effect: names of concepts, or kinds of unnamed factors behind `UNNAMED`."""

UNNAMED = "a matter of "
_LISTS = range(1, 7)
"""How many names a list may have."""
_PLURAL = ("causes", "effects", "members")
_PHRASE_LISTS = {"label": "labels", "place": "places", "body": "bodies", "elsewhere": "elsewhere"}

_DIRECT = ("stated", "causes", "effects", "mutual")
_SILENT = ("correlated", "denied", "hedged", "elsewhere", "mention", "plain")


@dataclass(frozen=True, slots=True)
class Given:
    """How a text gives an edge."""

    status: Status
    held_out: bool


@dataclass(slots=True)
class Reread:
    """What a text says."""

    arrows: dict[Arrow, list[Given]] = field(default_factory=dict)
    forms: dict[str, set[str]] = field(default_factory=dict)
    """Concept → the words for it that occur."""
    denied: set[Arrow] = field(default_factory=set)
    """Cause and effect of direct effects that are said not to exist."""
    unread: list[str] = field(default_factory=list)
    """What belongs to no frame, and labels that are used without a definition."""


Fills = dict[str, list[str]]
_SAYS: Mapping[str, Callable[[Fills], Iterator[tuple[str, str]]]] = {
    "stated": lambda f: product(f["cause"], f["effect"]),
    "implied": lambda f: product(f["cause"], f["effect"]),
    "counterfactual": lambda f: product(f["cause"], f["effect"]),
    "causes": lambda f: product(f["causes"], f["effect"]),
    "effects": lambda f: product(f["cause"], f["effects"]),
    "mutual": lambda f: iter([(f["a"][0], f["b"][0]), (f["b"][0], f["a"][0])]),
    "through": lambda f: iter([(f["first"][0], f["middle"][0]), (f["middle"][0], f["last"][0])]),
    "except": lambda f: product([m for m in f["members"] if m not in f["exception"]], f["effect"]),
    "from": lambda f: product(f["cause"], f["kind"]),
    "to": lambda f: product(f["kind"], f["effect"]),
    "between": lambda f: iter([(f["cause"][0], f["kind"][0]), (f["kind"][0], f["effect"][0])]),
}
"""Role → the edges that it gives without other statements."""


_DENIES: Mapping[str, Callable[[Fills], Iterator[tuple[str, str]]]] = {
    "denied": lambda f: product(f["cause"], f["effect"]),
    "correlated": lambda f: iter([(f["a"][0], f["b"][0]), (f["b"][0], f["a"][0])]),
    "through": lambda f: product(f["first"], f["last"]),
    "except": lambda f: product(f["exception"], f["effect"]),
}
"""Role → the direct effects that it rules out."""


def field_titled(title: str) -> Field:
    """Return the field with this title."""
    return next(known for known in map(field_named, FIELDS) if known.title == title)


def reread(text: str, known: Field) -> Reread:
    """Read a document of a field."""
    found = Reread()
    groups: dict[str, tuple[list[str], Frame]] = {}
    waiting: list[tuple[Frame, Fills]] = []
    for line in text.lower().split("\n"):
        if not line or line.startswith("#"):
            continue
        for frame, fills in _blocks(line, known, found):
            if frame.role in _DENIES:
                found.denied.update(_DENIES[frame.role](fills))
            if frame.role == "define":
                groups[fills["label"][0]] = (fills["members"], frame)
            elif frame.role in ("acts", "receives"):
                waiting.append((frame, fills))
            elif frame.role not in _SILENT:
                for arrow in _SAYS[frame.role](fills):
                    found.arrows.setdefault(arrow, []).append(_given(frame))
    for frame, fills in waiting:
        label = fills["label"][0]
        if label not in groups:
            found.unread.append(label)
            continue
        members, definition = groups[label]
        ends = (members, fills["effect"]) if frame.role == "acts" else (fills["cause"], members)
        for arrow in product(*ends):
            found.arrows.setdefault(arrow, []).append(_given(frame, definition))
    return found


def _given(*by: Frame) -> Given:
    role = by[0].role
    status: Status = "stated" if role in _DIRECT else "derivable"
    return Given("implied" if role == "implied" else status, any(f.held_out for f in by))


def _blocks(line: str, known: Field, found: Reread) -> Iterator[tuple[Frame, Fills]]:
    """Yield the frames of a paragraph, with what fills their slots."""
    lexicon = _lexicon(known.name)
    names: list[tuple[str, str]] = []

    def masked(match: re.Match[str]) -> str:
        kind, owner = ("year", match[0]) if match[0].isdigit() else lexicon.meaning[match[0]]
        names.append((kind, owner))
        if kind == "c":
            found.forms.setdefault(owner, set()).add(match[0])
        return f"<{kind}>"

    sentences = lexicon.pattern.sub(masked, line).split(". ")
    sentences = [f"{s}." for s in sentences[:-1]] + sentences[-1:]
    at = 0
    while at < len(sentences):
        for size in (3, 2, 1):
            text = " ".join(sentences[at : at + size])
            entry = _entry(text) if at + size <= len(sentences) else None
            if entry is not None:
                break
        used = text.count("<")
        if entry is None:
            found.unread.append(text)
        else:
            frame, slots = entry
            fills: Fills = {}
            for slot, (_, owner) in zip(slots, names[:used], strict=True):
                fills.setdefault(slot, []).append(owner)
            yield frame, fills
        names = names[used:]
        at += size


def _entry(text: str) -> tuple[Frame, tuple[str, ...]] | None:
    """Look up a masked text among all frames, with or without an opener before it."""
    known = _shapes()
    if text in known:
        return known[text]
    for opener in furniture()["openers"]:
        if text.startswith(opener.lower() + " "):
            return known.get(text[len(opener) + 1 :])
    return None


@cache
def _shapes() -> Mapping[str, tuple[Frame, tuple[str, ...]]]:
    """Return every frame with its slots masked, lists at every length, and the slot of each name.

    Two frames of one shape would be two readings of one text.
    """
    found: dict[str, tuple[Frame, tuple[str, ...]]] = {}
    for frame in (frame for role in frames().values() for frame in role):
        for size in _LISTS if any(slot in _PLURAL for slot in frame.slots) else (1,):
            slots: list[str] = []

            def masked(slot: re.Match[str], slots: list[str] = slots, size: int = size) -> str:
                count = size if slot[1] in _PLURAL else 1
                slots.extend([slot[1]] * count)
                kind = slot[1] if slot[1] in (*_PHRASE_LISTS, "kind", "year") else "c"
                shown = [f"<{kind}>"] * count
                return " and ".join([", ".join(shown[:-1]), shown[-1]] if count > 1 else shown)

            shape = SLOT.sub(masked, frame.text.lower())
            if shape in found:
                raise ValueError(f"{frame.id} and {found[shape][0].id} say the same of their names")
            found[shape] = (frame, tuple(slots))
    return found


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The words of a field: what each means, and a pattern that finds them."""

    meaning: Mapping[str, tuple[str, str]]
    pattern: re.Pattern[str]


@cache
def _lexicon(name: str) -> _Lexicon:
    meaning: dict[str, tuple[str, str]] = {}
    for slot, listed in _PHRASE_LISTS.items():
        meaning |= {phrase.lower(): (slot, phrase) for phrase in furniture()[listed]}
    for concept in field_named(name).concepts:
        phrase = f"{UNNAMED}{concept.kind}"
        meaning[phrase.lower()] = ("kind", phrase)
        for form in (*concept.said, *concept.hinted):
            if meaning.setdefault(form.lower(), ("c", concept.name)) != ("c", concept.name):
                raise ValueError(f"{form!r} means two things in the field {name}")
    tree: dict[str, Any] = {}
    for phrase in meaning:
        at = tree
        for letter in phrase:
            at = at.setdefault(letter, {})
        at[""] = {}
    return _Lexicon(meaning, re.compile(rf"\b(?:\d+|{_branches(tree)})\b"))


def _branches(tree: Mapping[str, Any]) -> str:
    """Return a pattern for all words of a tree of letters, longer ones first."""
    parts: Sequence[str] = [
        re.escape(letter) + _branches(below) for letter, below in tree.items() if letter
    ]
    if not parts:
        return ""
    joined = parts[0] if len(parts) == 1 and "" not in tree else f"(?:{'|'.join(parts)})"
    return f"{joined}?" if "" in tree else joined
