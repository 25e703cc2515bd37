"""Choose the episodes of the front page by a rule, and draw their two graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from whybench.report.palette import place_of
from whybench.report.section import Chapter

KINDS = {
    "understood": "Right, and knew why",
    "lucky": "Right, without knowing why",
    "contradicted": "Wrong, against the evidence",
    "premature": "Wrong, answered too early",
    "unusable": "No answer that could be used",
}
"""Kind of an episode → the title of its card."""

MOST = 3
"""Most cards; further kinds are left out."""

RULE = (
    "Chosen by a rule: one episode per kind, from a system and a family without a card where "
    "possible, with a graph of few nodes before others, then nearest to the median length."
)

MOST_NODES = 6
WIDE, TALL = 160, 124
"""Size of a graph in its own units."""
LETTER = 6.2
LONGEST = 10
"""Letters of a node's name that are shown."""


def chosen(chapters: Sequence[Chapter], systems: Sequence[str]) -> tuple[Chapter, ...]:
    """Return one episode per kind by the rule that the page states."""
    lengths: dict[str, list[int]] = {}
    for chapter in chapters:
        lengths.setdefault(chapter.family, []).append(_steps(chapter))
    middle = {family: median(found) for family, found in lengths.items()}
    found: list[Chapter] = []
    for kind in KINDS:
        taken = Counter(name for one in found for name in (one.system, one.family))
        able = [
            replace(one, system=systems[place])
            for one in chapters
            if one.kind == kind and (place := place_of(one.system, systems)) is not None
        ]
        able.sort(
            key=lambda one: (
                taken[one.system] + taken[one.family],
                _size(one),
                abs(_steps(one) - middle[one.family]),
                one.id,
            )
        )
        found += able[:1]
    return tuple(found[:MOST])


def _steps(chapter: Chapter) -> int:
    return len(chapter.annotated.get("moments", ()))


def _size(chapter: Chapter) -> int:
    """Return 0 for two graphs of few nodes, 1 for larger graphs, 2 for none."""
    if believed(chapter.annotated) is None:
        return 2
    return int(len(chapter.annotated["nodes"]) > MOST_NODES)


def believed(told: Mapping[str, Any]) -> list[list[str]] | None:
    """Return the last graph believed, with the kind of every arrow; None without two graphs."""
    if not told.get("truth"):
        return None
    held = [moment["arrows"] for moment in told["moments"] if moment.get("arrows") is not None]
    return held[-1] if held else None


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its place."""

    name: str
    x: float
    y: float

    @property
    def short(self) -> str:
        """The name, cut to fit."""
        return self.name if len(self.name) <= LONGEST else f"{self.name[: LONGEST - 1]}…"

    @property
    def half(self) -> float:
        """Half of the width of its box."""
        return len(self.short) * LETTER / 2 + 6


@dataclass(frozen=True, slots=True)
class Drawn:
    """One of the two graphs."""

    title: str
    nodes: tuple[Node, ...]
    arrows: tuple[tuple[str, str], ...]
    """Path and kind."""
    alt: str


@dataclass(frozen=True, slots=True)
class Graphs:
    """Truth and belief on one layout."""

    pair: tuple[Drawn, Drawn]
    count: str
    """The arrows of each kind, counted in words."""


def graphs(told: Mapping[str, Any]) -> Graphs | None:
    """Return the two graphs of an annotated episode; None if it does not have both."""
    arrows = believed(told)
    if arrows is None:
        return None
    names, left = _kept(told["nodes"], arrows)
    where = {node.name: node for node in _placed(names, told["truth"])}
    shown = [(a, b, kind) for a, b, _, kind in arrows if a in where and b in where]
    true = [(b, a, k) if k == "reversed" else (a, b, k) for a, b, k in shown if k != "extra"]
    held = [(a, b, k) for a, b, k in shown if k != "missing"]
    other = "What it believed" if told["belief"] == "believed" else "What the evidence shows"
    counts = Counter(kind for *_, kind in arrows)
    said = [f"{counts[k]} {k}" for k in ("correct", "missing", "extra", "reversed") if counts[k]]
    cut = f"; {len(names)} of {len(names) + left} nodes are drawn" if left else ""
    pair = (_drawn("The truth", where, true), _drawn(other, where, held))
    return Graphs(pair, (", ".join(said) or "no arrows") + cut)


def _kept(nodes: Sequence[str], arrows: Iterable[Sequence[str]]) -> tuple[list[str], int]:
    """Return at most six nodes, those around mistakes first, and the number left out."""
    wrong = Counter(n for a, b, _, kind in arrows if kind != "correct" for n in (a, b))
    near = sorted(nodes, key=lambda node: -wrong[node])[:MOST_NODES]
    return [node for node in nodes if node in near], len(nodes) - len(near)


def _placed(names: Sequence[str], truth: Iterable[Sequence[str]]) -> list[Node]:
    """Place nodes in two columns, causes above effects."""
    above: dict[str, set[str]] = {name: set() for name in names}
    for _ in names:
        for cause, effect, *_ in truth:
            if cause in above and effect in above:
                above[effect] |= {cause, *above[cause]}
    order = sorted(names, key=lambda name: len(above[name]))
    rows = max(2, -(-len(order) // 2))
    step = (TALL - 40) / (rows - 1)
    return [
        Node(name, 39.0 + 82 * (place % 2), 20 + step * (place // 2) + 7 * (place % 2))
        for place, name in enumerate(order)
    ]


def _drawn(title: str, where: Mapping[str, Node], arrows: Sequence[tuple[str, str, str]]) -> Drawn:
    said = ", ".join(f"{a} to {b} ({kind})" for a, b, kind in arrows) or "no arrows"
    paths = tuple((_path(where[a], where[b]), kind) for a, b, kind in arrows)
    return Drawn(title, tuple(where.values()), paths, f"{title}: {said}")


def _path(a: Node, b: Node) -> str:
    """Return an arrow from box to box; within a column it bends, to pass by other boxes."""
    bend = 0.0 if a.x != b.x or abs(a.y - b.y) < 60 else 46 if a.x < WIDE / 2 else -46
    mx, my = (a.x + b.x) / 2 + bend, (a.y + b.y) / 2
    (x1, y1), (x2, y2) = _border(a, mx, my, 1), _border(b, mx, my, 2.5)
    return f"M{x1:.1f} {y1:.1f}Q{mx:.1f} {my:.1f} {x2:.1f} {y2:.1f}"


def _border(node: Node, x: float, y: float, gap: float) -> tuple[float, float]:
    """Return where the line from a node towards a point leaves its box."""
    dx, dy = x - node.x, y - node.y
    share = min(
        (node.half + gap) / abs(dx) if dx else 9e9, (11 + gap) / abs(dy) if dy else 9e9, 1.0
    )
    return node.x + dx * share, node.y + dy * share
