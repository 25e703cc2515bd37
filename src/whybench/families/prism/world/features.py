"""Cheap features of a problem: all that a guesser sees without testing any idea about a rule.

They are frequencies, correlations and similarities of rows. The screen and the learned guessers use
them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whybench.causal.version_space import Ints, Row, Space
from whybench.families.prism.world.local import local_verdict, rules_of
from whybench.families.prism.world.world import ANSWERS, KINDS, Question


def features(space: Space, question: Question, rows: Sequence[Row]) -> list[float]:
    """Return the features of a problem."""
    n, bits = space.n, np.arange(space.n)
    values = np.array([row.values for row in rows])[:, None] >> bits & 1
    held = np.array([row.targets for row in rows])[:, None] >> bits & 1 == 1
    quiet = ~held.any(axis=1)
    y = np.where(values[:, question.y] == question.value, 1, 0)
    free = ~held[:, question.y]
    kind = [float(question.kind == kind) for kind in KINDS]
    found = [float(n), float(len(rows)), *kind]
    found += [quiet.mean(), held.mean(), values.mean(), values[:, space.roots :].mean()]
    found += [len(question.noted), len(question.held), len(question.holdable), question.most]
    found += [held[:, question.y].mean(), y.mean(), _mean(y, free), _mean(y, quiet)]
    found += _about_x(space, question, values, held, y, free, quiet)
    found += _about_others(space, question, values, held, y, free)
    found += _about_likeness(space, question, rows, values, held, y, free, quiet)
    return [float(value) for value in found]


def local_features(space: Space, question: Question, rows: Sequence[Row]) -> list[float]:
    """Return features of the rules of y that fit: how many, how many use x, and their verdict."""
    rules = rules_of(space, question.y, rows)
    uses = [question.x in rule.arguments for rule in rules]
    sets = {rule.arguments for rule in rules}
    with_x = [question.x in arguments for arguments in sets]
    said = local_verdict(space, question, rows)
    return [
        float(np.log1p(len(rules))),
        float(np.log1p(len(sets))),
        float(np.mean(uses)),
        float(np.mean(with_x)),
        *(float(said == answer) for answer in ANSWERS),
    ]


def _mean(of: Ints, where: Ints, default: float = 0.5) -> float:
    some = of[where]
    return float(some.mean()) if len(some) else default


def _correlation(a: Ints, b: Ints) -> float:
    if len(a) < 2:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size else 0.0


def _about_x(
    space: Space, question: Question, values: Ints, held: Ints, y: Ints, free: Ints, quiet: Ints
) -> list[float]:
    """Return what the columns of x and y say about each other."""
    if question.x is None:
        return [0.0] * 21
    x, on = values[:, question.x], held[:, question.x]
    wild = free & ~on
    found = [float(question.x < space.roots), on.mean(), x.mean(), _mean(x, free), _mean(x, quiet)]
    found += [_correlation(x[some], y[some]) for some in (free | True, free, quiet, wild)]
    for some in (free, wild, free & on):
        means = [_mean(y, some & (x == value)) for value in (0, 1)]
        found += [*means, means[1] - means[0]]
    return found + [float((free & (x == i) & (y == j)).sum()) for i, j in ((0, 0), (0, 1), (1, 1))]


def _about_others(
    space: Space, question: Question, values: Ints, held: Ints, y: Ints, free: Ints
) -> list[float]:
    """Return how the other columns agree with y and with x, best first."""
    others = [v for v in range(space.n) if v not in (question.y, question.x)]
    some = values[free][:, others]
    if not len(some):
        return [0.5] * 16
    same = np.sort((some == y[free][:, None]).mean(axis=0))
    inputs = (values[free][:, : space.roots] == y[free][:, None]).mean(axis=0)
    varied = np.sort(some.mean(axis=0))
    found = [same[-1], same[-2], same.mean(), same[1], same[0], inputs.max(), inputs.min()]
    found += [float((same == 1).sum()), float((same == 0).sum()), varied[0], varied[-1]]
    found += [varied.std(), float(len(np.unique(values, axis=0))) / len(values)]
    if question.x is None:
        return [*found, 0.0, 0.0, 0.0]
    wild = ~held[:, question.x]
    like = (values[wild][:, others] == values[wild][:, [question.x]]).mean(axis=0)
    return [*found, like.max(), like.min(), like.mean()] if wild.any() else [*found, 0.5, 0.5, 0.5]


def _about_likeness(
    space: Space,
    question: Question,
    rows: Sequence[Row],
    values: Ints,
    held: Ints,
    y: Ints,
    free: Ints,
    quiet: Ints,
) -> list[float]:
    """Return what y was in the rows that are most like the asked situation."""
    asked = dict(enumerate(question.inputs)) | dict(question.noted) | dict(question.held)
    was = 0.5
    if question.trial is not None:
        asked = {v: rows[question.trial].values >> v & 1 for v in range(space.roots)} | asked
        was = float(y[question.trial])
    if question.y in dict(question.noted):
        was = float(dict(question.noted)[question.y] == question.value)
        asked.pop(question.y)
    if not asked or not free.any():
        return [was] + [0.5] * 9
    wanted = np.array(list(asked.values()))
    like = (values[:, list(asked)] == wanted).mean(axis=1)
    set_ = held[:, list(asked)] & (values[:, list(asked)] == wanted)
    touched = held[:, list(question.holdable)].any(axis=1) if question.holdable else ~quiet
    best = free & (like == like[free].max())
    weights = np.exp(4 * like[free])
    return [
        was,
        float(like[free].max()),
        _mean(y, best),
        float((weights * y[free]).sum() / weights.sum()),
        float((free & (like == 1)).sum()),
        _mean(y, free & (like == 1)),
        _mean(y, quiet & (like > 0.6)),
        _mean(y, free & set_.any(axis=1)),
        _mean(y, free & touched),
        _mean(y, free & touched & (like > 0.6)),
    ]
