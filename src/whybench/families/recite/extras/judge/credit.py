"""Compare a judge's credits in the exam with the right ones.

A score is a mean of credits over elements, so its error can be learned element by element. Elements
with an open label that the score needs are left out on both sides. The judge's own importance
counts as right, because no construction gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whybench.families.recite.extras.judge.labels import fields, worth
from whybench.families.recite.extras.judge.score import F1, RECALL, SCORES, Scored
from whybench.judge.credit import Point, Points, f1
from whybench.judge.label_judge import Rights, Sitting
from whybench.judge.labels import Entry


def points(sittings: Sequence[Sitting]) -> Points:
    """Return the credits of each score by paper; a paper with an unreadable pass lacks some."""
    found: dict[str, list[list[Point]]] = {}
    for sitting in sittings:
        own: dict[str, list[Point]] = {}
        for score in SCORES:
            every, nodes, edges = score.names
            own[nodes], own[edges] = (_points(sitting, score, name) for name in score.passes)
            read = all(sitting[1].get(name) is not None for name in score.passes)
            own[every] = own[nodes] + own[edges] if read else []
        own |= {name: list(_harmonic(own[p], own[r])) for name, (p, r) in F1.items()}
        for name, held in own.items():
            if held:
                found.setdefault(name, []).append(held)
    return found


def settled(entry: Entry, rights: Rights) -> dict[str, str]:
    """Return an entry with its wrong labels corrected; open labels stay.

    >>> settled({"presence": "PRESENCE_NO_MATCH"}, {"presence": ("PRESENCE_WEAK_MATCH",)})
    {'presence': 'PRESENCE_WEAK_MATCH'}
    """
    return {
        field: label if label in rights.get(field, (label,)) else rights[field][0]
        for field, label in entry.items()
    }


def _points(sitting: Sitting, score: Scored, name: str) -> list[Point]:
    """Return a paper's points of a score in one pass; none if it was not read."""
    paper, given = sitting
    needed = [
        field.name
        for field in fields(name)
        if field.family != "importance" and field.name.startswith(score.needs)
    ]
    found = []
    for number, entry in (given.get(name) or {}).items():
        rights = paper.key[name][number]
        if all(field in rights for field in needed):
            first = {field: rights[field][0] for field in needed}
            found.append(
                Point(
                    score.credit(name, settled(entry, rights)),
                    score.credit(name, entry),
                    worth(entry, "importance") if name in RECALL else 1.0,
                    f"{name} {score.credit(name, first):.3f}",
                )
            )
    return found


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
