"""What an exam says of a judge's scores: the credit that it gave, and the credit that was right.

A score is a mean of credits over elements, so its error can be learned element by element. Elements
of which the key leaves a label open, and which it needs for the score, are left out on both sides.
The judge's own importance is taken for right, since no construction gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whybench.families.recite.judging.labels import (
    MATCHES,
    Entry,
    PassName,
    fields,
    worth,
)
from whybench.families.recite.judging.marking import Sitting
from whybench.families.recite.judging.right_labels import Rights
from whybench.families.recite.judging.score import captured, credited, f1, in_graph

Credit = Callable[[PassName, Entry], float]


@dataclass(frozen=True, slots=True)
class Point:
    """A credit that is right, the credit that was given, and how much they weigh."""

    right: float
    given: float
    weight: float = 1.0
    kind: str = ""
    """The pass of the element, and the credit that its key gives: elements of a kind are alike."""


Points = Mapping[str, Sequence[Sequence[Point]]]
"""Score by name → papers → points: one for each element, or one for the paper (F1)."""


@dataclass(frozen=True, slots=True)
class _Part:
    """What a score takes from a pass."""

    name: PassName
    needs: str
    """Fields that must be settled begin like this."""
    credit: Credit


def _in_matches(field: str) -> Credit:
    return lambda name, entry: float(entry[field] in MATCHES)  # noqa: ARG005


_SCORES: Mapping[str, tuple[tuple[PassName, PassName], str, Credit]] = {
    "precision": (("node_precision", "edge_precision"), "", credited),
    "recall": (("node_recall", "edge_recall"), "", captured),
    "graph_precision": (("node_precision", "edge_precision"), "graph_", in_graph),
    "unweighted_precision": (
        ("node_precision", "edge_precision"),
        "graph_presence",
        _in_matches("graph_presence"),
    ),
    "unweighted_recall": (("node_recall", "edge_recall"), "presence", _in_matches("presence")),
}

_KINDS = {
    "precision": ("node_precision", "judged_edge_precision"),
    "recall": ("node_recall", "judged_edge_recall"),
    "graph_precision": ("graph_node_precision", "graph_edge_precision"),
    "unweighted_precision": ("unweighted_node_precision", "unweighted_edge_precision"),
    "unweighted_recall": ("unweighted_node_recall", "unweighted_edge_recall"),
}
"""The same score over nodes alone and over edges alone."""

F1 = {
    f"{prefix}f1": (f"{prefix}precision", f"{prefix}recall")
    for prefix in (
        "", "node_", "judged_edge_", "unweighted_", "unweighted_node_", "unweighted_edge_",
    )
}  # fmt: skip
"""Each F1 → its precision and its recall."""


def points(sittings: Sequence[Sitting]) -> Points:
    """Return the credits of each score, paper by paper; a paper with an unread pass lacks some."""
    found: dict[str, list[list[Point]]] = {}
    for sitting in sittings:
        own = {name: list(_of(sitting, parts)) for name, parts in _parts().items()}
        own |= {name: list(_harmonic(own[p], own[r])) for name, (p, r) in F1.items()}
        for name, held in own.items():
            if held:
                found.setdefault(name, []).append(held)
    return found


def settled(entry: Entry, rights: Rights) -> dict[str, str]:
    """Return an entry with its wrong labels mended; what the key leaves open stays.

    >>> settled({"presence": "PRESENCE_NO_MATCH"}, {"presence": ("PRESENCE_WEAK_MATCH",)})
    {'presence': 'PRESENCE_WEAK_MATCH'}
    """
    return {
        field: label if label in rights.get(field, (label,)) else rights[field][0]
        for field, label in entry.items()
    }


def _parts() -> dict[str, tuple[_Part, ...]]:
    parts: dict[str, tuple[_Part, ...]] = {}
    for score, (passes, needs, credit) in _SCORES.items():
        both = tuple(_Part(name, needs, credit) for name in passes)
        parts[score] = both
        parts |= {name: (part,) for name, part in zip(_KINDS[score], both, strict=True)}
    return parts


def _of(sitting: Sitting, parts: Sequence[_Part]) -> Iterator[Point]:
    """Yield a paper's points of a score; none if one of its passes was not read."""
    paper, given = sitting
    if any(given.get(part.name) is None for part in parts):
        return
    for part in parts:
        needed = [
            field.name
            for field in fields(part.name)
            if field.family != "importance" and field.name.startswith(part.needs)
        ]
        for number, entry in (given[part.name] or {}).items():
            rights = paper.key[part.name][number]
            if all(name in rights for name in needed):
                first = {name: rights[name][0] for name in needed}
                right = part.credit(part.name, settled(entry, rights))
                yield Point(
                    right,
                    part.credit(part.name, entry),
                    worth(entry, "importance") if part.name.endswith("recall") else 1.0,
                    f"{part.name} {part.credit(part.name, first):.3f}",
                )


def _harmonic(precision: Sequence[Point], recall: Sequence[Point]) -> Iterator[Point]:
    if precision and recall:
        yield Point(
            f1(_mean(precision, "right"), _mean(recall, "right")),
            f1(_mean(precision, "given"), _mean(recall, "given")),
        )


def _mean(held: Sequence[Point], side: str) -> float:
    weights = sum(point.weight for point in held)
    got = sum(point.weight * float(getattr(point, side)) for point in held)
    return got / weights if weights else 0.0
