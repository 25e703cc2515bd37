"""Edge lists as people write them: CSV, TSV, JSON, or lines with an arrow."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whybench.families.recite.extras.preparing.content_cache import is_writable

SOURCES = frozenset({"source", "cause", "from", "parent", "source_variable", "source variable"})
SINKS = frozenset(
    {"sink", "target", "effect", "to", "child", "sink_variable", "sink variable", "target_variable"}
)
"""Column titles of an edge's two ends, in one case."""

SUFFIXES = (".csv", ".tsv", ".json", ".txt")

_ARROW = re.compile(r"\s*(?:[-–—=]+>|[→⟶➔⇒])\s*")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}


@dataclass(frozen=True, slots=True)
class Entry:
    """An edge as written, and where it stands."""

    where: str
    source: str
    sink: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that a person has to correct."""

    where: str
    text: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why} ({self.text[:80]!r})"


@dataclass(frozen=True, slots=True)
class EdgeList:
    """The entries of a list in order, nodes that it names besides, and what could not be read."""

    entries: tuple[Entry, ...]
    nodes: tuple[str, ...]
    faults: tuple[Fault, ...]


def read_list(text: str, suffix: str = "") -> EdgeList:
    """Read an edge list; the suffix of its file says in which form, else its looks do.

    >>> read_list("rain -> wet road").entries
    (Entry(where='line 1', source='rain', sink='wet road'),)
    """
    text = text.removeprefix("\ufeff")
    if suffix == ".json" or (suffix in ("", ".txt") and text.lstrip()[:1] in ("{", "[")):
        return _json(text)
    if suffix in ("", ".txt") and _ARROW.search(text):
        return _gathered(_arrows(text))
    return _gathered(_table(text, "\t" if suffix == ".tsv" or "\t" in text else ","))


def _gathered(found: Iterator[Entry | Fault]) -> EdgeList:
    items = list(found)
    return EdgeList(
        tuple(item for item in items if isinstance(item, Entry)),
        (),
        tuple(item for item in items if isinstance(item, Fault)),
    )


def _arrows(text: str) -> Iterator[Entry | Fault]:
    for number, line in enumerate(text.splitlines(), 1):
        where = f"line {number}"
        parts = [_unquoted(part) for part in _ARROW.split(_BULLET.sub("", line))]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if len(parts) == 2:
            yield _entry(where, parts, line)
        else:
            yield Fault(
                where, line, f"{len(parts) - 1} arrows where one is needed: cause -> effect"
            )


def _table(text: str, delimiter: str) -> Iterator[Entry | Fault]:
    rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
    columns: tuple[int, int] | None = None
    first = True
    for row in rows:
        where, line = f"line {rows.line_num}", delimiter.join(row)
        if not any(cell.strip() for cell in row):
            continue
        if first:
            first, columns = False, _titles(row)
            if columns is not None:
                continue
        if columns is None and len(row) != 2:
            yield Fault(
                where,
                line,
                f"{len(row)} columns where two are needed: quote names that hold {delimiter!r}",
            )
        elif columns is not None and len(row) <= max(columns):
            yield Fault(where, line, "there are fewer columns than titles")
        else:
            cause, effect = columns or (0, 1)
            yield _entry(where, [_unquoted(row[cause]), _unquoted(row[effect])], line)


def _titles(row: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of both ends if a row holds their titles."""
    titles = [cell.strip().casefold() for cell in row]
    causes = [n for n, title in enumerate(titles) if title in SOURCES]
    effects = [n for n, title in enumerate(titles) if title in SINKS]
    return (causes[0], effects[0]) if len(causes) == len(effects) == 1 else None


def _json(text: str) -> EdgeList:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f"line {getattr(error, 'lineno', 1)}"
        return EdgeList((), (), (Fault(line, text[:80], f"this is no JSON: {error}"),))
    if not is_writable(value):
        why = "a name has half a character (a lone surrogate): type it anew"
        return EdgeList((), (), (Fault("line 1", text[:80], why),))
    nodes: list[str] = []
    if isinstance(value, Mapping):
        given = value.get("nodes", [])
        nodes = [name for name in given if isinstance(name, str)] if isinstance(given, list) else []
        value = value.get("relationships", value.get("edges"))
    if not isinstance(value, list):
        why = "a list of edges is needed, or an object with `relationships` or `edges`"
        return EdgeList((), (), (Fault("line 1", text[:80], why),))
    found = _gathered(_item(item, number) for number, item in enumerate(value, 1))
    return EdgeList(found.entries, tuple(nodes), found.faults)


def _item(item: object, number: int) -> Entry | Fault:
    where, shown = f"entry {number}", json.dumps(item, ensure_ascii=False)
    if isinstance(item, Mapping):
        item = [item.get("source"), item.get("sink", item.get("target"))]
    if not (isinstance(item, list) and len(item) == 2 and all(isinstance(x, str) for x in item)):
        return Fault(
            where, shown, "an edge is an object with source and sink, both texts, or a pair"
        )
    return _entry(where, item, shown)


def _entry(where: str, ends: Sequence[str], line: str) -> Entry | Fault:
    if not all(end.strip() for end in ends):
        return Fault(where, line.strip(), "a name is empty")
    return Entry(where, ends[0], ends[1])


def _unquoted(name: str) -> str:
    name = name.strip()
    if len(name) > 1 and _QUOTES.get(name[0]) == name[-1] and name[0] not in name[1:-1]:
        return name[1:-1]
    return name
