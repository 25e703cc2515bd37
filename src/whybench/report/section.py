"""What a report is made of: sections with tables, figures and remarks. Plain values, no engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

Tone = Literal["plain", "warning"]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows to read, also written as CSV and Parquet."""

    id: str
    """Name of its files and its anchor: letters, digits and hyphens, unique in a report."""
    title: str
    frame: pd.DataFrame
    """One column per heading; the index is not shown."""
    note: str = ""
    """What a reader must know to read it right."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, its words, and the rows that it draws; also written as SVG and PNG."""

    id: str
    title: str
    alt: str
    """What the picture shows, in words with its main figures, for who cannot see it."""
    chart: Any
    """An Altair chart, without a title and without a theme of its own."""
    frame: pd.DataFrame
    """The rows drawn; shown as a table below the picture."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence or two that a reader should not miss."""

    text: str
    tone: Tone = "plain"


Part = Table | Figure | Remark


@dataclass(frozen=True, slots=True)
class Section:
    """One room of the page."""

    id: str
    title: str
    intro: str = ""
    """One paragraph, plain text."""
    parts: tuple[Part, ...] = ()
    children: tuple[Section, ...] = ()

    def walk(self) -> Iterable[Part]:
        """Yield every part, those of the children after its own."""
        yield from self.parts
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Chapter:
    """An episode that can be opened in the page."""

    id: str
    """Unique in a report."""
    family: str
    suite: str
    system: str
    """Who played."""
    instance: str
    epoch: int
    outcome: str
    headline: float | None
    """The family's headline score."""
    annotated: Mapping[str, Any]
    """`AnnotatedEpisode.to_json()`."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a page shows."""

    title: str
    sections: tuple[Section, ...]
    chapters: tuple[Chapter, ...] = ()
    told: str = ""
    """How many episodes there are, and which of them can be opened."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Short facts for the foot of the page: version, time of making, number of logs."""
    systems: tuple[str, ...] = ()
    """Who played, in the order in which colours and shapes are given out."""
