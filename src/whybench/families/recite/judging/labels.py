"""The labels that a judge gives, where each is allowed, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

PassName = Literal["node_precision", "node_recall", "edge_precision", "edge_recall"]
PASSES: tuple[PassName, ...] = ("node_precision", "node_recall", "edge_precision", "edge_recall")
"""Precision judges the answer's elements, recall those of the gold graph."""

NO_MATCH = "PRESENCE_NO_MATCH"
MATCHES = frozenset({"PRESENCE_STRONG_MATCH", "PRESENCE_WEAK_MATCH"})
REVERSED = "DIRECTION_REVERSED"
MISSING = "DIRECTION_MISSING"

Entry = Mapping[str, str]
"""What a judge says of one element: a label, with its family's prefix, for each field."""


@dataclass(frozen=True, slots=True)
class Field:
    """One label to choose."""

    name: str
    """Its key in a reply: the family, behind the block if there is one (`graph_presence`)."""
    block: str
    """`graph` or `text`: what an answer's element is compared with; empty in recall."""
    family: str
    """`presence`, `semantic`, `abstraction`, `direction`, `inference` or `importance`."""
    labels: tuple[str, ...]
    """The labels that are allowed."""
    nothing: str
    """The label when there is no counterpart; empty for importance."""


@cache
def fields(pass_name: PassName) -> tuple[Field, ...]:
    """Return the fields of a pass, in the order in which they are asked for.

    >>> [field.name for field in fields("node_recall")]
    ['importance', 'presence', 'semantic', 'abstraction']
    """
    data = _data()
    return tuple(
        _field(name, labels, data["nothing"]) for name, labels in data["passes"][pass_name].items()
    )


@cache
def values() -> Mapping[str, float]:
    """Return what each label is worth; of importance, its weight.

    >>> values()["INFERENCE_STRETCHED"], values()["IMPORTANCE_CONNECTING"]
    (0.25, 0.5)
    """
    return {
        _full(family, label): worth
        for family, worths in _data()["values"].items()
        for label, worth in worths.items()
    }


def worth(entry: Entry, name: str) -> float:
    """Return what an entry's field is worth; a label that is not there is worth nothing."""
    return values().get(entry.get(name, ""), 0.0)


def no_counterpart(pass_name: PassName) -> dict[str, str]:
    """Return the entry of an element that has no counterpart at all; it says no importance."""
    return {field.name: field.nothing for field in fields(pass_name) if field.nothing}


def _field(name: str, labels: list[str], nothing: Mapping[str, str | list[str]]) -> Field:
    block, _, family = name.rpartition("_")
    empty = nothing.get(family, ())
    choices = [empty] if isinstance(empty, str) else empty
    none = next((_full(family, label) for label in choices if label in labels), "")
    return Field(name, block, family, tuple(_full(family, label) for label in labels), none)


def _full(family: str, label: str) -> str:
    return f"{family.upper()}_{label}"


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (files(__package__ or "") / "labels.json").read_text("utf-8")
    )
    return found
