"""A judge's reply on some elements of a pass: every one once, allowed labels only, or an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whybench.episode.conversation import object_schema
from whybench.episode.question import UnreadableError, own_entries, reply_schema
from whybench.families.recite.judging.labels import Field, PassName, fields

ELEMENTS = "elements"
"""The field of a reply that holds an entry for each element, under its number."""

WHY = "why"
"""Room for a few words before the labels: a judge that writes them decides better. Not read."""


def schema(
    pass_name: PassName, numbers: Sequence[int], word: str, reasons: bool = True
) -> dict[str, Any]:
    """Return the JSON schema of a reply on the elements with these numbers."""
    one = object_schema(
        ({WHY: {"type": "string"}} if reasons else {})
        | {
            field.name: {"type": "string", "enum": list(field.labels)}
            for field in fields(pass_name)
        }
    )
    return reply_schema(word, {str(number): one for number in numbers}, ELEMENTS)


def read_entries(
    pass_name: PassName, numbers: Sequence[int], word: str, text: str
) -> dict[int, dict[str, str]]:
    """Read a reply, or raise UnreadableError; nothing that is missing or odd becomes a zero."""
    entries = own_entries(text, word, [str(number) for number in numbers], ELEMENTS, once=True)
    return {number: _entry(pass_name, number, entries[str(number)]) for number in numbers}


def _entry(pass_name: PassName, number: int, entry: object) -> dict[str, str]:
    asked = fields(pass_name)
    names = [field.name for field in asked]
    if not isinstance(entry, dict):
        raise UnreadableError(f"element {number} must be an object with {', '.join(names)}")
    unknown = [key for key in entry if key not in names and key != WHY]
    if unknown:
        raise UnreadableError(
            f"element {number} has {unknown[0][:40]!r}: give just {', '.join(names)}"
        )
    return {field.name: _label(number, field, entry.get(field.name)) for field in asked}


def _label(number: int, field: Field, said: object) -> str:
    if said is None:
        raise UnreadableError(f"element {number} lacks {field.name}: give {_one_of(field)}")
    for label in field.labels:
        if said in (label, label.removeprefix(f"{field.family.upper()}_")):
            return label
    raise UnreadableError(
        f"{field.name} of element {number} is {str(said)[:40]!r}: give {_one_of(field)}"
    )


def _one_of(field: Field) -> str:
    return " or ".join(field.labels)
