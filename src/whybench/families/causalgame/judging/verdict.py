"""A judge's reply: the schema it is asked for, and a reader that forgives nothing silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whybench.episode.conversation import object_schema
from whybench.episode.question import UnreadableError, own_entries, reply_schema
from whybench.families.causalgame.judging.rubric import VERDICTS, Rubric

LONGEST_NOTE = 300
"""Characters that are kept of a judge's reasons."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one judge found."""

    verdicts: Mapping[str, float]
    """0, 0.5 or 1 for each criterion that a judge decides."""
    reasons: Mapping[str, str]
    """The judge's reasons, cut short."""


def schema(rubric: Rubric, word: str) -> dict[str, Any]:
    """Return the JSON schema of verdicts on a rubric."""
    one = object_schema(
        {"reason": {"type": "string"}, "verdict": {"type": "number", "enum": list(VERDICTS)}}
    )
    return reply_schema(word, {criterion.id: one for criterion in rubric.judged})


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
