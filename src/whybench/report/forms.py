"""Define the forms of declared tables, figures and remarks, read from a TOML file.

A file holds sections, and each section holds its parts in order. A part names the function that
returns its rows; `filling` does the rest. Texts are templates. A name in braces is replaced by a
word that comes with the rows, and in a remark by a cell of its row. If a function returns several
sets of rows, the part appears once for each. Parts can share fields through a style.
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
    """Rows of one part, and words that fill its texts."""

    frame: pd.DataFrame
    words: Mapping[str, Any] = {}


Given = pd.DataFrame | Shown | Iterable[Row] | Iterable[Shown] | None
"""What a function can return; None or no rows: nothing to show."""


@dataclass(frozen=True, slots=True)
class TableForm:
    """A table."""

    id: str
    title: str
    rows: str
    """Name of the function that returns the rows; words after it are its arguments."""
    columns: tuple[str, ...] = ()
    """Columns to show, in order; empty: all."""
    drop: tuple[str, ...] = ()
    note: str = ""
    missing: str = ""
    """Remark to show if there are no rows."""


@dataclass(frozen=True, slots=True)
class FigureForm:
    """A figure.

    If the rows have columns `low` and `high`, intervals are drawn. A column `published` marks
    published rows.
    """

    id: str
    title: str
    rows: str
    kind: Literal["dots", "lines", "bars", "heat", "plane", "own"]
    """`own`: drawn by the function `draw` alone."""
    alt: str = "{said}."
    """Text alternative; `{said}` is the rows in words, `{published}` the published range."""
    each: str = ""
    """Template that describes one row."""
    by: str = "system"
    """Column by which rows are grouped in words; empty: each row separately."""
    head: str = ""
    """Template that introduces a group; empty: the column `by`."""
    unless: str = ""
    """Rows in which this column is 0 are not described."""
    most: int = 0
    """Largest number of groups described; 0: all."""
    x: str = ""
    y: str = ""
    value: str = ""
    """Column that shades a cell of a heat map."""
    color: str = "system"
    label: str = ""
    x_title: str = ""
    y_title: str = ""
    low: str = "low"
    high: str = "high"
    domain: tuple[float, float] | None = (0, 1)
    order: tuple[str, ...] = ()
    """Order of rows, or of words on the x axis; empty: the word `order`, or as they come."""
    across: tuple[str, ...] = ()
    """Order of a heat map's columns."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """For stacked bars: kind → token of its colour, from left to right."""
    draw: str = ""
    """Function of the form and the rows, for charts that the kinds cannot draw."""
    rules: tuple[str, ...] = ()
    """Names of words whose values get a dashed line."""
    height: int = 0
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    note: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class RemarkForm:
    """A remark, filled for each row."""

    text: str
    rows: str
    tone: Tone = "plain"
    unless: str = ""
    """Column; if set, one remark for all rows, and only if the column is true in none."""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class SectionForm:
    """A section; a subsection without parts is left out."""

    id: str
    title: str
    intro: str = ""
    missing: str = ""
    """Remark to show if no part has rows, in place of the parts' own."""
    parts: tuple[TableForm | FigureForm | RemarkForm, ...] = ()
    children: tuple[SectionForm, ...] = ()


@cache
def read(package: str, name: str) -> SectionForm:
    """Return the section that a file of a package declares, with its subsections."""
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
    """Return a part's form; fields that it lacks come from the style that it names."""
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
