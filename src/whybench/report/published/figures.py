"""Read published figures: every cell of the five papers' result tables, as printed.

The CSV files and their sources are in `figures_of_papers`. `mapping.json` there states which of our
runs and metrics a row corresponds to.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import as_file, files
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from whybench.report.published.row_match import Measure, matches, measure_of, rules

FOLDER = files("whybench.report.published") / "figures_of_papers"

FAMILIES = tuple(sorted(f.name[:-4] for f in FOLDER.iterdir() if f.name.endswith(".csv")))

_SHARES = {"percent": 100.0, "fraction": 1.0}
"""Unit → value of the whole."""

_REPEATED = ("duplicate of", "repeats Table")
"""Texts in the notes of rows that another table also has."""

_CHOSEN = "best_of_two_templates"
"""Condition of rows that are selected from two other tables by their result."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of a published table."""

    family: str
    table: str
    suite: str
    """The paper's suite in our spelling; `row_match.runs_of` gives ours."""
    condition: str
    system: str
    """The same name in all tables of a paper (`row_match.Rules`); empty for dataset statistics."""
    system_kind: str
    metric: str
    value: float | None
    """As printed, in its own unit; None if the paper shows no figure."""
    unit: str
    n: int | None
    """Episodes behind it; None if the paper does not state them."""
    note: str
    printed: str
    """The printed text; empty if the paper shows no figure."""
    repeat: bool = False
    """Whether another row also has this figure; figures then leave it out."""

    @property
    def suppressed(self) -> bool:
        """Whether the paper suppresses the figure, because its denominator is 1 to 5."""
        return self.note.startswith("suppressed")

    @property
    def undefined(self) -> bool:
        """Whether the denominator is 0, or the cell is not applicable."""
        return self.note.startswith("undefined")

    @property
    def share(self) -> float | None:
        """The value as a fraction of 1; None if it is not a share."""
        whole = _SHARES.get(self.unit)
        return None if self.value is None or whole is None else self.value / whole

    @property
    def pooled(self) -> bool:
        """Whether the figure combines several systems."""
        return self.system.endswith("pooled") or self.system.startswith(("Avg", "all "))

    @property
    def measure(self) -> Measure:
        """Our metric for this figure."""
        return measure_of(self.family, self.suite, self.condition, self.metric)

    @property
    def comparable(self) -> float | None:
        """The value on the scale of our metric; counts of episodes and per cent become shares."""
        if self.value is not None and self.measure.of:
            return self.value / self.measure.of
        return self.value if self.unit not in _SHARES else self.share


COLUMNS = (
    *(field.name for field in fields(Cell)), "suppressed", "undefined", "share", "pooled"
)  # fmt: skip
"""Columns of `Published.frame`."""


@dataclass(frozen=True, slots=True)
class Published:
    """The published figures; a file is read when it is first needed.

    >>> {cell.unit for cell in Published().cells("causallink", metric="accuracy")}
    {'fraction'}
    """

    folder: Path | None = None
    """Folder of the CSV files; None: those of the package."""

    def cells(
        self,
        family: str,
        *,
        suite: str | None = None,
        metric: str | None = None,
        system: str | None = None,
        table: str | None = None,
        condition: str | None = None,
    ) -> tuple[Cell, ...]:
        """Return the cells of a family in the order of its file; None matches any value."""
        asked = {
            "suite": suite,
            "metric": metric,
            "system": system,
            "table": table,
            "condition": condition,
        }
        wanted = {name: text for name, text in asked.items() if text is not None}
        return tuple(
            cell
            for cell in _read(self.folder, family)
            if all(getattr(cell, name) == text for name, text in wanted.items())
        )

    def frame(self, family: str, **wanted: str | None) -> pd.DataFrame:
        """Return the same cells as a data frame, one row per cell."""
        return framed(self.cells(family, **wanted))

    def beside(
        self,
        run_suite: str,
        args: Mapping[str, Any],
        metric: str | None = None,
        *,
        parts: bool = False,
        strict: bool = False,
    ) -> tuple[Cell, ...]:
        """Return the cells that correspond to a run and to our metric, without repeats.

        `args` and `strict` are those of `row_match.matching`. With `parts`, return instead the
        cells that correspond to a part of the run; `row_match.matches` states which part.
        """
        family = run_suite.partition("/")[0]
        if family not in FAMILIES:
            return ()
        pairs = {
            (found.suite, found.condition)
            for found, own in matches(run_suite, args, strict=strict)
            if (own.where is not None) == parts
        }
        return tuple(
            cell
            for cell in _read(self.folder, family)
            if (cell.suite, cell.condition) in pairs
            and not cell.repeat
            and (cell.measure.metric == metric if metric else cell.measure.metric)
        )


def framed(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return cells as a data frame; missing values are NaN, or NA for `n`."""
    rows = [{name: getattr(cell, name) for name in COLUMNS} for cell in cells]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"value": float, "share": float, "n": "Int64"})


@cache
def _read(folder: Path | None, family: str) -> tuple[Cell, ...]:
    if family not in FAMILIES:
        raise ValueError(
            f"Family {family!r} has no published figures. Choose one of: {', '.join(FAMILIES)}."
        )
    with as_file(FOLDER if folder is None else folder) as place:
        text = (place / f"{family}.csv").read_text("utf-8")
    return tuple(_once(_cell(row) for row in csv.DictReader(StringIO(text))))


def _cell(row: Mapping[str, str]) -> Cell:
    plain = {name: text for name, text in row.items() if name not in ("value", "n")}
    plain["system"] = rules(row["family"]).systems.get(row["system"], row["system"])
    return Cell(
        **plain,
        value=float(row["value"]) if row["value"] else None,
        n=int(row["n"]) if row["n"] else None,
        printed=row["value"],
        repeat=row["condition"] == _CHOSEN or any(text in row["note"] for text in _REPEATED),
    )


def _once(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Mark cells that an earlier table has with the same value; if values differ, keep both."""
    seen: set[tuple[object, ...]] = set()
    for cell in cells:
        where = (cell.suite, cell.condition, cell.system, cell.metric)
        what = (cell.value, cell.suppressed, cell.undefined)
        yield replace(cell, repeat=cell.repeat or (*where, *what) in seen)
        seen.add((*where, *what))
