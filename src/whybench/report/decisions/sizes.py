"""Compute the size of a run that detects a difference with the test of `compare`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from whybench.report.decisions.difference import fewest_worlds
from whybench.stats.power import (
    design_needed,
    detectable,
    instances_needed,
    mcnemar_needed,
    power_of,
)
from whybench.stats.spread import Spread

Question = Literal["two systems", "one system against a value"]


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a run that detects the given difference."""

    question: Question
    instances: int
    epochs: int
    power: float
    """Power of this size."""
    fits: bool
    """Whether the suite has enough instances."""
    detectable: float
    """Smallest difference that the whole suite detects with as many epochs."""


def design(
    question: Question,
    detect: float,
    spread: Spread,
    suite_size: int,
    *,
    epochs: int | None = None,
    rate: bool = False,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Size:
    """Return the size that detects a difference; more epochs come before more instances.

    If the suite is too small for any number of epochs, or `epochs` is given, return the number of
    instances that would suffice. `fits` is False if the suite has fewer. `rate` states whether
    scores are 0 or 1, so that `compare` can use McNemar's test.
    """
    found = None
    if epochs is None:
        found = design_needed(detect, spread, most_instances=suite_size, power=power, alpha=alpha)
    times = epochs or (found.epochs if found else 1)
    needed = (
        found.instances
        if found
        else instances_needed(detect, spread, times, power=power, alpha=alpha)
    )
    if rate and question == "two systems" and times == 1 and spread.cluster_size == 1:
        needed = max(needed, mcnemar_needed(detect, spread, power=power, alpha=alpha))
    # `compare` shows no difference with fewer clusters, however small the variance.
    least = fewest_worlds(alpha) * spread.cluster_size
    needed = max(needed, math.ceil(least - 1e-9))
    reach = math.inf
    if suite_size >= least:
        reach = detectable(spread, suite_size, times, power=power, alpha=alpha)
    return Size(
        question,
        needed,
        times,
        power_of(detect, spread, needed, times, alpha=alpha),
        needed <= suite_size,
        reach,
    )
