"""Does a fit of the training worlds carry over to held-out worlds? (Tables C.4 and F.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whybench.families.replayscm.extras.analyses.attempt import Attempt, mean, rows
from whybench.families.replayscm.extras.analyses.conditional import Conditional


@dataclass(frozen=True, slots=True)
class Retention:
    """Training against held-out replay of one system in one pool."""

    system: str
    pool: str
    n: int
    train_exact: Conditional
    """TrainExact among all attempts; its numerator is the number of train-exact answers."""
    train_world_exact: float | None
    heldout_world_exact: float | None
    gap: float | None
    """TrainWorldExact minus HeldoutWorldExact."""
    retention: float | None
    """HeldoutWorldExact / TrainWorldExact; None if the divisor is zero."""
    heldout_world_given_train_exact: Conditional
    heldout_exact_given_train_exact: Conditional


def retentions(attempts: Iterable[Attempt]) -> list[Retention]:
    """Table C.4 by system and pool; of `pooled` attempts, Table F.3.

    Retention is the ratio of the two means, so problems with a better fit have more weight. An
    attempt counts for means, gap and ratio only if both world rates apply to it.

    >>> tried = [Attempt("s", "block", m, {"train_exact": t == 1, "train_world_exact": t,
    ...     "heldout_world_exact": h}) for m, t, h in [("a", 1, 0.75), ("b", 0.5, 0.375)]]
    >>> [row] = retentions(tried)
    >>> row.gap, row.retention, row.heldout_world_given_train_exact.shown
    (0.1875, 0.75, '*')
    """
    return [_retention(system, pool, group) for (system, pool), group in rows(attempts).items()]


def _retention(system: str, pool: str, group: list[Attempt]) -> Retention:
    both = [
        attempt
        for attempt in group
        if attempt.value("train_world_exact") is not None
        and attempt.value("heldout_world_exact") is not None
    ]
    train, heldout = mean(both, "train_world_exact"), mean(both, "heldout_world_exact")
    exact = [attempt for attempt in group if attempt.holds("train_exact")]
    return Retention(
        system,
        pool,
        len(group),
        train_exact=Conditional.of(attempt.value("train_exact") for attempt in group),
        train_world_exact=train,
        heldout_world_exact=heldout,
        gap=None if train is None or heldout is None else train - heldout,
        retention=heldout / train if train and heldout is not None else None,
        heldout_world_given_train_exact=Conditional.of(
            attempt.value("heldout_world_exact") for attempt in exact
        ),
        heldout_exact_given_train_exact=Conditional.of(
            attempt.value("heldout_exact") for attempt in exact
        ),
    )
