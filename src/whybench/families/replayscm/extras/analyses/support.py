"""Does stronger evidence help? The same hidden SCMs with more and more training worlds.

The levels are: the original problems, extra worlds, counterexamples against the alternatives that
were found, and certified problems, where the training worlds leave no alternative. The paper's
ladder ends at counterexamples, which rule out only what was found. The last level is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from whybench.families.replayscm.extras.analyses.attempt import Attempt, measured, rows, systems
from whybench.families.replayscm.extras.analyses.disclosure import (
    REPLAY,
    Delta,
    Pair,
    paired_deltas,
)
from whybench.stats.interval import Interval

LEVELS = ("original", "extra_worlds", "counterexamples", "certified")

LADDERS: dict[str, tuple[str, ...]] = {
    "ordered": ("ord_match", "ord_ext", "ord_cex", "ord_cert"),
    "hidden": ("hid_match", "hid_ext", "hid_cex", "hid_cert"),
}
"""Disclosure → the pool of each level."""

SUPPORT_STEPS: tuple[Pair, ...] = tuple(
    (after, before) for pools in LADDERS.values() for before, after in pairwise(pools)
)
"""Each level before the one below it, so that a difference is the gain from more evidence."""

ORDER_GAPS: tuple[Pair, ...] = tuple(zip(LADDERS["hidden"], LADDERS["ordered"], strict=True))
"""Hidden-order before Ordered at each level, as in Table F.10."""

SUPPORT_METRICS = (
    "valid",
    "train_exact",
    "train_world_exact",
    "heldout_world_exact",
    "heldout_exact",
)
"""The columns of Table E.1; its conditional one is in `retention`."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One metric of one system at one level of support."""

    disclosure: str
    level: str
    pool: str
    system: str
    metric: str
    mean: Interval


def support_ladder(
    attempts: Iterable[Attempt], metrics: Sequence[str] = SUPPORT_METRICS, level: float = 0.95
) -> list[Rung]:
    """Tables E.1 and F.7: metrics at each level of support, by disclosure and system.

    A before/after comparison mixes better evidence with longer prompts (caption of Table F.7).

    >>> tried = [Attempt("s", "hid_ext", m, {"train_exact": m == "a"}) for m in "abc"]
    >>> [rung] = support_ladder(tried, ["train_exact"])
    >>> rung.disclosure, rung.level, round(rung.mean.estimate, 3), rung.mean.clusters
    ('hidden', 'extra_worlds', 0.333, 3)
    """
    grouped = rows(attempts)
    return [
        Rung(disclosure, name, pool, system, metric, measured(grouped[system, pool], metric, level))
        for disclosure, pools in LADDERS.items()
        for system in systems(grouped)
        for name, pool in zip(LEVELS, pools, strict=True)
        if (system, pool) in grouped
        for metric in metrics
    ]


def support_deltas(
    attempts: Iterable[Attempt],
    metrics: Sequence[str] = REPLAY,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Delta]:
    """Table F.10: gain from each step of support, then Hidden-order minus Ordered at each level.

    Differences are paired by hidden SCM, so levels are compared only on the same SCMs.
    """
    return paired_deltas(
        attempts,
        (*SUPPORT_STEPS, *ORDER_GAPS),
        metrics,
        level=level,
        resamples=resamples,
        seed=seed,
    )
