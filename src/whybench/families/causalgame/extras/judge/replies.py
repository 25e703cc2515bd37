"""A judge's replies on a report: schemas, and strict parsers.

A judge gives verdicts on a rubric. It also says which claims a report makes, without knowing which
of them are true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from whybench.causal.seeds import Stream
from whybench.episode.prompts.conversation import object_schema
from whybench.families.causalgame.claims import Claim, Distance, distance_of
from whybench.families.causalgame.extras.judge.rubric import VERDICTS, Rubric
from whybench.judge.question import UnreadableError, own_entries, reply_schema

VERDICT_WORDS = {"SATISFIED": 1.0, "PARTIALLY_SATISFIED": 0.5, "NOT_SATISFIED": 0.0}
"""The paper's words for verdicts."""

DETAILS = ("reason", "confidence", "evidence")
"""What a judge adds to a verdict; confidence and evidence under the paper's prompt only."""

Answer = Literal["asserted", "denied", "not_mentioned"]
ANSWERS: tuple[Answer, ...] = ("asserted", "denied", "not_mentioned")


def schema(rubric: Rubric, word: str, published: bool = False) -> dict[str, Any]:
    """Return the JSON schema of verdicts on a rubric, in our form or in the paper's."""
    text = {"type": "string"}
    verdict: dict[str, Any] = {"type": "number", "enum": list(VERDICTS)}
    fields: dict[str, Any] = {"reason": text, "verdict": verdict}
    if published:
        fields["verdict"] = {"type": "string", "enum": list(VERDICT_WORDS)}
        fields["confidence"] = {"type": "number"}
        fields["evidence"] = {"type": "array", "items": text}
    one = object_schema(fields)
    return reply_schema(word, {criterion.id: one for criterion in rubric.judged})


def read_verdict(rubric: Rubric, word: str, text: str, published: bool = False) -> dict[str, float]:
    """Parse a verdict on each criterion, or raise UnreadableError; odd values never become zero.

    With `published`, verdicts may also be the paper's words.
    """
    verdicts: dict[str, float] = {}
    for key, entry in own_entries(text, word, [c.id for c in rubric.judged]).items():
        value = entry.get("verdict") if isinstance(entry, dict) else entry
        if published and isinstance(value, str):
            value = VERDICT_WORDS.get(value, value)
        if isinstance(value, bool) or not isinstance(value, int | float) or value not in VERDICTS:
            raise UnreadableError(f"verdict of {key} is {str(value)[:40]!r}: give 0, 0.5 or 1")
        verdicts[key] = float(value)
    return verdicts


def read_details(rubric: Rubric, word: str, text: str) -> dict[str, dict[str, Any]]:
    """Return what a judge added to each verdict, as far as it can be used."""
    entries = own_entries(text, word, [c.id for c in rubric.judged])
    return {
        key: {name: entry[name] for name in DETAILS if name in entry}
        for key, entry in entries.items()
        if isinstance(entry, dict)
    }


def numbered(instance_id: str, claims: Sequence[Claim]) -> dict[str, Claim]:
    """Return the claims in an order that depends on the instance, under neutral numbers."""
    order = Stream("causalgame", "claims", instance_id).shuffled(claims)
    return {f"S{number}": claim for number, claim in enumerate(order, 1)}


def answers_schema(word: str, listed: Mapping[str, Claim]) -> dict[str, Any]:
    """Return the JSON schema of answers on claims."""
    return reply_schema(word, {key: {"type": "string", "enum": list(ANSWERS)} for key in listed})


def read_answers(listed: Mapping[str, Claim], word: str, text: str) -> dict[str, Answer]:
    """Parse a reply into an answer for each claim's id, or raise UnreadableError."""
    found: dict[str, Answer] = {}
    for key, value in own_entries(text, word, listed).items():
        known = next((answer for answer in ANSWERS if answer == value), None)
        if known is None:
            raise UnreadableError(
                f"answer to {key} is {str(value)[:40]!r}: give {', '.join(ANSWERS)}"
            )
        found[listed[key].id] = known
    return found


def distance_from(claims: Sequence[Claim], answers: Mapping[str, Answer]) -> Distance:
    """Return the distance of a report from the truth; denying a distractor costs nothing."""
    return distance_of(claims, {key for key, answer in answers.items() if answer == "asserted"})
