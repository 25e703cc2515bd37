"""The cost of hiding structure: differences on the same hidden SCMs (Table D.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whybench.families.replayscm.extras.analyses.attempt import Attempt, by_latent, rows, systems
from whybench.stats.paired import Paired, paired_bootstrap

Pair = tuple[str, str]
"""Two pools over the same hidden SCMs."""

DISCLOSURE_STEPS: tuple[Pair, ...] = (
    ("ord_match", "block"),
    ("block", "hid_match"),
    ("ord_match", "hid_match"),
    ("hid_match", "hid_roots"),
)
"""From more to less disclosed, as in Table D.1."""

REPLAY = ("train_exact", "heldout_world_exact")
"""The metrics of Table D.1."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The difference of one metric between two pools, for one system."""

    system: str
    first: str
    second: str
    metric: str
    difference: Paired
    """First minus second, over the hidden SCMs where the metric applies to both."""


def disclosure_deltas(
    attempts: Iterable[Attempt],
    metrics: Sequence[str] = REPLAY,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Delta]:
    """Table D.1: positive if results are worse with less disclosure (for SHD, better).

    >>> def tried(pool, exact):
    ...     return [Attempt("s", pool, f"m{i}", {"train_exact": v}) for i, v in enumerate(exact)]
    >>> [delta] = disclosure_deltas(tried("block", [1, 1, 0]) + tried("hid_match", [1, 0]),
    ...     metrics=["train_exact"])
    >>> delta.first, delta.second, delta.difference.estimate, delta.difference.n
    ('block', 'hid_match', 0.5, 2)
    """
    return paired_deltas(
        attempts, DISCLOSURE_STEPS, metrics, level=level, resamples=resamples, seed=seed
    )


def paired_deltas(
    attempts: Iterable[Attempt],
    pairs: Sequence[Pair],
    metrics: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Delta]:
    """Difference of each metric between each pair of pools, by system, over hidden SCMs.

    A system has a row if it tried both pools. Repeats at one hidden SCM are averaged. A hidden SCM
    is left out if one side lacks it, or if the metric does not apply.
    """
    grouped = rows(attempts)
    return [
        Delta(
            system,
            first,
            second,
            metric,
            paired_bootstrap(
                by_latent(grouped[system, first], metric),
                by_latent(grouped[system, second], metric),
                level=level,
                resamples=resamples,
                seed=seed,
            ),
        )
        for first, second in pairs
        for system in systems(grouped)
        if (system, first) in grouped and (system, second) in grouped
        for metric in metrics
    ]
