"""Fill a paper's table: the user's rows first, the published rows below."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from whybench.report.entries import printed
from whybench.report.naming import displayed
from whybench.report.papers.model import Column, Group, Item, Paper, cells, place
from whybench.report.published.figures import Cell
from whybench.report.published.row_match import (
    Counterpart,
    Measure,
    OwnRun,
    differences,
    measure_of,
    runs_of,
)
from whybench.report.published.setup_differences import manner_of
from whybench.report.runs import Run
from whybench.report.section import Figure, Part, Table
from whybench.report.view import View

MARK = " (new)"
"""Follows the name of a user's system."""

COUNT = "n"
"""Metric of a column that counts episodes."""

COUNTED = "n_"
"""Start of the name of a metric that counts episodes with a property."""

SPREAD = "_std"
"""End of the name of a metric that is a standard deviation over instances."""

Row = dict[str, Any]


@dataclass(slots=True)
class Filled:
    """A table with the paper's columns."""

    item: Item
    paper: Paper
    columns: list[str]
    rows: list[dict[str, str]]
    """The user's rows, marked, then the published ones."""
    notes: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    """Parts of the report that show a figure."""
    new: int = 0
    """Number of the user's rows."""

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame."""
        return pd.DataFrame(self.rows, columns=self.columns)

    def table(self) -> Table:
        """Return the table as a part of a report."""
        title = f"{self.item.label} of the paper: {self.item.title}"
        return Table(self.item.id, title, self.frame, " ".join(self.notes))


Section = Callable[[View], Any]


def fill(paper: Paper, item: Item, view: View | None) -> Filled:
    """Return a table or figure with the rows of a view; None: published rows alone."""
    laid = paper.laid(item)
    labels = list(dict.fromkeys(name for group in laid.groups for name in group.labels))
    columns = [item.system or "Model", *labels, *(column.name for column in laid.columns)]
    made = Filled(item, paper, columns, [])
    if laid.rows and (view is not None or not paper.wanted(item)):
        own = paper.function(laid.rows)(view, laid)
        made.rows += [_shown(row, laid, columns) for row in own]
    elif view is not None:
        made.rows += _own(view, laid, made.notes)
    made.new = len(made.rows)
    if view is not None and item.part:
        made.parts = _parts(view, item.part)
    made.rows += _published(laid)
    if item.reason:
        made.notes.insert(0, item.reason)
    made.notes = list(dict.fromkeys(made.notes))
    return made


def _parts(view: View, wanted: Sequence[str]) -> list[Part]:
    """Return the parts of the family's section whose ids start with one of the texts."""
    writer: Section | None = view.family.capability("report")
    if writer is None:
        return []
    return [
        part
        for part in writer(view).walk()
        if isinstance(part, Table | Figure) and part.id.startswith(tuple(wanted))
    ]


# The user's rows.


def _own(view: View, item: Item, notes: list[str]) -> list[dict[str, str]]:
    rows = []
    models = dict.fromkeys(run.model for run in view.runs)
    for model in models:
        runs = [run for run in view.runs if run.model == model]
        for group in item.groups:
            row: dict[str, str] = {}
            found = False
            for column in item.columns:
                values = [_cell(view, runs, item, column, group, m, notes) for m in column.metric]
                found = found or any(value is not None for value in values)
                row[column.name] = column.sep.join("–" if v is None else v for v in values)
            if found:
                name = {item.system or "Model": displayed(model) + MARK}
                rows.append({**name, **group.labels, **row})
    return rows


def _cell(
    view: View,
    runs: Sequence[Run],
    item: Item,
    column: Column,
    group: Group,
    metric: str,
    notes: list[str],
) -> str | None:
    """Return one figure of a system, or None; a note then says why."""
    suite, condition = place(column, group)
    theirs = runs_of(item.family, suite, condition)
    counts = metric == COUNT
    metric = _first(item) if counts else metric
    base = metric.removesuffix(SPREAD)
    measure = _measure(item.family, suite, condition, metric, base)
    if measure.none and metric.startswith(COUNTED):
        measure, counts = _measure(item.family, suite, condition, "", metric[2:]), True
    if measure.none or theirs.none:
        notes.append(f"{column.name}: {measure.none or theirs.none}.")
        return None
    run, own, differs = _chosen(runs, theirs)
    if run is None or own is None:
        return None
    if differs:
        notes.append(
            f"{displayed(run.model)} differs from the paper's run in {', '.join(differs)}."
        )
    if measure.caveat:
        notes.append(f"{column.name}: {measure.caveat}.")
    if theirs.caveat:
        notes.append(f"{' '.join(group.labels.values()) or suite}: {theirs.caveat}.")
    where = None if own.where is None else own.where.mask(view.joined(run))
    found = view.estimate(run, measure.metric, where)
    if counts:
        return str(found.n if metric == _first(item) else round(found.estimate * found.n))
    value = found.estimate
    if metric != base:
        value = _spread(run, measure.metric, where)
    if measure.of:
        value *= found.n  # the paper counts episodes
    else:
        value *= 100.0 if _unit(item, metric) == "percent" else 1.0
    return None if math.isnan(value) else f"{value:.{_digits(item, column, metric)}f}"


def _measure(family: str, suite: str, condition: str, metric: str, base: str) -> Measure:
    """Return our metric: as the mapping says, or a metric that has our name.

    A standard deviation has the metric of its mean.
    """
    for name in dict.fromkeys((base, metric)):
        try:
            return measure_of(family, suite, condition, name)
        except ValueError:
            continue  # the paper's table is not in the CSV files
    return Measure(metric=base)


def _chosen(
    runs: Sequence[Run], theirs: Counterpart
) -> tuple[Run | None, OwnRun | None, tuple[str, ...]]:
    """Return the run that comes closest to the paper's, the newest of the largest."""
    found = []
    for place_, own in enumerate(theirs.runs):
        for run in runs:
            if run.suite != own.suite or run.evidence != "own":
                continue
            try:
                differs = differences(own, manner_of(run))
            except ValueError:
                continue  # parameters of another version
            found.append((len(differs), place_, -len(run.frame), run, own, differs))
    kept = [one for one in found if not set(one[5]) & HARD]
    if not kept:
        return None, None, ()
    best = min(kept, key=lambda one: one[:3])
    return best[3], best[4], best[5]


HARD = {"regime", "profile", "suite", "protocol"}
"""Arguments in which a run must not differ, because the figures would be of another experiment."""


def _spread(run: Run, metric: str, where: pd.Series | None) -> float:
    rows = run.frame if where is None else run.frame[where.to_numpy(bool)]
    means = rows.dropna(subset=[metric]).groupby("instance")[metric].mean()
    return float(means.std(ddof=1)) if len(means) > 1 else math.nan


def _shown(row: Mapping[str, Any], item: Item, columns: Iterable[str]) -> dict[str, str]:
    """Return a row of a family's function as text."""
    known = {column.name: column for column in item.columns}
    told = {}
    for name in columns:
        value = row.get(name)
        column = known.get(name)
        if isinstance(value, list | tuple) and column is not None:
            texts = [_text(v, item, column, m) for v, m in zip(value, column.metric, strict=True)]
            told[name] = column.sep.join(texts)
        elif column is not None:
            told[name] = _text(value, item, column, column.metric[0] if column.metric else "")
        else:
            told[name] = str(value if value is not None else "")
    first = item.system or "Model"
    told[first] = displayed(told[first]) + MARK
    return told


def _text(value: Any, item: Item, column: Column, metric: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float):
        return f"{value:.{_digits(item, column, metric)}f}"
    return str(value)


# The published rows.


def _published(item: Item) -> list[dict[str, str]]:
    known = {(c.suite, c.condition, c.system, c.metric): c for c in cells(item)}
    rows = []
    systems = dict.fromkeys(cell.system for cell in cells(item))
    for system in [name for name in systems if name] or systems:
        for group in item.groups:
            row, found = {}, False
            for column in item.columns:
                at = place(column, group)
                if COUNT in column.metric:
                    counted = known.get((*at, system, _first(item)))
                    row[column.name] = "" if counted is None else str(counted.n or "")
                    continue
                values = [
                    known.get((*at, system, metric)) or known.get((*at, "", metric))
                    for metric in column.metric
                ]
                found = found or any(values)
                row[column.name] = column.sep.join(printed(cell) for cell in values)
            if found:
                name = {item.system or "Model": system or "the paper's data"}
                rows.append({**name, **group.labels, **row})
    return rows


def _first(item: Item) -> str:
    """Return the metric whose episodes a column of counts has."""
    return next(c.metric[0] for c in item.columns if c.metric and COUNT not in c.metric)


def _of(item: Item, metric: str) -> list[Cell]:
    return [cell for cell in cells(item) if cell.metric == metric]


def _unit(item: Item, metric: str) -> str:
    return next((cell.unit for cell in _of(item, metric)), "")


def _digits(item: Item, column: Column, metric: str) -> int:
    """Return the decimals of a column: those that the paper prints for the metric."""
    if column.digits is not None:
        return column.digits
    shown = [len(cell.printed.partition(".")[2]) for cell in _of(item, metric) if cell.printed]
    return max(shown, default=3)
