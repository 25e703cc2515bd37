"""Declared tables, figures and remarks: one form each, read from a TOML file.

A file holds sections, and in each its parts in order. A part names the function that gives its
rows: code makes rows, `filling` does the rest. Texts are templates: a name in braces is filled
with a word that comes with the rows, in a remark with a cell of its row. A part whose function
gives several sets of rows stands there once for each. What parts share may stand in a style.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import pandas as pd

from whybench.report.section import Tone

Row = dict[str, Any]


class Shown(NamedTuple):
    """The rows of one part, and words to fill its texts with."""

    frame: pd.DataFrame
    words: Mapping[str, Any] = {}


Given = pd.DataFrame | Shown | Iterable[Row] | Iterable[Shown] | None
"""What a function may answer; nothing at all means that there is nothing to show."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """A table."""

    id: str
    title: str
    rows: str
    """Name of the function that gives the rows; words after it are handed to it."""
    columns: tuple[str, ...] = ()
    """Columns to show, in order; none: all."""
    drop: tuple[str, ...] = ()
    note: str = ""
    missing: str = ""
    """What is said if there are no rows."""


@dataclass(frozen=True, slots=True)
class FigureForm:
    """A figure.

    Intervals are drawn from columns `low` and `high`, published rows are told by a column
    `published`, where there are such columns.
    """

    id: str
    title: str
    rows: str
    kind: Literal["dots", "lines", "bars", "heat", "plane", "own"]
    """Own: drawn by the function `draw` alone."""
    alt: str = "{said}."
    """May hold `{said}`, the rows in words, and `{published}`, how far published ones reach."""
    each: str = ""
    """How a row is said."""
    by: str = "system"
    """Rows that share this column are said together; empty: each by itself."""
    head: str = ""
    """How such rows are introduced; empty: by the column itself."""
    unless: str = ""
    """Rows in which this column is 0 are not said."""
    most: int = 0
    """So many groups are said at most; 0: all."""
    x: str = ""
    y: str = ""
    value: str = ""
    """What shades a cell of a heat map."""
    color: str = "system"
    label: str = ""
    x_title: str = ""
    y_title: str = ""
    low: str = "low"
    high: str = "high"
    domain: tuple[float, float] | None = (0, 1)
    order: tuple[str, ...] = ()
    """Order of rows, or of words on the axis across; empty: as they come, or the word `order`."""
    across: tuple[str, ...] = ()
    """Order of a heat map's columns."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Of stacked bars: kind → token of its colour, from left to right."""
    draw: str = ""
    """A function of the form, rows and words, for what the kinds cannot draw."""
    rules: tuple[str, ...] = ()
    """Words that hold values at which a dashed line is drawn."""
    height: int = 0
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    note: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class RemarkForm:
    """A remark for each row."""

    text: str
    rows: str
    tone: Tone = "plain"
    unless: str = ""
    """A column: one remark for all rows, if there are any and the column holds of none."""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class SectionForm:
    """A section: one that has nothing to show is left out."""

    id: str
    title: str
    intro: str = ""
    missing: str = ""
    """What is said if no part has rows, instead of what is missing in each."""
    parts: tuple[TableForm | FigureForm | RemarkForm, ...] = ()
    children: tuple[SectionForm, ...] = ()


@cache
def read(package: str, name: str) -> SectionForm:
    """Return the section that a file of a package declares, with those in it."""
    data = tomllib.loads((files(package) / name).read_text("utf-8"))
    return _section(data, data.get("style", {}))


def _section(data: Mapping[str, Any], styles: Mapping[str, Mapping[str, Any]]) -> SectionForm:
    plain = {n: v for n, v in data.items() if n not in ("part", "section", "style")}
    return SectionForm(
        **plain,
        parts=tuple(_part(part, styles) for part in data.get("part", ())),
        children=tuple(_section(one, styles) for one in data.get("section", ())),
    )


def _part(
    data: Mapping[str, Any], styles: Mapping[str, Mapping[str, Any]]
) -> TableForm | FigureForm | RemarkForm:
    """Return a part's form; what it does not say itself may stand in a style that it names."""
    said = {**styles.get(data.get("style", ""), {}), **data}
    frozen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in said.items()
        if name != "style"
    }
    if frozen.get("domain") == ():
        frozen["domain"] = None
    form = RemarkForm if "text" in said else FigureForm if "kind" in said else TableForm
    return form(**frozen)
