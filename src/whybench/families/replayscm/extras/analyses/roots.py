"""Hidden-roots: finding the root set, then the mechanisms below it (Tables G.6 to G.8).

All attempts count. An attempt without a readable root set counts as not having found it. An attempt
without valid mechanisms counts as not having fitted them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whybench.families.replayscm.extras.analyses.attempt import Attempt, rows
from whybench.families.replayscm.extras.analyses.conditional import Conditional

POOL = "hid_roots"


@dataclass(frozen=True, slots=True)
class RootBreakdown:
    """One row of Table G.6, over all attempts."""

    system: str
    task_correct: Conditional
    root_set_exact: Conditional
    mechanism_train_exact: Conditional
    mechanism_heldout_exact: Conditional


@dataclass(frozen=True, slots=True)
class RootConditioned:
    """One row of Table G.7: replay with the right and with a wrong root set."""

    system: str
    root_set_exact: Conditional
    train_exact_given_root_exact: Conditional
    heldout_world_given_root_exact: Conditional
    heldout_exact_given_root_exact: Conditional
    train_exact_given_root_wrong: Conditional
    heldout_world_given_root_wrong: Conditional
    train_failures: int
    """Root-exact attempts that do not fit the training worlds."""
    heldout_failures: int
    """Root-exact, train-exact attempts that are not exact on all held-out worlds."""


@dataclass(frozen=True, slots=True)
class RootNested:
    """One row of Table G.8: structure and replay of submissions both root-exact and valid."""

    system: str
    valid: Conditional
    root_set_exact: Conditional
    root_exact_and_valid: int
    parent_f1: Conditional
    parent_map_exact: Conditional
    train_exact: Conditional
    heldout_world_given_train_exact: Conditional
    """HeldoutWorldExact among submissions root-exact, valid and train-exact."""


def root_breakdown(attempts: Iterable[Attempt], pool: str = POOL) -> list[RootBreakdown]:
    """Table G.6: full task, root set and mechanisms separately, by system.

    >>> values = {"task_correct": 0, "root_set_exact": 1, "mechanism_train_exact": None}
    >>> [row] = root_breakdown([Attempt("s", "hid_roots", f"m{i}", values) for i in range(6)])
    >>> row.root_set_exact.shown, row.mechanism_train_exact.shown
    ('1.000', '0.000')
    """
    return [
        RootBreakdown(
            system,
            task_correct=_share(group, "task_correct"),
            root_set_exact=_share(group, "root_set_exact"),
            mechanism_train_exact=_share(group, "mechanism_train_exact"),
            mechanism_heldout_exact=_share(group, "mechanism_heldout_exact"),
        )
        for system, group in _by_system(attempts, pool)
    ]


def root_conditioned(attempts: Iterable[Attempt], pool: str = POOL) -> list[RootConditioned]:
    """Table G.7: mechanism replay given the right root set, given a wrong one, and failures."""
    found = []
    for system, group in _by_system(attempts, pool):
        right = [attempt for attempt in group if attempt.holds("root_set_exact")]
        wrong = [attempt for attempt in group if not attempt.holds("root_set_exact")]
        fitted = [attempt for attempt in right if attempt.holds("train_exact")]
        found.append(
            RootConditioned(
                system,
                root_set_exact=Conditional(len(right), len(group)),
                train_exact_given_root_exact=_share(right, "train_exact"),
                heldout_world_given_root_exact=_values(right, "heldout_world_exact"),
                heldout_exact_given_root_exact=_share(right, "heldout_exact"),
                train_exact_given_root_wrong=_share(wrong, "train_exact"),
                heldout_world_given_root_wrong=_values(wrong, "heldout_world_exact"),
                train_failures=len(right) - len(fitted),
                heldout_failures=sum(not attempt.holds("heldout_exact") for attempt in fitted),
            )
        )
    return found


def root_nested(attempts: Iterable[Attempt], pool: str = POOL) -> list[RootNested]:
    """Table G.8: what remains hard once the root set is right and the submission executable."""
    found = []
    for system, group in _by_system(attempts, pool):
        both = [
            attempt
            for attempt in group
            if attempt.holds("root_set_exact") and attempt.holds("valid")
        ]
        found.append(
            RootNested(
                system,
                valid=_share(group, "valid"),
                root_set_exact=_share(group, "root_set_exact"),
                root_exact_and_valid=len(both),
                parent_f1=_values(both, "parent_f1"),
                parent_map_exact=_values(both, "parent_map_exact"),
                train_exact=_share(both, "train_exact"),
                heldout_world_given_train_exact=_values(
                    [attempt for attempt in both if attempt.holds("train_exact")],
                    "heldout_world_exact",
                ),
            )
        )
    return found


def _by_system(attempts: Iterable[Attempt], pool: str) -> list[tuple[str, list[Attempt]]]:
    return [(system, group) for (system, name), group in rows(attempts).items() if name == pool]


def _share(group: Sequence[Attempt], metric: str) -> Conditional:
    return Conditional(sum(attempt.holds(metric) for attempt in group), len(group))


def _values(group: Sequence[Attempt], metric: str) -> Conditional:
    return Conditional.of(attempt.value(metric) for attempt in group)
