"""Build a leaderboard from result files: one page without a server, and the files beside it.

Scores are comparable only within one release and set, so each has a table of its own. The page
loads nothing. All links are relative, so it works from disk and under any path.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from whybench.causal.whole_files import write_whole
from whybench.release.data import load_release, names
from whybench.report.front.drawing import LENGTH, cell_bar, overall_bar
from whybench.report.naming import displayed
from whybench.report.page.render import asset, policy, themes
from whybench.report.results.files import dumped, read_results, slugs
from whybench.report.results.model import Result
from whybench.report.results.words import FILTERS, span
from whybench.report.run import REFERENCE
from whybench.report.standings.model import FIRST_LOOK

SETS = ("full", "standard", "lite")
"""Sets in the order of their tables; other names follow."""

TITLE = "WhyBench leaderboard"
AGENT = displayed(REFERENCE)
"""What follows the name of a reference agent."""


@dataclass(frozen=True, slots=True)
class Row:
    """One result on the page."""

    id: str
    result: Result
    checked: bool
    """Whether the maintainer of the site checked it; otherwise it is self-reported."""

    @property
    def name(self) -> str:
        """The name without the words that the mark of a reference agent repeats."""
        one = self.result.system
        return one.name.removesuffix(AGENT) if one.reference else one.name

    @property
    def short(self) -> list[str]:
        """What the result lacks of its release and set, such as `5 of 30 rows of a family`."""
        cells = self.result.system.cells
        due = rows_of(self.result.release, self.result.set)
        had = {family: cells[family].instances if family in cells else 0 for family in due}
        return [f"{had[f]} of {due[f]} rows of {f}" for f in due if had[f] < due[f]]


@dataclass(frozen=True, slots=True)
class Board:
    """All results of one release and set, best first."""

    id: str
    release: str
    set: str
    families: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The heading."""
        if not self.release:
            return "Suites chosen by hand"
        return f"Release {self.release}, set {self.set or 'not stated'}"

    @property
    def first_look(self) -> bool:
        """Whether some family has too few hidden systems to say more than a first look."""
        return self.set == "lite" or any(
            cell.clusters < FIRST_LOOK
            for row in self.rows
            for cell in row.result.system.cells.values()
        )

    def ends(self, family: str) -> str:
        """Return what 0 and 1 are in a family: the range over the rows."""
        cells = [c for row in self.rows if (c := row.result.system.cells.get(family))]
        return f"{span([c.floor for c in cells])} to {span([c.ceiling for c in cells])}"


def build_site(folder: Path, output: Path, checked: Sequence[str] = ()) -> tuple[Path, int]:
    """Write the leaderboard; return its page and the number of results.

    Args:
        folder: Folder of result files. If one of them is not valid, nothing is written.
        output: Folder of the site.
        checked: Names of files that you have checked against their logs.

    """
    found = read_results(folder)
    if unknown := [name for name in checked if name not in found]:
        raise ValueError(f"There is no result file {unknown[0]} in {folder}.")
    stems = slugs(list(found.values()))
    rows = [
        Row(stem, result, file in checked)
        for stem, (file, result) in zip(stems, found.items(), strict=True)
    ]
    page = render_site(rows)
    for row in rows:
        text = dumped(row.result.to_json())
        write_whole(output / "results" / f"{row.id}.json", text)
    write_whole(output / "index.html", page)
    return output / "index.html", len(rows)


def render_site(rows: Iterable[Row]) -> str:
    """Return the page."""
    style = themes() + "".join(map(asset, ("web/style.css", "web/parts.css")))
    style += _asset("site.css") + asset("web/print.css")
    head, script = asset("web/theme.js"), asset("web/tables.js")
    template = _environment().get_template("site.html")
    return template.render(
        title=TITLE,
        boards=boards(rows),
        policy=policy([style], [head, script]),
        style=Markup(style),  # noqa: S704  our own files
        head=Markup(head),  # noqa: S704
        script=Markup(script),  # noqa: S704
    )


def boards(rows: Iterable[Row]) -> list[Board]:
    """Return a board for each release and set: the newest release first, no release last."""

    def place(row: Row) -> tuple[Any, ...]:
        rank = SETS.index(row.result.set) if row.result.set in SETS else len(SETS)
        return bool(row.result.release), row.result.release, -rank, row.result.set

    found: list[Board] = []
    for _, group in groupby(sorted(rows, key=place, reverse=True), place):
        members = tuple(sorted(group, key=_rank))
        first = members[0].result
        families = sorted({f for row in members for f in row.result.system.cells})
        name = f"board-{len(found) + 1}"
        found.append(Board(name, first.release, first.set, tuple(families), members))
    return found


@cache
def rows_of(release: str, which: str) -> dict[str, int]:
    """Return the number of rows of each family in a set; nothing for a release unknown here."""
    if release not in names() or which not in SETS:
        return {}
    found = load_release(release)
    return {family: len(list(found.samples(family, which))) for family in found.families}


def _rank(row: Row) -> tuple[Any, ...]:
    """Return the place of a row: by overall score, then the incomplete ones.

    Without an overall score, the mean of what was run counts.
    """
    one = row.result.system
    known = [cell.score.value for cell in one.cells.values() if cell.score.known]
    mean = math.fsum(known) / len(known) if known else -math.inf
    value = one.overall.value if one.overall.known else mean
    return not one.overall.known, bool(row.short), -value, one.name


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("web", name).read_text("utf-8")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(FILTERS)
    made.globals.update(cell_bar=cell_bar, overall_bar=overall_bar, length=LENGTH)
    return made
