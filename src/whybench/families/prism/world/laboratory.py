"""Laboratories: an opening of shown trials, then experiments of the agent's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from whybench.causal.experiments import TooDeepError
from whybench.causal.seeds import Stream
from whybench.causal.version_space import Row, Space, System, VersionSpace, outcome
from whybench.families.prism.parameters import Plan
from whybench.families.prism.proof.closure import Closure
from whybench.families.prism.world.questions import drawn
from whybench.families.prism.world.renaming import in_one_part
from whybench.families.prism.world.triples import drawn_system
from whybench.families.prism.world.world import ANSWERS, Answer, Kind, Lab, Question

TRIES = 8
"""Questions that are tried after an opening."""


@dataclass(frozen=True)
class Laboratory:
    """Three problems with the same opening; only what experiments show is different."""

    rows: tuple[Row, ...]
    question: Question
    lab: Lab
    found: VersionSpace
    truths: dict[Answer, System]
    """For each answer the hidden system; all are in one part of the split."""


def found_laboratory(stream: Stream, space: Space, kind: Kind, plan: Plan) -> Laboratory | None:
    """Draw an opening and look for a question that experiments answer with all three labels."""
    truth = drawn_system(stream, space)
    rows: list[Row] = []
    unused = stream.shuffled(space.tables.designs)
    while (found := VersionSpace.of(space, rows, plan.most)) is None:
        rows.append(outcome(space, truth, unused.pop()))
    driven = range(space.roots, space.n)
    for _ in range(TRIES):
        question = drawn(stream, kind, found, rows)
        some = stream.sample(driven, 1 + stream.below(len(driven) - 1))
        if question is None:
            continue
        closure = Closure(found, question, tuple(sorted(some)))
        if len(closure.left(closure.every)) < len(ANSWERS):
            continue
        if closure.bits(closure.every) < plan.open:
            continue
        try:
            depth = closure.minimax()
        except TooDeepError:
            continue
        if depth >= plan.deep:
            lab = Lab(tuple(sorted(some)), budget=depth + 1, minimax=depth)
            truths = in_one_part(stream, space.n, _draws(stream, found, closure))
            if truths:
                return Laboratory(tuple(rows), question, lab, found, truths)
    return None


def _draws(
    stream: Stream, found: VersionSpace, closure: Closure
) -> dict[Answer, Callable[[], System]]:
    """Return for each answer a draw of the systems with this label."""
    labels = np.array(closure.labels)[closure.cell]

    def draw(places: list[int]) -> System:
        return found.system(stream.choice(places))

    return {answer: partial(draw, np.flatnonzero(labels == answer).tolist()) for answer in ANSWERS}
