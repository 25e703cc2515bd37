"""Relate residual ambiguity to success: metrics by the bits that the training worlds leave open.

The paper bins by a proxy from its generator, shortcut-kill coverage (Table F.6). We use the number
in the certificate: bits of residual ambiguity, 0 if the training worlds force the SCM.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whybench.families.replayscm.extras.analyses.attempt import Attempt, measured, systems
from whybench.stats.interval import Interval


@dataclass(frozen=True, slots=True)
class BitsBin:
    """One metric of one system where `over` < bits <= `up_to`."""

    system: str
    over: float
    """Bits are more than this; -inf in the first bin."""
    up_to: float
    """Bits are at most this; inf in the last bin."""
    metric: str
    mean: Interval


def by_bits(
    attempts: Iterable[Attempt],
    metrics: Sequence[str],
    edges: Sequence[float],
    level: float = 0.95,
) -> list[BitsBin]:
    """Table F.6's counterpart: mean of each metric in bins of residual bits, by system.

    Bins end at each edge and include it, so an edge at 0 separates identified problems. The last
    bin is above all edges. Intervals are clustered by hidden SCM. Attempts without bits are left
    out, and empty bins have n = 0.

    >>> tried = [Attempt("s", "bits_4", f"m{bits}", {"bits": bits, "train_exact": bits < 3})
    ...     for bits in range(5)]
    >>> for row in by_bits(tried, ["train_exact"], edges=[0, 3]):
    ...     print(row.over, row.up_to, row.mean.n, round(row.mean.estimate, 3))
    -inf 0 1 1.0
    0 3 3 0.667
    3 inf 1 0.0
    """
    if any(after <= before for before, after in pairwise(edges)):
        raise ValueError(f"edges must be increasing, such as [0, 2, 4]; got {list(edges)}")
    listed = list(attempts)
    found = []
    for system in systems((attempt.system, attempt.pool) for attempt in listed):
        own = [attempt for attempt in listed if attempt.system == system]
        for over, up_to in pairwise((-math.inf, *edges, math.inf)):
            inside = [
                attempt
                for attempt in own
                if (bits := attempt.value("bits")) is not None and over < bits <= up_to
            ]
            found += [
                BitsBin(system, over, up_to, metric, measured(inside, metric, level))
                for metric in metrics
            ]
    return found
