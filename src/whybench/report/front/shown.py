"""Turn a front page's values into what its template draws."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise

from whybench.report.front import cards, verdicts
from whybench.report.front.drawing import Bar, Plane, cell_bar, overall_bar, plane
from whybench.report.front.model import Front, Multiple, Note, Panel
from whybench.report.palette import SYSTEMS, mark_of, place_of
from whybench.report.section import Chapter, Report
from whybench.report.standings.model import Cell, Pair, System
from whybench.report.standings.words import between, listed, number, per_cent, two

FIRST = 4
"""Systems whose verdicts stand beside the figure; the other verdicts are folded."""


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its mark, its verdict and its row of the table."""

    system: System
    verdict: verdicts.Verdict
    overall: Bar
    cells: tuple[tuple[str, Bar], ...]
    quiet: tuple[tuple[str, str], ...]
    """Label → text of the columns without bars."""


@dataclass(frozen=True, slots=True)
class Versus:
    """A pair of systems in words."""

    first: str
    second: str
    between: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a panel, with places in per cent."""

    name: str
    text: str
    strong: bool
    at: float
    base: float = 0.0


@dataclass(frozen=True, slots=True)
class Pane:
    """A panel of a small multiple."""

    system: str
    lines: tuple[Line, ...]
    rates: tuple[Line, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """An episode."""

    chapter: Chapter
    title: str
    graphs: cards.Graphs | None
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """All that the template needs."""

    name: str
    what: str
    answer: str
    rows: tuple[Row, ...]
    plane: Plane
    pairs: tuple[Versus, ...]
    others: tuple[Versus, ...]
    fine: tuple[str, ...]
    multiples: tuple[tuple[Multiple, tuple[Pane, ...]], ...]
    cards: tuple[Card, ...]
    notes: dict[str, Note]
    count: str
    """Number of families, in words."""
    marks: dict[str, tuple[str, str]]
    """System → token of its colour, and name of its shape."""

    @property
    def sections(self) -> set[str]:
        """Ids of the families' sections."""
        return {note.section for note in self.notes.values()}

    @property
    def first(self) -> int:
        """Number of verdicts that are not folded."""
        return FIRST if len(self.rows) > FIRST + 1 else FIRST + 1


def shown(report: Report, front: Front) -> Shown:
    """Return the parts of the page in words and places."""
    held = front.standings
    count = number(len(held.families))
    systems = number(len(held.systems)) + (" system" if len(held.systems) == 1 else " systems")
    near = [held.pair(a.name, b.name) for a, b in pairwise(held.systems)]
    told = [pair for pair in near if pair is not None and pair.families]
    rest = [pair for pair in held.pairs if pair.families and pair not in told]

    def versus(pair: Pair) -> Versus:
        text = verdicts.compared(held, pair)
        return Versus(pair.first, pair.second, verdicts.title(pair), text)

    return Shown(
        name=f"WhyBench {held.release}".strip(),
        what=" · ".join([*([f"{held.set} set"] if held.set else []), f"{systems} tested"]),
        answer=verdicts.answer(held),
        rows=tuple(_row(front, system) for system in held.systems),
        plane=plane(held.systems),
        pairs=tuple(map(versus, told)),
        others=tuple(map(versus, rest)),
        fine=_fine(front),
        multiples=tuple((one, _panes(front, one)) for one in front.multiples),
        cards=tuple(_card(one) for one in front.cards),
        notes={name: front.notes.get(name, Note("", "", name)) for name in held.families},
        count=count,
        marks={system.name: mark(report, system.name) for system in held.systems},
    )


def mark(report: Report, system: str) -> tuple[str, str]:
    """Return the token of a system's colour and the name of its shape."""
    place = place_of(system, report.systems)
    token, shape = mark_of(len(SYSTEMS) if place is None else place)
    return token, "star" if shape.startswith("M") else shape


def _row(front: Front, system: System) -> Row:
    held = front.standings
    return Row(
        system,
        verdicts.verdict(held, system),
        overall_bar(system, len(held.families)),
        tuple((name, cell_bar(system.cells.get(name))) for name in held.families),
        (
            ("experiments", _times(system.mean("efficiency"))),
            ("cost", _price(system.total("cost"))),
            ("unusable", per_cent(system.unusable, 1)),
        ),
    )


def _times(efficiency: float) -> str:
    """Return experiments as a multiple of the exact agent's."""
    return f"{1 / efficiency:.1f} ×" if efficiency > 0 else "–"


def _price(cost: float) -> str:
    return "–" if math.isnan(cost) else f"${cost:,.2f}"


def _fine(front: Front) -> tuple[str, ...]:
    held = front.standings
    rule = (
        "“Better” and “no difference shown” are the outcome of a paired test on the same hidden "
        f"systems at 95 %, corrected for {number(len(held.families))} families. “About” means "
        "within 0.05. “Floor” in a cell: not shown to be above the best cheap guesser. “Too few”: "
        "fewer than five right answers."
    )
    said = [rule]
    clusters = [cell.clusters for one in held.systems for cell in one.cells.values()]
    if held.set == "lite":
        said.append("The set lite is for a first look. Run the set standard to compare systems.")
    elif held.first_look:
        said.append(f"A first look: some families have only {min(clusters)} hidden systems.")
    return (*said, *held.remarks)


def _panes(front: Front, multiple: Multiple) -> tuple[Pane, ...]:
    held = {panel.system: panel for panel in multiple.panels}
    return tuple(
        _pane(held[system.name], multiple, cell)
        for system in front.standings.systems
        if system.name in held and (cell := system.cells.get(multiple.family))
    )


def _pane(panel: Panel, multiple: Multiple, cell: Cell) -> Pane:
    """Return a panel on the scale of scores, or of the metric if floor or ceiling is not known."""
    known = cell.ceiling - cell.floor > 1e-9
    floor, room = (cell.floor, cell.ceiling - cell.floor) if known else (0.0, 1.0)
    base = (panel.base - floor) / room

    def at(score: float) -> float:
        return 97 * min(1.0, max(0.0, score))

    lines = [Line(multiple.base, two(base), True, at(base), at(base))]
    for change in panel.changes:
        moved = change.value / room
        place = at(base + moved)
        lines.append(Line(change.name, two(moved, sign=True), change.shown, place, at(base)))
    rates = [Line(name, per_cent(one.value), True, at(one.value)) for name, one in panel.rates]
    return Pane(panel.system, tuple(lines), tuple(rates), panel.text)


def _card(chapter: Chapter) -> Card:
    told = chapter.annotated
    text = re.split(r"(?<=[.!?]) ", str(told["verdict"]))[:2]
    steps = len(told.get("moments", ()))
    if len(text) == 1 and told.get("sufficed"):
        text.append(f"The evidence sufficed after step {told['sufficed']} of {steps}.")
    elif len(text) == 1 and told.get("notes"):
        text.append(str(told["notes"][0]))
    return Card(chapter, cards.KINDS[chapter.kind], cards.graphs(told), tuple(text))


def raw(front: Front, family: str) -> list[tuple[str, ...]]:
    """Return the table at the start of a family's fold: a row for each system."""
    found: list[tuple[str, ...]] = []
    for system in front.standings.systems:
        cell = system.cells.get(family)
        if cell is None:
            continue
        share = per_cent(cell.share.value) if cell.share.known else "too few"
        whole = f"{share} of {cell.right}" if cell.share.known else share
        found.append(
            (
                system.name, two(cell.raw.value), two(cell.score.value), between(cell.score), whole,
                per_cent(cell.unusable, 1), str(cell.episodes), str(cell.clusters),
            )
        )  # fmt: skip
    return found


def ends(front: Front, family: str) -> str:
    """Return floor and ceiling of a family by name."""
    found = {
        (f"Floor {two(c.floor)}: {c.floor_name}. Ceiling {two(c.ceiling)}: {c.ceiling_name}.")
        for system in front.standings.systems
        if (c := system.cells.get(family))
    }
    return " ".join(sorted(found))


def hidden(front: Front, family: str) -> str:
    """Return the number of hidden systems of a family."""
    cells = [one.cells[family] for one in front.standings.systems if family in one.cells]
    return f"{max(c.clusters for c in cells)} hidden systems" if cells else "not run"


def metric(front: Front, family: str) -> str:
    """Return the headline metric of a family."""
    names = {one.cells[family].metric for one in front.standings.systems if family in one.cells}
    return listed(sorted(names))
