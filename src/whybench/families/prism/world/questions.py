"""Questions: what each system answers, the verdict of all, and how questions are drawn.

For every system that fits the trials, `tally` counts two numbers of equally likely cases: those
that the question is about (`total`), and those of them in which the answer is yes (`hits`). Cases
are the unseen inputs of a new trial and the values of a hidden input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from whybench.causal.seeds import Stream
from whybench.causal.version_space import MOST_HELD, Design, Ints, Row, Space, VersionSpace
from whybench.families.prism.world.world import Answer, Kind, Question, Values

MOST_NOTED = 3
"""The most variables that are noted in a trial of which only a part is seen, apart from `x`."""


@dataclass(frozen=True)
class Verdict:
    """What the systems that fit say about a question."""

    answer: Answer
    posterior: Fraction


def masks(values: Values) -> tuple[int, int]:
    """Return a set of variables and their values as bits."""
    return sum(1 << v for v, _ in values), sum(x << v for v, x in values)


def design_of(inputs: Sequence[int], held: Values) -> Design:
    """Return a design from the values of inputs and held variables."""
    targets, values = masks(held)
    return Design(targets, values | sum(x << v for v, x in enumerate(inputs)))


def undisturbed(space: Space) -> list[Design]:
    """Return the designs that hold nothing."""
    return [Design(0, inputs) for inputs in range(1 << space.roots)]


def tally(found: VersionSpace, question: Question, rows: Sequence[Row]) -> tuple[Ints, Ints]:
    """Return for each system the cases in which the answer is yes, and all cases."""
    space, y = found.space, question.y
    one = np.ones(len(found), dtype=np.int64)
    if question.kind == "direct":
        rule = found.rules[:, y - space.roots]
        return space.tables.sets[rule] >> question.x & 1, one
    if question.kind == "ancestor":
        return found.ancestors[:, y] >> question.x & 1, one
    place, cases = space.tables.place, 1 + space.hidden
    if question.kind == "goal":
        right = _is(found.at([place[plan] for plan in plans(question)]), question)
        return np.any(np.all(right, axis=0), axis=1).astype(np.int64), one
    if question.kind == "do":
        asked = _is(found.at([place[design_of(question.inputs, question.held)]]), question)
        return asked.sum(axis=(0, 2)), one * cases
    targets, values = masks(question.held)
    if question.kind == "had":
        row = rows[question.trial or 0]
        design = space.design(row)
        changed = Design(design.targets | targets, design.values | values)
        shown = found.at([place[design], place[changed]])
        match = shown[:, :, 0] == row.values
        hits = (match & _is(shown[:, :, 1], question)).sum(axis=0)
        return hits * (cases // match.sum(axis=0)), one * cases
    every = undisturbed(space)
    noted, seen = masks(question.noted)
    then = [Design(targets, design.values | values) for design in every]
    shown = found.at([place[design] for design in (*every, *then)])
    match, asked = shown[:, :, : len(every)] & np.uint8(noted) == seen, shown[:, :, len(every) :]
    return (match & _is(asked, question)).sum(axis=(0, 2)), match.sum(axis=(0, 2))


def _is(codes: Ints, question: Question) -> Ints:
    found: Ints = codes >> np.uint8(question.y) & np.uint8(1) == question.value
    return found


def plans(question: Question) -> list[Design]:
    """Return the designs that a question about a goal allows."""
    return [
        design_of(question.inputs, tuple(zip(held, at, strict=True)))
        for size in range(question.most + 1)
        for held in combinations(question.holdable, size)
        for at in product((0, 1), repeat=size)
    ]


def verdict(found: VersionSpace, question: Question, rows: Sequence[Row]) -> Verdict | None:
    """Return the exact answer and the probability of yes; None if no case fits what was noted."""
    hits, total = tally(found, question, rows)
    yes, cases = int((found.weights * hits).sum()), int((found.weights * total).sum())
    if not cases:
        return None
    return Verdict("no" if not yes else "yes" if yes == cases else "cannot", Fraction(yes, cases))


def decided(found: VersionSpace, question: Question, rows: Sequence[Row]) -> Verdict:
    """Return the exact answer; raise ValueError if no case fits what was noted."""
    told = verdict(found, question, rows)
    if told is None:
        raise ValueError("no system that fits shows what the question notes")
    return told


def witnesses(found: VersionSpace, question: Question, rows: Sequence[Row]) -> tuple[int, int]:
    """Return the numbers of the systems in which yes is most likely, and least likely."""
    hits, total = tally(found, question, rows)
    shares = np.where(total > 0, hits / np.maximum(total, 1), np.nan)
    return int(np.nanargmax(shares)), int(np.nanargmin(shares))


# Drawing.


def drawn(stream: Stream, kind: Kind, found: VersionSpace, rows: Sequence[Row]) -> Question | None:
    """Draw a question of a kind; None if these trials allow none."""
    space = found.space
    driven = range(space.roots, space.n)
    y, value = stream.choice(driven), stream.below(2)
    others = [v for v in driven if v != y]
    if kind in ("direct", "ancestor"):
        return Question(kind, y, x=stream.choice([v for v in range(space.n) if v != y]))
    if kind == "do":
        return _do(stream, space, rows, y, value)
    if kind == "goal":
        inputs = tuple(stream.below(2) for _ in range(space.roots))
        size = min(len(others), 2 + stream.below(2))
        holdable = tuple(sorted(stream.sample(others, size)))
        most = min(size, 1 + stream.below(2))
        return Question(kind, y, value, inputs=inputs, holdable=holdable, most=most)
    x = stream.choice(others)
    if kind == "had":
        fine = [
            t
            for t, row in enumerate(rows)
            if row.targets.bit_count() < 2 and not row.targets & (1 << x | 1 << y)
        ]
        if not fine:
            return None
        t = stream.choice(fine)
        return Question(kind, y, value, x, held=((x, 1 - (rows[t].values >> x & 1)),), trial=t)
    noted = _noted(stream, found, y, x if kind == "case" else None)
    if kind == "see":
        return Question(kind, y, value, noted=noted)
    return Question(kind, y, value, x, held=((x, 1 - dict(noted)[x]),), noted=noted)


def _do(stream: Stream, space: Space, rows: Sequence[Row], y: int, value: int) -> Question:
    """Draw inputs and held variables that were never tried together."""
    shown = {space.design(row) for row in rows}
    others = [v for v in range(space.roots, space.n) if v != y]
    while True:
        inputs = tuple(stream.below(2) for _ in range(space.roots))
        size = 1 + stream.below(min(2, len(others)))
        held = tuple((v, stream.below(2)) for v in sorted(stream.sample(others, size)))
        if design_of(inputs, held) not in shown:
            return Question("do", y, value, inputs=inputs, held=held)


def _noted(stream: Stream, found: VersionSpace, y: int, x: int | None) -> Values:
    """Draw what is noted of an undisturbed trial that some fitting system shows.

    At least one input stays unseen, so that the rest of the trial must be inferred. At most two
    driven variables are noted, so that an agent can take them for held ones.
    """
    space = found.space
    pool = [v for v in range(space.n) if v not in ((y,) if x is None else (x,))]
    unseen = stream.below(space.roots)
    pool.remove(unseen)
    chosen = stream.sample(pool, 1 + stream.below(min(MOST_NOTED, len(pool))))
    driven = [v for v in chosen if v >= space.roots][MOST_HELD:]
    chosen = [v for v in chosen if v not in driven]
    place = space.tables.place[Design(0, stream.below(1 << space.roots))]
    hidden = stream.below(1 + space.hidden)
    values = int(found.codes[hidden, stream.below(len(found)), place])
    return tuple((v, values >> v & 1) for v in sorted({*chosen, *([] if x is None else [x])}))
