"""What disambiguation during generation brings (Tables F.1, F.3, F.4, F.5).

A base cohort has the training worlds before targeted disambiguation: `-T disambiguation=false`. It
has the same hidden SCMs and held-out worlds as the later cohorts, so differences are paired. The
paper's base cohort has other SCMs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whybench.families.replayscm.extras.analyses.attempt import Attempt, by_latent, rows, systems

COHORTS = (("ord_base", "ord_match", "ord_ext"), ("hid_base", "hid_match", "hid_ext"))
"""Base cohort, disambiguated cohort and extension cohort, for each disclosure."""

NAMES = ("base", "disambiguated", "extension")

METRICS = ("train_world_exact", "heldout_world_exact", "train_exact")

FIGURES = ("heldout_world", "gap", "retention", "train_exact")
"""Figures of a cohort: the gap is train minus held-out, retention held-out divided by train."""

Floats = NDArray[np.float64]


def base_pool(suite: str) -> str:
    """Return the pool name of a suite without disambiguation.

    >>> base_pool("hid_match"), base_pool("block")
    ('hid_base', 'block_base')
    """
    return f"{suite.removesuffix('_match')}_base"


@dataclass(frozen=True, slots=True)
class Cohort:
    """One row of Table F.3."""

    system: str
    pool: str
    cohort: str
    n: int
    train_world: float
    heldout_world: float
    gap: float
    retention: float


@dataclass(frozen=True, slots=True)
class CohortDelta:
    """One row of Tables F.1, F.4 and F.5: a later cohort minus the base cohort."""

    system: str
    pool: str
    cohort: str
    n: int
    """Hidden SCMs that both cohorts have."""
    change: dict[str, tuple[float, float, float]]
    """Figure → difference with the bounds of its 95 % interval."""


def cohort_summaries(attempts: Iterable[Attempt]) -> list[Cohort]:
    """Table F.3; `attempt.pooled` first gives the paper's form, over all systems.

    >>> made = [Attempt("s", "ord_match", f"m{i}", {"train_world_exact": 1.0,
    ...     "heldout_world_exact": h, "train_exact": 1.0}) for i, h in enumerate((1.0, 0.5))]
    >>> [row] = cohort_summaries(made)
    >>> row.cohort, row.gap, row.retention
    ('disambiguated', 0.25, 0.75)
    """
    grouped = rows(attempts)
    found = []
    for system in systems(grouped):
        for pools in COHORTS:
            for pool, cohort in zip(pools, NAMES, strict=True):
                listed = grouped.get((system, pool), [])
                table = _table(listed, list(dict.fromkeys(a.latent for a in listed)))
                if len(table):
                    held, gap, retention, _ = map(float, _figures(table))
                    found.append(
                        Cohort(system, pool, cohort, len(table), held + gap, held, gap, retention)
                    )
    return found


def cohort_deltas(
    attempts: Iterable[Attempt], *, resamples: int = 2000, seed: int = 0
) -> list[CohortDelta]:
    """Tables F.1, F.4 and F.5: differences with a paired bootstrap over hidden SCMs."""
    grouped = rows(attempts)
    found = []
    for system in systems(grouped):
        for base, *later in COHORTS:
            for pool, cohort in zip(later, NAMES[1:], strict=True):
                both = [grouped.get((system, name), []) for name in (base, pool)]
                theirs = {a.latent for a in both[1]}
                shared = [m for m in dict.fromkeys(a.latent for a in both[0]) if m in theirs]
                before, after = (_table(listed, shared) for listed in both)
                if len(before) and len(before) == len(after):
                    change = _change(before, after, resamples, seed)
                    found.append(CohortDelta(system, pool, cohort, len(before), change))
    return found


def _table(attempts: Sequence[Attempt], latents: Sequence[str]) -> Floats:
    """Return the metrics of each hidden SCM, a row each; SCMs that lack one are left out."""
    known = [by_latent(attempts, metric) for metric in METRICS]
    kept = [latent for latent in latents if all(latent in one for one in known)]
    return np.array([[one[latent] for one in known] for latent in kept], dtype=np.float64)


def _figures(table: Floats) -> Floats:
    """Return the figures of a cohort, in the order of `FIGURES`; retention is NaN without a fit."""
    train, held, exact = table.mean(axis=0)
    return np.array([held, train - held, held / train if train else np.nan, exact])


def _change(
    before: Floats, after: Floats, resamples: int, seed: int
) -> dict[str, tuple[float, float, float]]:
    """Return the differences with percentile intervals over resampled hidden SCMs."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        kept = rng.integers(0, len(before), len(before))
        drawn.append(_figures(after[kept]) - _figures(before[kept]))
    whole = _figures(after) - _figures(before)
    found = {}
    for place, name in enumerate(FIGURES):
        known = np.array([one[place] for one in drawn])
        known = known[~np.isnan(known)]
        low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (np.nan, np.nan)
        found[name] = (float(whole[place]), float(low), float(high))
    return found
