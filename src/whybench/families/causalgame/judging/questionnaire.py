"""Which claims a report makes in free words: asked of a judge that is not told which are true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from whybench.core.seeds import Stream
from whybench.episode.question import UnreadableError, own_entries, reply_schema
from whybench.families.causalgame.judging.claims import Claim, Distance, distance_of

Answer = Literal["asserted", "denied", "not_mentioned"]
ANSWERS: tuple[Answer, ...] = ("asserted", "denied", "not_mentioned")


def numbered(instance_id: str, claims: Sequence[Claim]) -> dict[str, Claim]:
    """Return the claims in an order of the instance's own, under numbers that tell nothing."""
    order = Stream("causalgame", "claims", instance_id).shuffled(claims)
    return {f"S{number}": claim for number, claim in enumerate(order, 1)}


def answers_schema(word: str, listed: Mapping[str, Claim]) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    return reply_schema(word, {key: {"type": "string", "enum": list(ANSWERS)} for key in listed})


def read_answers(listed: Mapping[str, Claim], word: str, text: str) -> dict[str, Answer]:
    """Read a reply into an answer for each claim's id, or raise UnreadableError."""
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
    """Return the distance of a report from the truth; to deny a distractor costs nothing."""
    return distance_of(claims, {key for key, answer in answers.items() if answer == "asserted"})
