"""Labels of predictions against a recomputation in fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.registry import families

FAMILY = families()["causalab"]
LABELS = ("understood", "lucky", "premature", "contradicted")
HALF = Fraction(1, 200)
SUITES = ("main_3", "main_4", "main_5", "main_6", "partial_4", "scaling_4")


def inverse(matrix):
    """Gauss and Jordan; None if there is no inverse."""
    n = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for c in range(n):
        pivot = next((i for i in range(c, n) if rows[i][c]), None)
        if pivot is None:
            return None
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for i in range(n):
            if i != c and rows[i][c]:
                rows[i] = [x - rows[i][c] * y for x, y in zip(rows[i], rows[c], strict=True)]
    return [row[n:] for row in rows]


def expected(readings, reactor, answer, target, tolerance):
    """Return the label; None if the readings are close to the edge of what rounding hides."""
    table = [[Fraction(str(x)) for x in reading] for reading in readings]
    first, shown = table[0], [Fraction(str(x)) for x in reactor]
    left = [[a - b for a, b in zip(row[1:], first[1:], strict=True)] for row in table[1:]]
    right = [row[0] - first[0] for row in table[1:]]
    n = len(first) - 1
    square = [[sum(row[i] * row[j] for row in left) for j in range(n)] for i in range(n)]
    turned = inverse(square) if len(left) >= n else None
    known = None
    if turned is not None:
        solve = [[sum(t[j] * row[j] for j in range(n)) for row in left] for t in turned]
        room = [sum(map(abs, row)) * 2 * HALF for row in solve]
        gain = sum(room)
        if float(sum(square[i][i] for i in range(n))) and gain < 1:
            weights = [sum(a * b for a, b in zip(row, right, strict=True)) for row in solve]
            most = (1 + sum(map(abs, weights))) / (1 - gain)
            step = [a - b for a, b in zip(shown[1:], first[1:], strict=True)]
            value = first[0] + sum(w * s for w, s in zip(weights, step, strict=True))
            pull = [sum(step[i] * solve[i][r] for i in range(n)) for r in range(len(left))]
            error = (sum(map(abs, pull)) + 1) * 2 * HALF * most
            known = float(value), float(error)
    if known is None:
        return {"lucky"} if abs(answer - target) < tolerance else {"premature"}
    value, error = known
    if abs(answer - target) < tolerance:
        return {"understood"} if error < tolerance else {"lucky"}
    return {"premature"} if abs(answer - value) < tolerance + error else {"contradicted"}


def episode_of(suite, index, stream):
    instance = FAMILY.suite(suite, seed="labels").row(index)
    episode, world = FAMILY.open(instance), FAMILY.world(instance)
    view = world.view
    for _ in range(stream.below(min(view.budget, 2 * view.k) + 1)):
        name = view.names[stream.choice(view.targets())]
        episode.step(Action.of("intervene", property=name, value=str(stream.below(101))))
    episode.step(Action.of("open_reactor"))
    offset = stream.choice((0.0, 0.2, -0.3, 0.7, 3.0, -40.0))
    answer = round(world.target + offset, 2)
    claim = '{"edges": [], "coefficients": {"base": 1}}'
    episode.step(Action.of("submit", frequency=str(answer), hypothesis=claim))
    return episode, world, answer


@pytest.mark.parametrize("count", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_labels_equal_a_recomputation_in_fractions(count):
    stream, seen = Stream("labels"), Counter()
    for i in range(count):
        episode, world, answer = episode_of(SUITES[i % len(SUITES)], i % 50, stream)
        values = FAMILY.score_episode(episode).values
        label = {name for name in LABELS if values[name]}
        view = world.view
        readings = [r.values for r in (*view.records, view.baseline)]
        readings += [
            tuple(step.observation.data[name] for name in view.names)
            for step in episode.trace.steps
            if step.action.name == "intervene"
        ]
        reactor = world.shown()
        assert label == expected(readings, reactor, answer, world.target, view.tolerance), i
        seen.update(label)
    assert set(seen) == set(LABELS)


def test_an_episode_without_an_answer_has_no_label():
    episode = FAMILY.open(FAMILY.suite("main_3")[0])
    assert not any(FAMILY.score_episode(episode).values[name] for name in LABELS)
