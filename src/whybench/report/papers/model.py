"""Read what a family says of its paper: every table and figure, and how it is continued.

A family names the package that holds its `paper.toml` in `[extras] paper`. The published cells are
those of `report.published`. `mapping.json` there says which run and metric of ours a cell has.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.episode.registry import families
from whybench.report.published.figures import Cell, Published
from whybench.report.published.row_match import runs_of

STATES = ("full", "part", "none")
"""`full`: the paper's columns by its definitions, on its suite, from a user's logs."""

FILE = "paper.toml"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run that a table needs: one Inspect task with arguments."""

    suite: str
    """`family/suite`."""
    args: Mapping[str, Any] = field(default_factory=dict)
    task: str = ""
    """Name of the Inspect task; empty: that of the suite."""

    @property
    def key(self) -> str:
        """Text that is equal for equal runs."""
        return canonical_json([self.task, self.suite, dict(self.args)])


@dataclass(frozen=True, slots=True)
class Column:
    """A column with the paper's name, and the metrics of its cells."""

    name: str
    metric: tuple[str, ...] = ()
    """Metrics of the published cells. Several are printed in one cell, with `sep` between."""
    suite: str | None = None
    condition: str | None = None
    """Suite and condition of the cells, if they differ from those of the row."""
    digits: int | None = None
    """Decimals; None: as many as the paper prints."""
    sep: str = "/"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one suite and condition of the paper."""

    suite: str = ""
    condition: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Heading → text of the columns that name the setting."""


@dataclass(frozen=True, slots=True)
class Item:
    """One table or figure of a paper."""

    family: str
    number: str
    kind: str
    """`table` or `figure`."""
    place: str
    """`main` or `appendix`."""
    title: str
    state: str
    reason: str = ""
    result: bool = True
    """Whether it shows results; an illustration or a definition does not."""
    system: str = "Model"
    """Heading of the column with the systems."""
    columns: tuple[Column, ...] = ()
    groups: tuple[Group, ...] = ()
    runs: tuple[str, ...] = ()
    rows: str = ""
    """Function of the family's module that gives the user's rows."""
    part: tuple[str, ...] = ()
    """Starts of the ids of parts of the family's report that show the content."""
    same: str = ""
    """Number of the table whose figures are drawn."""
    published: tuple[str, ...] = ()
    """Numbers of the tables that hold the published rows, if others do."""

    @property
    def label(self) -> str:
        """Name in the paper.

        >>> Item("causallink", "4", "table", "appendix", "", "full").label
        'Table 4'
        """
        return f"{self.kind.capitalize()} {self.number}"

    @property
    def id(self) -> str:
        """Name for files and anchors."""
        return f"{self.family}-paper-{self.kind}-{self.number.lower().replace('.', '-')}"


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper."""

    family: str
    title: str
    sampling_note: str
    """What the paper says of sampling."""
    sampling: Mapping[str, Any]
    """Settings of generation that are applied to every run."""
    runs: Mapping[str, Wanted]
    items: tuple[Item, ...]
    package: str

    def find(self, asked: str) -> Item:
        """Return the table or figure of a name such as `4`, `table 4`, `figure 2` or `fig2`."""
        text = asked.lower().replace("figure", "fig").replace("table", "tab")
        bare = text.removeprefix("fig").removeprefix("tab").strip(" .").lstrip()
        kinds = {"fig": ("figure",), "tab": ("table",)}.get(text[:3], ("table", "figure"))
        for kind in kinds:
            for item in self.items:
                if item.kind == kind and item.number.lower() == bare:
                    return item
        known = ", ".join(item.label for item in self.items)
        raise ValueError(f"The paper of {self.family} has no {asked!r}. It has {known}.")

    def table(self, number: str) -> Item:
        """Return the table of a number."""
        return next(one for one in self.items if (one.kind, one.number) == ("table", number))

    def layout(self, item: Item) -> Item:
        """Return the item whose columns and rows are used: its own, or those of another table."""
        return self.table(item.same) if item.same else item

    def wanted(self, item: Item) -> list[Wanted]:
        """Return the runs that an item needs; those of its cells if it names none."""
        if item.runs:
            return [self.runs[name] for name in item.runs]
        if item.state == "none" or item.rows:
            return []
        if item.same:
            return self.wanted(self.table(item.same))
        found: dict[str, Wanted] = {}
        for column, group in pairs(self.laid(item)):
            suite, condition = place(column, group)
            own = runs_of(self.family, suite, condition).runs
            if own:
                one = Wanted(own[0].suite, own[0].args.asdict())
                found.setdefault(one.key, one)
        return list(found.values())

    def laid(self, item: Item) -> Item:
        """Return an item with its groups: those of its cells if it names none."""
        item = self.layout(item)
        if item.groups or not item.columns:
            return item
        if all(column.suite for column in item.columns):
            return replace(item, groups=(Group(),))
        places = dict.fromkeys((cell.suite, cell.condition) for cell in cells(item))
        return replace(item, groups=tuple(Group(*one) for one in places))

    def function(self, name: str) -> Any:
        """Return a function of the family's module `paper`."""
        return getattr(import_module(f"{self.package}.paper"), name)


def place(column: Column, group: Group) -> tuple[str, str]:
    """Return the suite and the condition of a cell."""
    return (
        group.suite if column.suite is None else column.suite,
        group.condition if column.condition is None else column.condition,
    )


def pairs(item: Item) -> list[tuple[Column, Group]]:
    """Return every column that has metrics with every group."""
    return [(c, g) for g in item.groups for c in item.columns if c.metric]


def cells(item: Item) -> tuple[Cell, ...]:
    """Return the published cells of a table."""
    numbers = item.published or ((item.number,) if item.kind == "table" else ())
    found = Published()
    return tuple(c for one in numbers for c in found.cells(item.family, table=one))


def papers() -> tuple[str, ...]:
    """Return the families that have a paper."""
    return tuple(name for name in families() if "paper" in _extras(name))


def _extras(name: str) -> Mapping[str, str]:
    found: Mapping[str, str] = families().declared(name).get("extras", {})
    return found


@cache
def load_paper(family: str) -> Paper:
    """Return the paper of a family, or raise ValueError."""
    if family not in papers():
        raise ValueError(f"Unknown paper {family!r}. Use {', '.join(papers())}.")
    package = _extras(family)["paper"]
    data = tomllib.loads((files(package) / FILE).read_text("utf-8"))
    return Paper(
        family,
        data["title"],
        data["sampling_note"],
        data.get("sampling", {}),
        {name: Wanted(**one) for name, one in data.get("runs", {}).items()},
        tuple(_item(family, one, data) for one in data["item"]),
        package,
    )


def _item(family: str, data: Mapping[str, Any], whole: Mapping[str, Any]) -> Item:
    """Return an item. `columns` and `groups` may name a list that several items share."""
    told: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in data.items()
    }
    for name in ("columns", "groups"):
        given = told.get(name, ())
        told[name] = tuple(whole[name][given]) if isinstance(given, str) else given
    return Item(
        family,
        **told
        | {
            "columns": tuple(_column(one) for one in told["columns"]),
            "groups": tuple(Group(**one) for one in told["groups"]),
        },
    )


def _column(data: Mapping[str, Any]) -> Column:
    metric = data.get("metric", ())
    return Column(**{**data, "metric": (metric,) if isinstance(metric, str) else tuple(metric)})
