"""Ways to answer from trials: guessers, local reasoning, one best system, and confused readings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from whybench.causal.version_space import Design, Row, VersionSpace
from whybench.families.prism.agents.sight import Sight
from whybench.families.prism.proof.certify import listed
from whybench.families.prism.world.local import local_verdict, of_all, situation
from whybench.families.prism.world.questions import masks, tally, verdict
from whybench.families.prism.world.world import Answer, Question

Judge = Callable[[Sight, Sequence[Row]], Answer]


def _free(sight: Sight, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row.targets >> sight.question.y & 1] or list(rows)


def _is_y(question: Question, row: Row) -> bool:
    return row.values >> question.y & 1 == question.value


def majority(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Say what is most frequent: the value of y, or that x and y are equal."""
    asked = sight.question
    if asked.kind in ("direct", "ancestor"):
        hits = [row.values >> (asked.x or 0) & 1 == row.values >> asked.y & 1 for row in rows]
    else:
        hits = [_is_y(asked, row) for row in _free(sight, rows)]
    return "yes" if 2 * sum(hits) >= len(hits) else "no"


def nearest(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Say what y was in the trial that is most like the situation of the question."""
    asked = sight.question
    if asked.kind in ("direct", "ancestor"):
        return majority(sight, rows)
    wanted, values = masks(tuple(situation(sight.space, sight.question, rows).items()))
    best = min(_free(sight, rows), key=lambda row: ((row.values ^ values) & wanted).bit_count())
    return "yes" if _is_y(asked, best) else "no"


def local(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Reason about the rule of y alone."""
    return local_verdict(sight.space, sight.question, rows)


def simplest(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Answer from one system that fits: the first of those with the fewest arguments."""
    found = listed(sight.space, tuple(rows))
    hits, total = tally(found, sight.question, rows)
    sizes = (found.space.tables.arguments <= found.space.n).sum(axis=1)[found.rules].sum(axis=1)
    best = int(np.argmin(np.where(total > 0, sizes, sizes.max() + 1)))
    return "yes" if 2 * hits[best] >= total[best] else "no"


def exact(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Give the verdict of all systems that fit."""
    return _verdict(sight, rows, sight.question)


def _verdict(sight: Sight, rows: Sequence[Row], question: Question) -> Answer:
    found = verdict(listed(sight.space, tuple(rows)), question, rows)
    return "cannot" if found is None else found.answer


def see_as_do(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Take what was noted for what was set and held; otherwise be exact."""
    asked = sight.question
    if asked.kind != "see":
        return exact(sight, rows)
    return _done(sight, listed(sight.space, tuple(rows)), asked, dict(asked.noted))


def case_as_do(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Predict a new trial instead of the one that was seen: only noted inputs are kept."""
    asked = sight.question
    if asked.kind == "case":
        kept = {v: x for v, x in asked.noted if v < sight.space.roots}
    elif asked.kind == "had" and asked.trial is not None:
        design = sight.space.design(rows[asked.trial])
        kept = {
            v: design.values >> v & 1
            for v in range(sight.space.n)
            if v < sight.space.roots or design.targets >> v & 1
        }
    else:
        return exact(sight, rows)
    return _done(sight, listed(sight.space, tuple(rows)), asked, kept | dict(asked.held))


def case_as_see(sight: Sight, rows: Sequence[Row]) -> Answer:
    """Take the other value of x for one that was seen; otherwise be exact."""
    asked = sight.question
    if asked.kind == "case":
        noted = {v: x for v, x in asked.noted if v != asked.y} | dict(asked.held)
    elif asked.kind == "had":
        noted = situation(sight.space, sight.question, rows)
    else:
        return exact(sight, rows)
    seen = replace(asked, kind="see", held=(), trial=None, noted=tuple(sorted(noted.items())))
    return _verdict(sight, rows, seen)


def _done(sight: Sight, found: VersionSpace, question: Question, told: dict[int, int]) -> Answer:
    """Return the verdict for trials with told values set or held, over inputs that are not told."""
    space = sight.space
    wanted, values = masks(tuple(told.items()))
    roots = (1 << space.roots) - 1
    places = [
        space.tables.place[Design(wanted & ~roots, inputs | values & ~roots)]
        for inputs in range(1 << space.roots)
        if not (inputs ^ values) & wanted & roots
    ]
    right = found.at(places) >> np.uint8(question.y) & np.uint8(1) == question.value
    return of_all(bool(right.any()), bool(right.all()))


JUDGES: dict[str, Judge] = {
    "null": lambda sight, rows: "yes",  # noqa: ARG005
    "null_no": lambda sight, rows: "no",  # noqa: ARG005
    "null_cannot": lambda sight, rows: "cannot",  # noqa: ARG005
    "majority": majority,
    "nearest": nearest,
    "local": local,
    "map": simplest,
    "see_as_do": see_as_do,
    "case_as_do": case_as_do,
    "case_as_see": case_as_see,
}
"""Agent → how it answers from the trials that it has seen."""
