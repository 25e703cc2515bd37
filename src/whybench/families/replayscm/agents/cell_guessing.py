"""Guessers for questions about a cell: the nearest rows, and a learned reader of counts.

The reader counts shown rows that agree with parts of the further row. It never asks which sets of
inputs could be the parents of a variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whybench.families.replayscm.agents.guessing import Floats
from whybench.families.replayscm.proof.pairs import Ints, ones
from whybench.families.replayscm.world.generation.questions import agreement, appearance, parts_of
from whybench.families.replayscm.world.world import ANSWERS, Asked, View

STEPS = 400
"""Steps of the fit."""


def nearest(view: View) -> str:
    """Answer with the value of most of the nearest rows; `cannot` if they are divided equally."""
    asked, rows = _question(view)
    known = asked.targets | (view.told.roots or 0)
    far = ones((rows ^ asked.row) & known)
    near = rows[far == far.min()] >> asked.variable & 1
    balance = 2 * int(near.sum()) - len(near)
    return "cannot" if balance == 0 else "yes" if balance > 0 else "no"


def features(view: View) -> Floats:
    """Return what can be counted about a question."""
    asked, rows = _question(view)
    roots, value = view.told.roots or 0, rows >> asked.variable & 1
    often = sum(table.targets >> asked.variable & 1 for table in view.train)
    plain = [view.n, view.told.k, len(rows), value.mean(), asked.row.bit_count(), often]
    counted = [
        appearance(parts, agreement(parts, np.array([asked.row]), rows), value)[0]
        for parts in ([asked.targets], [roots], parts_of(asked.targets | roots))
    ]
    return np.concatenate([plain, *counted])


def _question(view: View) -> tuple[Asked, Ints]:
    """Return the question, and the shown rows in which the asked variable is free."""
    asked = view.asked
    if asked is None:
        raise ValueError("this problem asks for mechanisms")
    free = [table for table in view.train if not table.targets >> asked.variable & 1]
    return asked, np.array([row for table in free for row in table.rows()])


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """A logistic regression from features to the three answers."""

    centre: Floats
    scale: Floats
    weights: Floats

    @classmethod
    def fitted(cls, seen: Sequence[tuple[Floats, str]]) -> AnswerReader:
        """Fit it to features with their answers, by gradient steps."""
        values = np.array([one for one, _ in seen])
        right = np.array([[said == one for one in ANSWERS] for _, said in seen], dtype=float)
        centre, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
        inputs = (values - centre) / scale
        weights = np.zeros((inputs.shape[1], len(ANSWERS)))
        for _ in range(STEPS):
            chance = np.exp(inputs @ weights)
            chance /= chance.sum(axis=1, keepdims=True)
            weights += 0.1 * (inputs.T @ (right - chance) / len(seen) - 0.01 * weights)
        return cls(centre, scale, weights)

    def read(self, view: View) -> str:
        """Return the likeliest answer."""
        inputs = (features(view) - self.centre) / self.scale
        return ANSWERS[int((inputs @ self.weights).argmax())]
