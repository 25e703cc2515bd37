"""Exact fits of the training worlds that are not the gold SCM (Tables F.11 to F.14).

An alternative identification is a submission that is train-exact and semantically distinct from
the gold SCM; how formulas are written does not count. An attempt is left out if `train_exact` is
unknown, or if it is train-exact and `latent_match` is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whybench.families.replayscm.extras.analyses.attempt import Attempt, rows, systems
from whybench.families.replayscm.extras.analyses.conditional import Conditional, change
from whybench.families.replayscm.extras.analyses.disclosure import Pair

EXTRA_WORLDS: tuple[Pair, ...] = (("ord_match", "ord_ext"), ("hid_match", "hid_ext"))
"""Before and after Extra Worlds, as in Tables F.13 and F.14."""


@dataclass(frozen=True, slots=True)
class AlternativeRates:
    """One row of Table F.12."""

    system: str
    pool: str
    per_attempt: Conditional
    """Alternatives of all attempts."""
    per_train_exact: Conditional
    """Alternatives of the train-exact answers."""


@dataclass(frozen=True, slots=True)
class AlternativeChange:
    """One row of Table F.13."""

    before: AlternativeRates
    after: AlternativeRates
    per_attempt_change: float | None
    """After minus before; None unless both rates can be shown."""


@dataclass(frozen=True, slots=True)
class SolvedIntersection:
    """One row of Table F.14."""

    system: str
    first: str
    second: str
    solved_both: int
    """Hidden SCMs with a train-exact answer in both pools."""
    before: Conditional
    """Alternatives of the train-exact answers to those, in the first pool."""
    after: Conditional
    """The same in the second pool."""
    rate_change: float | None
    """After minus before; None unless both rates can be shown."""


@dataclass(frozen=True, slots=True)
class AlternativeProblems:
    """One cell of Table F.11."""

    pool: str
    group: str
    with_alternative: Conditional
    """Hidden SCMs with an alternative from any system of the group, of those the group tried."""

    @property
    def without(self) -> int:
        """Hidden SCMs for which the group found no alternative."""
        return self.with_alternative.denominator - int(self.with_alternative.numerator)


def is_alternative(attempt: Attempt) -> bool:
    """Whether a submission fits all training worlds and is not the gold SCM.

    >>> is_alternative(Attempt("s", "ord_ext", "m1", {"train_exact": 1, "latent_match": 0}))
    True
    """
    return attempt.holds("train_exact") and attempt.value("latent_match") == 0


def alternative_rates(attempts: Iterable[Attempt]) -> list[AlternativeRates]:
    """Table F.12: alternatives per attempt and per train-exact answer, by system and pool.

    >>> tried = [Attempt("s", "ord_ext", m, {"train_exact": m < "c", "latent_match": m == "a"})
    ...     for m in "abcdefgh"]
    >>> [row] = alternative_rates(tried)
    >>> row.per_attempt.shown, row.per_train_exact.denominator, row.per_train_exact.shown
    ('0.125', 2, '*')
    """
    grouped = rows(filter(_judged, attempts))
    return [_rates(system, pool, group) for (system, pool), group in grouped.items()]


def alternative_changes(
    attempts: Iterable[Attempt], pairs: Sequence[Pair] = EXTRA_WORLDS
) -> list[AlternativeChange]:
    """Table F.13: the rates before and after worlds were added, by pair of pools and system."""
    found = []
    for _, before, after in _tried_both(attempts, pairs):
        one = _rates(before[0].system, before[0].pool, before)
        two = _rates(after[0].system, after[0].pool, after)
        found.append(AlternativeChange(one, two, change(one.per_attempt, two.per_attempt)))
    return found


def solved_intersection(
    attempts: Iterable[Attempt], pairs: Sequence[Pair] = EXTRA_WORLDS
) -> list[SolvedIntersection]:
    """Table F.14: rates on the problems that are train-exact in both pools.

    So a drop in alternatives is not an artifact of fewer solved problems.

    >>> def tried(pool, match):
    ...     return [Attempt("s", pool, f"m{i}", {"train_exact": v is not None, "latent_match": v})
    ...         for i, v in enumerate(match)]
    >>> [row] = solved_intersection(tried("ord_match", [0, 0, 1]) + tried("ord_ext", [1, 0, None]))
    >>> row.solved_both, row.before.numerator, row.after.numerator, row.after.shown
    (2, 2.0, 1.0, '*')
    """
    found = []
    for (first, second), before, after in _tried_both(attempts, pairs):
        both = _solved(before) & _solved(after)
        one, two = (
            Conditional.of(
                is_alternative(attempt)
                for attempt in group
                if attempt.latent in both and attempt.holds("train_exact")
            )
            for group in (before, after)
        )
        found.append(
            SolvedIntersection(
                before[0].system, first, second, len(both), one, two, change(one, two)
            )
        )
    return found


def alternative_problems(
    attempts: Iterable[Attempt], groups: Mapping[str, Collection[str]] | None = None
) -> list[AlternativeProblems]:
    """Table F.11: problems for which any system of a group found an alternative, by pool.

    The counts show what was found; they do not prove absence. The certificate states whether there
    is an alternative at all. Without `groups` (name → systems), all systems are one group.

    >>> tried = [Attempt(s, "ord_ext", m, {"train_exact": 1, "latent_match": s == "t" or m == "a"})
    ...     for s in ("s", "t") for m in "ab"]
    >>> found = alternative_problems(tried, {"t alone": ["t"], "any": ["s", "t"]})
    >>> [(row.group, row.without) for row in found]
    [('t alone', 2), ('any', 1)]
    """
    grouped = rows(filter(_judged, attempts))
    if groups is None:
        groups = {"all systems": systems(grouped)}
    found = []
    for pool in dict.fromkeys(pool for _, pool in grouped):
        for name, members in groups.items():
            seen: dict[str, bool] = {}
            for system in members:
                for attempt in grouped.get((system, pool), ()):
                    already = seen.get(attempt.latent, False)
                    seen[attempt.latent] = already or is_alternative(attempt)
            found.append(AlternativeProblems(pool, name, Conditional.of(seen.values())))
    return found


def _judged(attempt: Attempt) -> bool:
    if attempt.holds("train_exact"):
        return attempt.value("latent_match") is not None
    return attempt.value("train_exact") is not None


def _rates(system: str, pool: str, group: Sequence[Attempt]) -> AlternativeRates:
    return AlternativeRates(
        system,
        pool,
        per_attempt=Conditional.of(is_alternative(a) for a in group),
        per_train_exact=Conditional.of(is_alternative(a) for a in group if a.holds("train_exact")),
    )


def _solved(group: Iterable[Attempt]) -> set[str]:
    return {attempt.latent for attempt in group if attempt.holds("train_exact")}


def _tried_both(
    attempts: Iterable[Attempt], pairs: Sequence[Pair]
) -> list[tuple[Pair, list[Attempt], list[Attempt]]]:
    """Yield each pair of pools with the attempts in both, for each system that tried both."""
    grouped = rows(filter(_judged, attempts))
    return [
        ((first, second), grouped[system, first], grouped[system, second])
        for first, second in pairs
        for system in systems(grouped)
        if (system, first) in grouped and (system, second) in grouped
    ]
