"""Laboratories: an opening of shown trials, then experiments of the agent's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whybench.causal.experiments import TooDeepError
from whybench.causal.seeds import Stream
from whybench.causal.version_space import Row, Space, System, VersionSpace, outcome
from whybench.families.prism.parameters import Plan
from whybench.families.prism.proof.closure import Closure
from whybench.families.prism.world.questions import drawn
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
    closure: Closure

    def truth(self, stream: Stream, answer: Answer) -> System:
        """Draw a hidden system whose label is an answer."""
        labels = np.array(self.closure.labels)[self.closure.cell]
        return self.found.system(int(stream.choice(np.flatnonzero(labels == answer).tolist())))


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
            return Laboratory(tuple(rows), question, lab, found, closure)
    return None
