"""Matched triples: the same trials, the same last design, three outcomes.

One outcome forces yes, one forces no, and one leaves the question open. So the three problems agree
in everything but one row of values, and the three answers are equally frequent in every kind and
size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from whybench.causal.acyclic import acyclic_codes
from whybench.causal.seeds import Stream
from whybench.causal.version_space import (
    Design,
    Ints,
    Row,
    Space,
    System,
    VersionSpace,
    outcome,
)
from whybench.families.prism.world.questions import drawn, tally
from whybench.families.prism.world.renaming import in_one_part
from whybench.families.prism.world.world import ANSWERS, Answer, Kind, Question

CAP = 1500
"""The most systems that are listed."""

LEAST = 3
"""The fewest systems among which a triple is looked for."""

MOST_TRIALS = 15
"""The most trials before the last one."""

QUESTIONS = 4
"""Questions that are tried after each trial."""

DESIGNS = 128
"""Designs that are tried for a question."""

OPEN = (0.2, 0.8)
"""The range of the probability of yes where the question stays open."""


@dataclass(frozen=True)
class Triple:
    """Three problems that differ in one row: for each answer the trials, with the systems left."""

    question: Question
    rows: dict[Answer, tuple[Row, ...]]
    left: dict[Answer, VersionSpace]
    last: int
    """The number of the row in which they differ, as listed."""
    truths: dict[Answer, System] = field(default_factory=dict)
    """For each answer the hidden system; all are in one part of the split."""


def roots_of(n: int) -> int:
    """Return the number of inputs of a system with n variables."""
    return 2 if n <= 5 else 3


def drawn_system(stream: Stream, space: Space) -> System:
    """Draw a system of a class, all equally likely."""
    tables = space.tables
    choices = [np.flatnonzero(tables.of == v) for v in range(space.roots, space.n)]
    acyclic = acyclic_codes(space.driven)
    while True:
        chosen = [int(some[stream.below(len(some))]) for some in choices]
        few = int(tables.uses_hidden[chosen].sum()) <= 2
        if few and acyclic[int(np.bitwise_or.reduce(tables.codes[chosen]))]:
            return tuple(tables.rules[rule] for rule in chosen)


def found_triple(stream: Stream, space: Space, kind: Kind) -> Triple | None:
    """Draw a system, let trials accumulate, and look for a triple; None if there is none."""
    truth = drawn_system(stream, space)
    unused = stream.shuffled(_designs(stream, space))[:MOST_TRIALS]
    rows: list[Row] = []
    left: VersionSpace | None = None
    free = np.ones(len(space.tables.designs), dtype=bool)
    while unused:
        row = outcome(space, truth, unused.pop(), stream.below(1 + space.hidden))
        rows.append(row)
        left = left.given(row) if left else VersionSpace.of(space, rows, CAP)
        if left is None:
            continue
        if len(left) < LEAST:
            return None
        free[[space.tables.place[space.design(row)] for row in rows]] = False
        for _ in range(QUESTIONS):
            question = drawn(stream, kind, left, rows)
            triple = question and _split(stream, left, rows, question, free)
            if triple:
                return triple
    return None


def _designs(stream: Stream, space: Space) -> list[Design]:
    """Draw as many designs as trials can be needed: 0, 1 or 2 variables held, equally often."""
    pools: list[list[Design]] = [[], [], []]
    for design in space.tables.designs:
        pools[design.targets.bit_count()].append(design)
    return [design for pool in pools for design in stream.sample(pool, min(len(pool), 8))]


def _split(
    stream: Stream, left: VersionSpace, rows: list[Row], question: Question, free: Ints
) -> Triple | None:
    """Look for a design with an outcome that forces yes, one that forces no, and one that does not.

    All designs and outcomes are tried at once: the cases of the question are summed over the
    systems that show each outcome.
    """
    hits, total = tally(left, question, rows)
    yes, cases = left.weights * hits, left.weights * total
    if not yes.any() or (yes == cases).all():
        return None
    space, roots = left.space, (1 << left.space.roots) - 1
    size, fixed = 1 << space.driven, named(space, question)
    places = np.flatnonzero(free & (_varying(space, fixed) > 1))
    if not len(places):
        return None
    places = np.sort(np.roll(places, -stream.below(len(places)))[:DESIGNS])
    codes = left.codes[:, :, places] >> np.uint8(space.roots)
    cells = (codes + np.arange(len(places)) * size).ravel()
    sums = [
        np.bincount(cells, np.broadcast_to(some[:, None], codes.shape).ravel(), len(places) * size)
        for some in (yes, cases)
    ]
    of_yes, of_all = (some.reshape(-1, size) for some in sums)
    is_yes, is_no = (of_all > 0) & (of_yes == of_all), (of_all > 0) & (of_yes == 0)
    able = np.flatnonzero(is_yes.any(axis=1) & is_no.any(axis=1))
    share = of_yes[able] / np.maximum(of_all[able], 1)
    is_open = (share >= OPEN[0]) & (share <= OPEN[1])
    same = np.arange(size) & fixed >> space.roots
    fine = []
    for which, open_ in zip(able.tolist(), is_open, strict=True):
        if open_.any():
            forms = dict(zip(ANSWERS, (is_yes[which], is_no[which], open_), strict=True))
            design = space.tables.designs[places[which]]
            fine += [
                ((key, design.values & fixed & roots, which), design, forms)
                for key in np.unique(same).tolist()
                if all(form[same == key].any() for form in forms.values())
            ]
    if not fine:
        return None
    (key, *_), design, forms = stream.choice(sorted(fine, key=lambda one: one[0]))
    order = stream.shuffled(range(len(rows) + 1))
    if question.trial is not None:
        question = replace(question, trial=order.index(question.trial))
    members: dict[Answer, tuple[Row, ...]] = {}
    spaces: dict[Answer, VersionSpace] = {}
    for answer in ANSWERS:
        fitting = np.flatnonzero(forms[answer] & (same == key)).tolist()
        row = Row(design.targets, design.values & roots | stream.choice(fitting) << space.roots)
        shown = [*rows, row]
        members[answer] = tuple(shown[i] for i in order)
        spaces[answer] = left.given(row)
    return Triple(question, members, spaces, order.index(len(rows)))


@lru_cache(maxsize=1024)
def _varying(space: Space, fixed: int) -> Ints:
    """Return for each design how many variables can differ between outcomes."""
    driven = (1 << space.n) - (1 << space.roots)
    return np.array(
        [(driven & ~fixed & ~design.targets).bit_count() for design in space.tables.designs]
    )


def named(space: Space, question: Question) -> int:
    """Return the variables that must have the same values in the three outcomes.

    These are the variables that the question names. So no statistic of these columns tells the
    three problems apart. With three driven variables there are too few outcomes to fix `x` as well,
    and with two there are too few to fix any.
    """
    fixed = 1 << question.y if space.driven > 2 else 0
    return fixed | (1 << question.x if question.x is not None and space.driven > 3 else 0)


def with_truths(stream: Stream, space: Space, triple: Triple) -> Triple | None:
    """Add hidden systems, all in one part of the split; None if the trials allow none."""
    draws = {
        answer: partial(drawn_truth, stream, triple.left[answer], triple.question, rows)
        for answer, rows in triple.rows.items()
    }
    truths = in_one_part(stream, space.n, draws)
    return replace(triple, truths=truths) if truths else None


def drawn_truth(
    stream: Stream, left: VersionSpace, question: Question, rows: Sequence[Row]
) -> System:
    """Draw a system from the posterior: what fits the trials and what the question notes."""
    _, total = tally(left, question, rows)
    weights = np.cumsum(left.weights * total)
    at = stream.below(int(weights[-1]))
    return left.system(int(np.searchsorted(weights, at, side="right")))
