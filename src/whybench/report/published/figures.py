"""Published figures: every cell of the five papers' result tables, as printed.

The CSV files, and where they come from, are in `figures_of_papers`. `mapping` says which of our
runs and metrics a row belongs to.
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
"""Unit → what a whole is."""

_REPEATED = ("duplicate of", "repeats Table")
"""What notes say of rows that stand elsewhere too."""

_CHOSEN = "best_of_two_templates"
"""Rows that are picked from two other tables by their result."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of a published table."""

    family: str
    table: str
    suite: str
    """The paper's suite in our spelling; `mapping.runs_of` gives ours."""
    condition: str
    system: str
    """One name in all tables of a paper, see `mapping.Rules`; empty for a statistic of the data."""
    system_kind: str
    metric: str
    value: float | None
    """As printed, in its own unit; none where the paper shows no figure."""
    unit: str
    n: int | None
    """Episodes behind it, where they are told."""
    note: str
    printed: str
    """The figure's own text, empty where the paper shows none."""
    repeat: bool = False
    """Whether another row has this figure too: leave it out of a picture."""

    @property
    def suppressed(self) -> bool:
        """Whether the paper hides the figure, because its denominator is 1 to 5."""
        return self.note.startswith("suppressed")

    @property
    def undefined(self) -> bool:
        """Whether there is nothing to divide by, or the cell is not applicable."""
        return self.note.startswith("undefined")

    @property
    def share(self) -> float | None:
        """The value as a fraction of 1; none for what is no share."""
        whole = _SHARES.get(self.unit)
        return None if self.value is None or whole is None else self.value / whole

    @property
    def pooled(self) -> bool:
        """Whether the figure is of several systems together."""
        return self.system.endswith("pooled") or self.system.startswith(("Avg", "all "))

    @property
    def measure(self) -> Measure:
        """What the figure is called here."""
        return measure_of(self.family, self.suite, self.condition, self.metric)

    @property
    def comparable(self) -> float | None:
        """The value on the scale of our metric: counts of episodes and per cent become shares."""
        if self.value is not None and self.measure.of:
            return self.value / self.measure.of
        return self.value if self.unit not in _SHARES else self.share


COLUMNS = (
    *(field.name for field in fields(Cell)), "suppressed", "undefined", "share", "pooled"
)  # fmt: skip
"""Columns of `Published.frame`."""


@dataclass(frozen=True, slots=True)
class Published:
    """The published figures; files are read when they are first asked for.

    >>> {cell.unit for cell in Published().cells("causallink", metric="accuracy")}
    {'fraction'}
    """

    folder: Path | None = None
    """Where the CSV files are; none: those of the package."""

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
        """Return the cells of a family in the order of its file; none means any."""
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
        """Return the same as a data frame, a row per cell."""
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
        """Return the cells that belong beside a run, each once, by the name of our metric.

        `args` and `strict` are those of `mapping.matching`. With `parts`, instead, the cells that
        hold for a part of the run: `mapping.matches` says for which.
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
    """Return cells as a data frame; what is not there is NaN, or NA for `n`."""
    rows = [{name: getattr(cell, name) for name in COLUMNS} for cell in cells]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"value": float, "share": float, "n": "Int64"})


@cache
def _read(folder: Path | None, family: str) -> tuple[Cell, ...]:
    if family not in FAMILIES:
        raise ValueError(f"no published figures of {family!r}: try {', '.join(FAMILIES)}")
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
    """Mark cells that an earlier table has with the same value; where two differ, both stay."""
    seen: set[tuple[object, ...]] = set()
    for cell in cells:
        where = (cell.suite, cell.condition, cell.system, cell.metric)
        what = (cell.value, cell.suppressed, cell.undefined)
        yield replace(cell, repeat=cell.repeat or (*where, *what) in seen)
        seen.add((*where, *what))
