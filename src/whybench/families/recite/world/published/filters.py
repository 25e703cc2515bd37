"""Choose among published texts: by field, explicitness, size, density, cycles, date and length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from whybench.causal.graph import Graph
from whybench.families.recite.world.published.texts import Released, explicitness

Kind = Literal["lenient", "strict"]
"""Which share of mentioned nodes is meant: with implicit mentions, or without."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from low to high, both included.

    >>> 5 in Range(5, 30), 5 in Range(high=4), 5 in Range()
    (True, False, True)
    """

    low: float = -math.inf
    high: float = math.inf

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


ANY = Range()


@dataclass(frozen=True, slots=True)
class Filter:
    """What a text must be like to be kept."""

    domains: tuple[str, ...] = ()
    """Any of these, whatever their case; empty: all."""
    explicitness: Range = ANY
    """A text without labels is left out if a range is set."""
    explicitness_kind: Kind = "lenient"
    nodes: Range = ANY
    edges: Range = ANY
    density: Range = ANY
    length: Range = ANY
    """In characters."""
    cyclic: bool | None = None
    """Whether the graph must have a cycle, or must have none."""
    dated_from: str = ""
    """First day that is kept; a text without a date is left out if a day is set."""
    dated_to: str = ""
    """Last day that is kept."""


def density(record: Released) -> float:
    """Return edges over ordered pairs of nodes."""
    n = len(record.nodes)
    return len(record.edges) / (n * (n - 1))


def is_cyclic(record: Released) -> bool:
    """Return whether a graph has a cycle."""
    return not Graph.from_edges(len(record.nodes), record.edges).is_acyclic()


def kept(records: Iterable[Released], wanted: Filter) -> tuple[Released, ...]:
    """Return the records that a filter keeps, in their order."""
    return tuple(record for record in records if _keeps(wanted, record))


def _keeps(wanted: Filter, record: Released) -> bool:
    fields = {domain.casefold() for domain in record.domains}
    return (
        (not wanted.domains or any(domain.casefold() in fields for domain in wanted.domains))
        and len(record.nodes) in wanted.nodes
        and len(record.edges) in wanted.edges
        and density(record) in wanted.density
        and len(record.text) in wanted.length
        and _explicit_enough(wanted, record)
        and _in_time(wanted, record.date)
        and (wanted.cyclic is None or is_cyclic(record) == wanted.cyclic)
    )


def _explicit_enough(wanted: Filter, record: Released) -> bool:
    if wanted.explicitness == ANY:
        return True
    shares = explicitness(record)
    return shares is not None and shares[wanted.explicitness_kind == "strict"] in (
        wanted.explicitness
    )


def _in_time(wanted: Filter, day: str) -> bool:
    """Return whether a date, or the whole month or year, is within the range of days."""
    if not (wanted.dated_from or wanted.dated_to):
        return True
    if not day:
        return False
    first, last = (day + rest[len(day) - 4 :] for rest in ("-01-01", "-12-31"))
    return first >= wanted.dated_from and (not wanted.dated_to or last <= wanted.dated_to)


# From a short text.

EXAMPLE = "domain=Medicine|Education,nodes=5..30,explicitness=0.5..1,cyclic=false,date=2024-01-01.."


def parse(text: str) -> Filter:
    """Read a filter from a short text.

    Parts are separated by commas, domains by `|`; a range is `low..high`, either side may be empty.

    >>> parse("nodes=5..30,cyclic=true").nodes
    Range(low=5.0, high=30.0)
    """
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        key, given, value = (piece.strip() for piece in part.partition("="))
        if not given or not value:
            raise ValueError(f"{part!r} is not a part of a filter. Write it like {EXAMPLE}.")
        if key not in _READERS:
            raise ValueError(f"Unknown filter {key!r}. Try one of {', '.join(_READERS)}.")
        if key in seen:
            raise ValueError(f"{key} is given twice. Give it once.")
        seen.add(key)
        found |= _READERS[key](key, value)
    return Filter(**found)


def _domains(_: str, value: str) -> dict[str, Any]:
    named = tuple(name.strip() for name in value.split("|") if name.strip())
    if not named:
        raise ValueError("domain is empty. Write domain=Medicine or domain=Medicine|Education.")
    return {"domains": named}


def _range(key: str, value: str) -> dict[str, Any]:
    low, high = _ends(value)
    try:
        found = Range(float(low) if low else -math.inf, float(high) if high else math.inf)
    except ValueError:
        found = Range(1, 0)
    if not found.low <= found.high:  # also what is no number
        raise ValueError(
            f"{key}={value} is not a range. Write {key}=low..high, the lower number first."
        )
    return {key: found}


def _dates(key: str, value: str) -> dict[str, Any]:
    ends = _ends(value)
    try:
        first, last = (date.fromisoformat(end).isoformat() if end else "" for end in ends)
    except ValueError:
        first, last = "1", "0"
    if last and first > last:
        raise ValueError(
            f"{key}={value} is not a range of days. Write {key}=2023-01-01..2024-12-31, "
            f"the earlier day first; either may be omitted."
        )
    return {"dated_from": first, "dated_to": last}


def _ends(value: str) -> tuple[str, str]:
    """Split a range; a single value is a range of its own."""
    low, dots, high = value.partition("..")
    return (low.strip(), high.strip()) if dots else (value, value)


def _kind(key: str, value: str) -> dict[str, Any]:
    if value not in ("lenient", "strict"):
        raise ValueError(f"{key}={value} is unknown. Write lenient or strict.")
    return {key: value}


def _truth(key: str, value: str) -> dict[str, Any]:
    if value.lower() not in ("true", "false"):
        raise ValueError(f"{key}={value} is unknown. Write true or false.")
    return {key: value.lower() == "true"}


_READERS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "domain": _domains,
    "explicitness": _range,
    "explicitness_kind": _kind,
    "nodes": _range,
    "edges": _range,
    "density": _range,
    "length": _range,
    "cyclic": _truth,
    "date": _dates,
}
