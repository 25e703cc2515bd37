"""Scores by instance: dropping what is unscored, and averaging over systems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean

Scores = Mapping[str, float | None]
"""Instance → score; None and NaN mean unscored, never zero."""


def known(scores: Scores) -> dict[str, float]:
    """Keep what is scored.

    >>> known({"a": 0.5, "b": None, "c": math.nan, "d": 0})
    {'a': 0.5, 'd': 0.0}
    """
    found = {}
    for instance, score in scores.items():
        if score is not None and not math.isnan(score):
            if math.isinf(score):
                raise ValueError(
                    f"The score of {instance} is infinite. Give None if it has no score."
                )
            found[instance] = float(score)
    return found


def joined(scores: Scores, values: Scores) -> list[tuple[float, float]]:
    """Return value and score of each instance that has both, in the scores' order.

    >>> joined({"a": 0.5, "b": 1.0, "c": None}, {"c": 3, "b": 2, "a": None})
    [(2.0, 1.0)]
    """
    given = known(values)
    return [(given[one], score) for one, score in known(scores).items() if one in given]


def over_systems(scores: Mapping[str, Scores], every: bool = False) -> dict[str, float]:
    """Return each instance's mean over the systems, from system → instance → score.

    An instance that a weak system lacks looks easier than it is; with `every` only instances that
    all systems have are kept.

    >>> over_systems({"s": {"a": 0.0, "b": 1.0}, "t": {"a": 1.0}})
    {'a': 0.5, 'b': 1.0}
    >>> over_systems({"s": {"a": 0.0, "b": 1.0}, "t": {"a": 1.0}}, every=True)
    {'a': 0.5}
    """
    found: dict[str, list[float]] = {}
    for own in scores.values():
        for instance, score in known(own).items():
            found.setdefault(instance, []).append(score)
    return {
        one: fmean(given) for one, given in found.items() if not every or len(given) == len(scores)
    }


def shared(scores: Mapping[str, Scores]) -> dict[str, dict[str, float]]:
    """Keep the instances that every system is scored on.

    >>> shared({"s": {"a": 0.0, "b": 1.0}, "t": {"a": 1.0}})
    {'s': {'a': 0.0}, 't': {'a': 1.0}}
    """
    scored = {system: known(own) for system, own in scores.items()}
    kept = set.intersection(*(set(own) for own in scored.values())) if scored else set()
    return {s: {i: score for i, score in own.items() if i in kept} for s, own in scored.items()}
