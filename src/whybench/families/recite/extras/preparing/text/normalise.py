"""Taking out of a paper what gives its diagram away, by a model with one narrow tool.

The tool is a list of edits, each with `start`, `end` and `replacement`. An edit finds the FIRST
place of `start`, then the first place of `end` BEHIND it, and replaces all from the one to the
other, both included. Edits are applied in order, each to what the one before left. Any edit that
finds nothing, breaks a bound or turns a claim round refuses the whole reply. The paper does not say
from where `end` is searched; from behind `start`, an edit never depends on what its two strings
share, and an empty `end` means `start` alone. The model is asked until it sends an empty list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from whybench.families.recite.extras.preparing.change import Change
from whybench.families.recite.extras.preparing.limits import NormaliseLimits
from whybench.families.recite.extras.preparing.model_client import (
    Asker,
    RefusedError,
    answered,
    said,
)
from whybench.families.recite.extras.preparing.text.rewording import Reworded, reworded
from whybench.families.recite.extras.preparing.text.words import forms

STEP = "normalise"
KEY = "normalizations"
FIELDS = ("start", "end", "replacement")

Edges = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Edit:
    """From the first place of `start` to the next place of `end`, put `replacement` instead."""

    start: str
    end: str
    replacement: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after some edits."""

    text: str
    added: int
    """Words that the edits brought, in all."""
    spans: tuple[str, ...]
    """What each edit replaced."""

    @property
    def taken(self) -> int:
        """Characters that the edits took, in all."""
        return sum(map(len, self.spans))


@dataclass(frozen=True, slots=True)
class Budget:
    """What edits may do in all: characters that they take, words that they bring."""

    characters: float
    words: float

    @classmethod
    def of(cls, text: str, limits: NormaliseLimits) -> Budget:
        """Return the budget of a paper."""
        return cls(
            max(limits.all_free, limits.all_share * len(text)),
            max(limits.all_new_free, limits.all_new_share * len(forms(text))),
        )

    def less(self, done: Edited) -> Budget:
        """Return what is left after some edits."""
        return Budget(self.characters - done.taken, self.words - done.added)


async def normalise(
    text: str, edges: Edges, asker: Asker, limits: NormaliseLimits
) -> tuple[str, tuple[Change, ...]]:
    """Have the text edited until nothing is left to do; return it with all changes."""
    budget = Budget.of(text, limits)
    changes: list[Change] = []
    graph = json.dumps([{"source": a, "sink": b} for a, b in edges], ensure_ascii=False)
    for number in range(1, limits.rounds + 1):
        before = text

        def read(
            reply: str, now: str = before, left: Budget = budget
        ) -> tuple[Sequence[Edit], Edited]:
            edits = read_edits(reply)
            return edits, apply(now, edits, limits, left)

        settled = await asker.settle(f"{STEP}, round {number}", said(STEP, text, graph=graph), read)
        edits, done = settled.value
        where = f"round {number}"
        changes += [Change(STEP, "refused", where, note=why) for why in settled.refused]
        changes += [
            Change(STEP, "replaced", f"{where}, edit {n}", span, edit.replacement)
            for n, (edit, span) in enumerate(zip(edits, done.spans, strict=True), 1)
        ]
        text, budget = done.text, budget.less(done)
        if not edits:
            break
    else:
        changes.append(
            Change(STEP, "doubt", f"round {limits.rounds}", note="the model had not come to an end")
        )
    return text, (*changes, *leftovers(text, edges))


def read_edits(reply: str) -> tuple[Edit, ...]:
    """Return the edits of the last object that has the key, or refuse the reply."""
    found = answered(reply, KEY)
    if found is None:
        raise RefusedError(f'there is no JSON object with a list "{KEY}": reply with one')
    items = found.value[KEY]
    if not isinstance(items, list):
        raise RefusedError(f'"{KEY}" must be a list')
    return tuple(_edit(item, number) for number, item in enumerate(items, 1))


def _edit(item: object, number: int) -> Edit:
    if not isinstance(item, Mapping) or not all(isinstance(item.get(f), str) for f in FIELDS):
        raise RefusedError(f"edit {number} must be an object with the texts {', '.join(FIELDS)}")
    if not item["start"]:
        raise RefusedError(f"edit {number} has an empty start: quote where the passage begins")
    return Edit(item["start"], item["end"], item["replacement"])


def apply(
    text: str, edits: Sequence[Edit], limits: NormaliseLimits, budget: Budget | None = None
) -> Edited:
    """Apply edits in order, or refuse them all; without a budget, the text's own holds.

    >>> from whybench.families.recite.extras.preparing.limits import limits
    >>> edit = Edit("As the figure", "shows, p", "P")
    >>> apply("As the figure clearly shows, prices rise.", [edit], limits().normalise).text
    'Prices rise.'
    """
    budget = budget or Budget.of(text, limits)
    done = Edited(text, 0, ())
    for number, edit in enumerate(edits, 1):
        text = done.text
        start, end = _span(text, edit, number)
        span = text[start:end]
        _check(edit, span, number, max(limits.edit_free, limits.edit_share * len(text)), limits)
        found = reworded(text, start, end, edit.replacement, limits)
        _check_words(found, number, limits)
        text = text[:start] + edit.replacement + text[end:]
        done = Edited(text, done.added + len(found.added), (*done.spans, span))
        if done.taken > budget.characters:
            raise RefusedError(
                f"the edits take more than the {budget.characters:.0f} characters that may go: "
                "take out only what gives the diagram away"
            )
        if done.added > budget.words:
            raise RefusedError(
                f"the edits bring more than the {budget.words:.0f} new words that may still come: "
                "take out, and add nothing"
            )
    return done


def _span(text: str, edit: Edit, number: int) -> tuple[int, int]:
    start = text.find(edit.start)
    if start < 0:
        raise RefusedError(
            f"edit {number}: the paper has no {edit.start[:80]!r}, your start; quote letter by "
            "letter, and mind that earlier edits have changed the text"
        )
    end = text.find(edit.end, start + len(edit.start))
    if end < 0:
        raise RefusedError(
            f"edit {number}: the end {edit.end[:80]!r} does not follow the start; it is searched "
            "behind the start and must not overlap with it"
        )
    return start, end + len(edit.end)


def _check(edit: Edit, span: str, number: int, longest: float, limits: NormaliseLimits) -> None:
    """Refuse an edit that takes or adds too much, that redacts, or that does nothing."""
    if len(span) > longest:
        raise RefusedError(
            f"edit {number} takes {len(span)} characters at once, more than {longest:.0f}: is the "
            "end the right one? Give smaller edits"
        )
    if edit.replacement == span:
        raise RefusedError(f"edit {number} changes nothing: leave it out")
    if len(edit.replacement) > len(span) + limits.longer:
        raise RefusedError(f"edit {number} puts in more than it takes out: only take out")
    for mark in _redactions():
        if (seen := mark.search(edit.replacement)) and seen[0] not in span:
            raise RefusedError(
                f"edit {number} leaves the mark {seen[0]!r}: rewrite so that nothing is missed"
            )


def _check_words(found: Reworded, number: int, limits: NormaliseLimits) -> None:
    """Refuse an edit that brings words of its own, puts words elsewhere or turns a claim round."""
    if len(found.added) > limits.new_words:
        named = ", ".join(found.added[:5])
        raise RefusedError(f"edit {number} adds words of your own ({named}): take out")
    if found.turned:
        raise RefusedError(
            f"edit {number} adds or takes out {found.turned[0]!r}, which changes what is claimed: "
            "leave the claim as it is, or take out all of its sentence"
        )
    if found.moved:
        raise RefusedError(
            f"edit {number} puts {found.moved[0]!r} in another place: keep the paper's order"
        )


def leftovers(text: str, edges: Edges) -> Iterator[Change]:
    """Yield doubts: lines with an arrow and the names of both ends of an edge."""
    pairs = {(a.casefold(), b.casefold()) for a, b in edges}
    for number, line in enumerate(text.split("\n"), 1):
        low = line.casefold()
        if re.search(_data()["arrow"], line) and any(a in low and b in low for a, b in pairs):
            note = "this line may still give an edge away"
            yield Change(STEP, "doubt", f"line {number}", line.strip(), note=note)


@cache
def _redactions() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(mark, re.IGNORECASE) for mark in _data()["redactions"])


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files(__package__ or "") / "marks.json").read_text("utf-8"))
    return found
