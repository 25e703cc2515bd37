"""Define the values of a report: sections with tables, figures and remarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

if TYPE_CHECKING:
    from whybench.report.front.model import Front

TITLE = "WhyBench report"
"""Title of a report without one of its own."""

Tone = Literal["plain", "warning"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, also written as CSV and Parquet."""

    id: str
    """Name of its files and anchor: letters, digits and hyphens, unique in a report."""
    title: str
    frame: pd.DataFrame
    """One column per heading; the index is not shown."""
    note: str = ""
    """Caption: what is shown and how to read it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its texts and the rows that it draws; also written as SVG and PNG."""

    id: str
    title: str
    alt: str
    """Text alternative with the main numbers, for readers who cannot see the chart."""
    chart: Any
    """An Altair chart without a title and without a theme."""
    frame: pd.DataFrame
    """The rows drawn; shown as a table below the chart."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """One or two sentences that a reader should not miss."""

    text: str
    tone: Tone = "plain"


Part = Table | Figure | Remark


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the page."""

    id: str
    title: str
    intro: str = ""
    """One paragraph, plain text."""
    parts: tuple[Part, ...] = ()
    children: tuple[Section, ...] = ()

    def walk(self) -> Iterable[Part]:
        """Yield every part: its own, then those of its subsections."""
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
    """Name of the run's system."""
    instance: str
    epoch: int
    outcome: str
    headline: float | None
    """The family's headline score."""
    annotated: Mapping[str, Any]
    """`AnnotatedEpisode.to_json()`."""
    kind: str = ""
    """What the answer rests on: `understood`, `lucky`, …; empty if nothing is known."""


@dataclass(frozen=True, slots=True)
class Report:
    """Content of a page."""

    title: str
    sections: tuple[Section, ...]
    chapters: tuple[Chapter, ...] = ()
    told: str = ""
    """Text on how many episodes there are and which can be opened."""
    about: Mapping[str, str] = field(default_factory=dict)
    """Short facts for the foot of the page: version, number of logs and samples."""
    systems: tuple[str, ...] = ()
    """All systems, in the order in which they get colours and shapes."""
    front: Front | None = None
    """What stands before the sections, which are then folded; None for sections alone."""
