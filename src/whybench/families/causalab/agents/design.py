"""The exact agent's plan: which property to set next, and to which value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whybench.causal.graph import members
from whybench.families.causalab.proof.equations import Array, features
from whybench.families.causalab.proof.evidence import Evidence, Inference
from whybench.families.causalab.world.world import FREQUENCY, Reading, View

LEVELS = (100.0, 0.0, 47.0, 83.0, 21.0, 62.0, 9.0, 95.0, 34.0, 71.0)
"""Settings in per cent of the range; far apart and without simple ratios."""

ROUNDS = 4
"""Most settings of one property in a linear system with rounded readings."""

RIDGE = 1e-9
"""Keeps volumes above zero while a node has too few equations."""


def next_setting(evidence: Evidence, found: Inference) -> tuple[int, float] | None:
    """Return a property that must still be set, and its value; None if none is left.

    A linear equation needs each property once, a quadratic one twice; more often only if rounding
    hides what the readings say.
    """
    view = evidence.view
    own = [r for r in evidence.readings if r.crystal == view.baseline.crystal]
    times = {v: sum(r.target == v for r in own) for v in view.targets()}
    left = [v for v in view.targets() if times[v] < (2 if view.quadratic else 1)]
    if not left:
        return _again(evidence, found, own, times)
    if view.quadratic:
        return _most_informative(evidence, found, own, left)
    return _upstream_first(view, found, own, left)


def level(view: View, number: int) -> float:
    """Return the setting with a given number, within the range and with two decimals."""
    return int(LEVELS[number % len(LEVELS)] * min(view.limit or 100.0, 100.0)) / 100


def _again(
    evidence: Evidence, found: Inference, own: Sequence[Reading], times: Mapping[int, int]
) -> tuple[int, float] | None:
    """Set the property that was set least often to the other end, if precision is all we lack."""
    view = evidence.view
    unsure = (v for v in range(view.k) if found.parents[v] is None)
    if not view.rounded or any(len(evidence.solved(v, found.causes[v]).free) for v in unsure):
        return None
    v = min(times, key=lambda v: times[v], default=FREQUENCY)
    if times.get(v, ROUNDS) == ROUNDS:
        return None
    last = next(r.setting for r in reversed(own) if r.target == v)
    return v, max(level(view, 0), level(view, 1), key=lambda end: abs(end - last))


def _upstream_first(
    view: View, found: Inference, own: Sequence[Reading], left: Sequence[int]
) -> tuple[int, float]:
    """Sort properties that move at every intervention last, because they may not be needed.

    Ties go to the smaller reading. This heuristic does not affect the proof.
    """
    moved = {v: sum(below >> v & 1 for below in found.below) for v in left}
    v = min(left, key=lambda v: (moved[v], abs(own[0].values[v])))
    ends = (level(view, 0), level(view, 1))
    return v, max(ends, key=lambda end: abs(end - own[-1].values[v]))


def _most_informative(
    evidence: Evidence, found: Inference, own: Sequence[Reading], left: Sequence[int]
) -> tuple[int, float]:
    """Choose the setting that makes the equations of all nodes span the most volume."""
    view = evidence.view
    used = {(r.target, r.setting) for r in own}
    offers = [
        (v, level(view, i)) for v in left for i in range(len(LEVELS))
        if (v, level(view, i)) not in used
    ]  # fmt: skip
    weights = np.array([evidence.solved(u, own).weights for u, own in enumerate(found.causes)])
    columns = [[c for p in members(causes) for c in (p, view.k + p)] for causes in found.causes]
    expected = [
        features(_foreseen(view, weights, own, v, setting), view.quadratic) for v, setting in offers
    ]
    worth = np.zeros(len(offers))
    for u, chosen in enumerate(columns):
        if chosen:
            worth += _spanned(evidence, u, chosen, [v for v, _ in offers], expected)
    return offers[int(np.argmax(worth))]


def _foreseen(view: View, weights: Array, own: Sequence[Reading], v: int, setting: float) -> Array:
    """Return the readings that the known equations predict."""
    now = np.array(own[-1].values)
    terms = weights @ features(now, view.quadratic)
    bases = now - terms
    bases[v] = setting if view.semantics == "shift" else setting - terms[v]
    for _ in range(view.k):
        now = bases + weights @ features(now, view.quadratic)
    bounded: Array = np.clip(now, -1e4, 1e4)
    return bounded


def _spanned(
    evidence: Evidence, u: int, own: list[int], targets: Sequence[int], expected: Sequence[Array]
) -> Array:
    """Return the volumes that a node's equations would span with each expected reading."""
    left = evidence.equations(u).left[:, own]
    scale = np.where(np.array(own) < evidence.view.k, 1e2, 1e4)
    part = np.empty((len(left) + 1, len(own)), order="F")
    part[:-1] = left / scale
    known = u != FREQUENCY and evidence.has_known_base(u)
    reference = evidence.features[evidence.last_reference(u)]
    ridge = RIDGE * np.eye(len(own))
    squares = np.empty((len(targets), len(own), len(own)))
    for i, (v, row) in enumerate(zip(targets, expected, strict=True)):
        whole = known or (u == v and u != FREQUENCY)
        part[-1] = (row if whole else row - reference)[own] / scale
        squares[i] = part.T @ part + ridge
    volumes: Array = np.linalg.slogdet(squares)[1]
    return volumes
