"""The published texts: check records and turn them into hidden systems."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from math import isfinite
from typing import Any

from whybench.families.recite.answer import tidy
from whybench.families.recite.world.published.fetch import fetch
from whybench.families.recite.world.published.hub import means
from whybench.families.recite.world.world import Edge, Mention, Names, Node, View, World

MENTIONS: Mapping[int, Mention] = {1: "explicit", 2: "implicit", 3: "absent"}
"""What the labels of explicitness mean."""


@dataclass(frozen=True, slots=True)
class Released:
    """A published text with its graph."""

    id: int
    title: str
    source: str
    url: str
    domains: tuple[str, ...]
    text: str
    abstract: str
    date: str
    """Day of publication (or its month or year, if no more is known); empty if unknown."""
    nodes: tuple[str, ...]
    """In alphabetical order, as the ids of the name-assisted task count them."""
    edges: tuple[tuple[int, int], ...]
    """As pairs of node indices: sorted, none twice, no self loops."""
    mention: tuple[Mention | None, ...]
    """For each node; None if it has no label."""
    stored_explicitness: float | None
    """As stored; the formula is not documented, so see `explicitness`."""
    duplicates: int
    """Number of repeated entries in the edge list."""
    self_loops: int
    """Number of entries that were dropped because both ends are the same."""
    origin: str = ""
    """Repository and commit of a text from the hub."""


@lru_cache(maxsize=8)
def records(source: str) -> tuple[Released, ...]:
    """Read the texts from the hub, a Parquet, JSONL or JSON file, or a folder that holds one."""
    name, rows = fetch(source)
    found = _read(name, rows)
    return tuple(replace(one, origin=name) for one in found) if means(source) else found


def explicitness(record: Released) -> tuple[float, float] | None:
    """Return the lenient and the strict share of nodes that a text mentions.

    Lenient counts explicit and implicit mentions, strict only explicit ones. Nodes without a label
    are left out of both counts; without any label there is nothing to say.
    """
    labels = [label for label in record.mention if label is not None]
    if not labels:
        return None
    explicit = labels.count("explicit")
    return (explicit + labels.count("implicit")) / len(labels), explicit / len(labels)


def world(record: Released, names: Names) -> World:
    """Build the hidden system of a text; how the text gives each edge is not known.

    A node without a label counts as explicit if its name occurs in the text, otherwise as implicit.
    A node without an edge is left out, because the release counts the ends of edges.
    """
    text = record.text.casefold()
    joined = sorted({end for pair in record.edges for end in pair})
    place = {old: new for new, old in enumerate(joined)}
    labelled = [(record.nodes[v], record.mention[v]) for v in joined]
    nodes = tuple(
        Node(name, label or ("explicit" if name.casefold() in text else "implicit"))
        for name, label in labelled
    )
    told = tuple(node.name for node in nodes) if names == "told" else ()
    return World(
        view=View(record.text, len(nodes), names, told, released=True),
        nodes=nodes,
        edges=tuple(Edge(place[cause], place[effect]) for cause, effect in record.edges),
        cluster=f"recast-{record.id}",
        title=record.title,
        domains=record.domains,
        date=record.date,
        origin=record.origin,
    )


# From rows to records.


def _read(name: str, rows: Sequence[Any]) -> tuple[Released, ...]:
    found: dict[int, Released] = {}
    for number, row in enumerate(rows, 1):
        place = f"{name}, record {number}"
        if not isinstance(row, Mapping):
            raise ValueError(f"{place}: a record must be an object with id, nodes and edges")
        try:
            record = _record(row)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{place} (id {row.get('id')!r}): {error}") from error
        if record.id in found:
            raise ValueError(f"{place}: id {record.id} occurs twice. Give each text its own id.")
        found[record.id] = record
    if not found:
        raise ValueError(f"{name} contains no records. Download it again.")
    return tuple(found.values())


def _record(row: Mapping[str, Any]) -> Released:
    if type(row.get("id")) is not int:
        raise ValueError("`id` must be an integer")
    text = _text(row, "input_text")
    if not text.strip():
        raise ValueError("`input_text` must contain the text")
    nodes = tuple(sorted({_name(item, "nodes") for item in _listed(row, "nodes")}))
    if len(nodes) < 2:
        raise ValueError("`nodes` must name at least two nodes")
    pairs = list(_pairs(row, {name: v for v, name in enumerate(nodes)}))
    proper = [(cause, effect) for cause, effect in pairs if cause != effect]
    if not proper:
        raise ValueError("`edges` must connect at least two different nodes")
    labels = _labels(row)
    stored = float(row["explicitness"]) if row.get("explicitness") is not None else None
    return Released(
        id=row["id"],
        title=_text(row, "title"),
        source=_text(row, "source"),
        url=_text(row, "url"),
        domains=tuple(_name(item, "domains") for item in _listed(row, "domains")),
        text=text,
        abstract=_text(row, "abstract"),
        date=_day(row.get("publication_date")),
        nodes=nodes,
        edges=tuple(sorted(set(proper))),
        mention=tuple(labels.get(name) for name in nodes),
        stored_explicitness=stored if stored is not None and isfinite(stored) else None,
        duplicates=len(proper) - len(set(proper)),
        self_loops=len(pairs) - len(proper),
    )


def _pairs(row: Mapping[str, Any], known: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Yield the entries of the edge list; an end may be called `target` or `sink`."""
    for item in _listed(row, "edges"):
        if not isinstance(item, Mapping):
            raise ValueError("every entry of `edges` must be an object with source and target")
        end = item.get("target") if item.get("sink") is None else item["sink"]
        ends = (_name(item.get("source"), "edges"), _name(end, "edges"))
        for name in ends:
            if name not in known:
                raise ValueError(
                    f"`edges` uses {name!r}, which is not in `nodes`. Correct one of them."
                )
        yield known[ends[0]], known[ends[1]]


def _labels(row: Mapping[str, Any]) -> dict[str, Mention]:
    """Return the labels by name; columns of a table may hold other texts' names, without labels."""
    given = _decoded(row, "node_explicitness")
    if given is None:
        return {}
    pairs = dict(given).items()
    for name, label in pairs:
        if label is not None and label not in MENTIONS:
            raise ValueError(f"`node_explicitness` of {name!r} must be 1, 2 or 3, not {label!r}")
    return {tidy(str(name)): MENTIONS[label] for name, label in pairs if label is not None}


def _decoded(row: Mapping[str, Any], field: str) -> Any:
    """Return a field that may be given as JSON text."""
    value = row.get(field)
    if not isinstance(value, str) or (field == "domains" and not value.lstrip().startswith("[")):
        return value or None
    try:
        return json.loads(value) if value.strip() else None
    except ValueError as error:
        raise ValueError(f"`{field}` is not JSON ({error})") from error


def _listed(row: Mapping[str, Any], field: str) -> list[Any]:
    value = _decoded(row, field)
    if field == "domains" and (value is None or isinstance(value, str)):
        return [] if value is None else [value]
    if not isinstance(value, list):
        raise ValueError(f"`{field}` must be a list, or a JSON text of one")
    return value


def _name(value: object, field: str) -> str:
    name = tidy(value) if isinstance(value, str) else ""
    if not name:
        raise ValueError(f"`{field}` must contain names, not {value!r}")
    return name


def _text(row: Mapping[str, Any], field: str) -> str:
    value = row.get(field)
    return value if isinstance(value, str) else ""


def _day(value: object) -> str:
    """Return a date as YYYY-MM-DD, YYYY-MM or YYYY; empty if it is none of them."""
    text = value.isoformat() if isinstance(value, date) else value
    if not isinstance(text, str):
        return ""
    for length, rest in ((10, ""), (7, "-01"), (4, "-01-01")):
        try:
            return date.fromisoformat(text.strip()[:length] + rest).isoformat()[:length]
        except ValueError:
            continue
    return ""
