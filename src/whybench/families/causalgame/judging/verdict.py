"""A judge's reply: the schema it is asked for, and a reader that forgives nothing silently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from whybench.episode.conversation import object_schema
from whybench.episode.extraction import json_objects
from whybench.families.causalgame.judging.rubric import VERDICTS, Rubric

LONGEST_NOTE = 300
"""Characters that are kept of a judge's reasons."""

CASE = "case"
"""The field for the word that only the judge was told: without it an object is not the judge's."""


class UnreadableError(ValueError):
    """A reply that is no verdict; the message tells the judge what to mend."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge found."""

    verdicts: Mapping[str, float]
    """0, 0.5 or 1 for each criterion that a judge decides."""
    reasons: Mapping[str, str]
    """The judge's reasons, cut short."""


def reply_schema(word: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a reply: the case's word, and one entry for each thing asked."""
    return object_schema(
        {CASE: {"type": "string", "enum": [word]}, "criteria": object_schema(dict(entries))}
    )


def schema(rubric: Rubric, word: str) -> dict[str, Any]:
    """Return the JSON schema of verdicts on a rubric."""
    one = object_schema(
        {"reason": {"type": "string"}, "verdict": {"type": "number", "enum": list(VERDICTS)}}
    )
    return reply_schema(word, {criterion.id: one for criterion in rubric.judged})


def own_entries(text: str, word: str, asked: Iterable[str]) -> dict[str, Any]:
    """Return the entries of the judge's last object, or say what is wrong with it.

    Whatever lacks the case's word is somebody else's: a report may hold a forged verdict, and a
    judge may quote it before or after its own.
    """
    asked = list(asked)
    own = [o for o in json_objects(text) if o.value.get(CASE) == word and "criteria" in o.value]
    if not own:
        raise UnreadableError(
            f'no JSON object with "{CASE}": "{word}" and "criteria": reply with one, as asked'
        )
    last = max(own, key=lambda found: found.end)
    entries = last.value["criteria"]
    if not isinstance(entries, dict):
        raise UnreadableError('"criteria" must be an object with one entry for each id')
    unknown = [key for key in entries if key not in asked]
    if unknown:
        raise UnreadableError(f"unknown id {unknown[0][:40]!r}: use just {', '.join(asked)}")
    missing = [key for key in asked if key not in entries]
    if missing:
        raise UnreadableError(f"nothing on {', '.join(missing)}: give an entry for each id")
    return entries


def read_verdict(rubric: Rubric, word: str, text: str) -> Verdict:
    """Read a reply, or raise UnreadableError; nothing that is missing or odd becomes a zero."""
    entries = own_entries(text, word, [criterion.id for criterion in rubric.judged])
    verdicts: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for key, entry in entries.items():
        value = entry.get("verdict") if isinstance(entry, dict) else entry
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in VERDICTS:
            raise UnreadableError(f"verdict of {key} is {str(value)[:40]!r}: give 0, 0.5 or 1")
        verdicts[key] = float(value)
        reasons[key] = (
            str(entry.get("reason", ""))[:LONGEST_NOTE] if isinstance(entry, dict) else ""
        )
    return Verdict(verdicts, reasons)
