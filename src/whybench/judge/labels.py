"""Labels that a judge chooses for numbered elements: allowed values, schema, parser and worth.

A judge is asked in passes. In each pass, every element gets one label for each field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from whybench.episode.prompts.conversation import object_schema
from whybench.judge.question import UnreadableError, own_entries, reply_schema

ELEMENTS = "elements"
"""The field of a reply that contains an entry for each element, under its number."""

WHY = "why"
"""A field for a few words before the labels, because judges that write them decide better. It is
not parsed."""

Entry = Mapping[str, str]
"""A judge's labels for one element: field → label, with its family's prefix."""

Given = Mapping[str, Mapping[int, Entry] | None]
"""A judge's labels in each pass, by element number; None if some of it stayed unreadable."""


@dataclass(frozen=True, slots=True)
class Field:
    """One label to choose."""

    name: str
    """Its key in a reply: the family, after the block if there is one (`graph_presence`)."""
    block: str
    """What an element is compared with, if a pass has several comparisons."""
    family: str
    """The kind of label, such as `presence`."""
    labels: tuple[str, ...]
    """The labels that are allowed."""
    nothing: str
    """The label when there is no counterpart; empty if the field does not compare."""


class LabelScheme:
    """The fields of each pass, and what each label is worth."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.passes: Mapping[str, tuple[Field, ...]] = {
            name: tuple(_field(key, labels, data["nothing"]) for key, labels in asked.items())
            for name, asked in data["passes"].items()
        }
        self.values: Mapping[str, float] = {
            _full(family, label): worth
            for family, worths in data["values"].items()
            for label, worth in worths.items()
        }
        """The worth of each label; for a field that does not compare, its weight."""

    @classmethod
    def read(cls, package: str) -> LabelScheme:
        """Read `labels.json` of a package."""
        return cls(json.loads((files(package) / "labels.json").read_text("utf-8")))

    @property
    def families(self) -> tuple[str, ...]:
        """The kinds of labels that compare, in their order."""
        every = (field for fields in self.passes.values() for field in fields)
        return tuple(dict.fromkeys(field.family for field in every if field.nothing))

    def fields(self, pass_name: str) -> tuple[Field, ...]:
        """Return the fields of a pass, in the order in which they are asked for."""
        return self.passes[pass_name]

    def worth(self, entry: Entry, name: str) -> float:
        """Return the worth of an entry's field; a missing label is worth nothing."""
        return self.values.get(entry.get(name, ""), 0.0)

    def no_counterpart(self, pass_name: str) -> dict[str, str]:
        """Return the entry of an element without any counterpart."""
        return {field.name: field.nothing for field in self.passes[pass_name] if field.nothing}

    def schema(
        self, pass_name: str, numbers: Sequence[int], word: str, reasons: bool = True
    ) -> dict[str, Any]:
        """Return the JSON schema of a reply on the elements with these numbers."""
        one = object_schema(
            ({WHY: {"type": "string"}} if reasons else {})
            | {
                field.name: {"type": "string", "enum": list(field.labels)}
                for field in self.passes[pass_name]
            }
        )
        return reply_schema(word, {str(number): one for number in numbers}, ELEMENTS)

    def read_entries(
        self, pass_name: str, numbers: Sequence[int], word: str, text: str
    ) -> dict[int, Entry]:
        """Parse a reply, or raise UnreadableError; missing or odd values never become zero."""
        entries = own_entries(text, word, [str(number) for number in numbers], ELEMENTS, once=True)
        asked = self.passes[pass_name]
        return {number: _entry(asked, number, entries[str(number)]) for number in numbers}


def _field(name: str, labels: list[str], nothing: Mapping[str, str | list[str]]) -> Field:
    block, _, family = name.rpartition("_")
    empty = nothing.get(family, ())
    choices = [empty] if isinstance(empty, str) else empty
    none = next((_full(family, label) for label in choices if label in labels), "")
    return Field(name, block, family, tuple(_full(family, label) for label in labels), none)


def _full(family: str, label: str) -> str:
    return f"{family.upper()}_{label}"


def _entry(asked: Sequence[Field], number: int, entry: object) -> Entry:
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
    choices = " or ".join(field.labels)
    if said is None:
        raise UnreadableError(f"element {number} lacks {field.name}: give {choices}")
    for label in field.labels:
        if said in (label, label.removeprefix(f"{field.family.upper()}_")):
            return label
    raise UnreadableError(f"{field.name} of element {number} is {str(said)[:40]!r}: give {choices}")
