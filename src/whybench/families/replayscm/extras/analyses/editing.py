"""Alternative-SCM: whether a system can edit what it could not find, and where (G.1, G.4, G.5).

Parents, depths and edits are relative to the reference SCM of the task. A success is `alt_success`:
a train-exact alternative that differs from the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybench.families.replayscm.extras.analyses.attempt import Attempt, rows, systems
from whybench.families.replayscm.extras.analyses.conditional import Conditional
from whybench.families.replayscm.extras.analyses.disclosure import Pair

SOURCES: tuple[Pair, ...] = (("ord_match", "alt_ord"), ("hid_match", "alt_hid"))
"""Each source pool with the Alternative-SCM pool made from it."""

DEPTHS = ("1", "2", "3+")
"""The rows of Table G.5: how far below the roots a variable lies in the reference graph."""


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """One row of Table G.1."""

    system: str
    source: str
    pool: str
    source_correct: Conditional
    """Source problems solved, among the attempts whose source was tried too."""
    joint_success: Conditional
    """Alternative-SCM joint success of the same attempts."""
    given_failure: Conditional
    """Joint success among the attempts whose source the system failed."""


@dataclass(frozen=True, slots=True)
class EditLocality:
    """The edit columns of one row of Table G.4."""

    system: str
    pool: str
    valid: int
    """Valid alternatives."""
    successes: int
    """Successful alternatives, on which the rates are conditioned."""
    one_variable: Conditional
    """Alternatives that differ from the reference in one variable's local function."""
    same_parents: Conditional
    """One-variable edits that keep the functional parents."""
    changed_parents: Conditional
    """One-variable edits that change them."""


@dataclass(frozen=True, slots=True)
class EditDepth:
    """One row of both panels of Table G.5."""

    system: str
    pool: str
    depth: str
    changed: Conditional
    """Panel A: changed variables, of the endogenous variables at this depth."""
    structure_changed: Conditional
    """Panel A: those whose parents changed too."""
    mechanism_only: Conditional
    """Panel A: those that kept their parents."""
    share_of_changes: Conditional
    """Panel B: changed variables at this depth, of all changed variables."""
    structure_among_changed: Conditional
    """Panel B: changed variables at this depth whose parents changed too."""


def success_after_failure(
    attempts: Iterable[Attempt], sources: Sequence[Pair] = SOURCES
) -> list[AfterFailure]:
    """Table G.1: joint success on Alternative-SCM against correctness on its source problems.

    A source counts as failed if the system tried it and no attempt was right. Attempts whose source
    was not tried are left out of all three columns.

    >>> source = [Attempt("s", "hid_match", m, {"task_correct": m == "a"}) for m in "ab"]
    >>> derived = [Attempt("s", "alt_hid", m, {"joint_success": 1}) for m in "abc"]
    >>> [row] = success_after_failure(source + derived)
    >>> row.source_correct.rate, row.joint_success.denominator, row.given_failure
    (0.5, 2, Conditional(numerator=1.0, denominator=1))
    """
    grouped = rows(attempts)
    found = []
    for source, pool in sources:
        for system in systems(grouped):
            if (system, source) not in grouped or (system, pool) not in grouped:
                continue
            solved: dict[str, bool] = {}
            for attempt in grouped[system, source]:
                if attempt.value("task_correct") is not None:
                    already = solved.get(attempt.latent, False)
                    solved[attempt.latent] = already or attempt.holds("task_correct")
            pairs = [
                (solved[attempt.latent], success)
                for attempt in grouped[system, pool]
                if attempt.latent in solved
                and (success := attempt.value("joint_success")) is not None
            ]
            found.append(
                AfterFailure(
                    system,
                    source,
                    pool,
                    source_correct=Conditional.of(right for right, _ in pairs),
                    joint_success=Conditional.of(success for _, success in pairs),
                    given_failure=Conditional.of(success for right, success in pairs if not right),
                )
            )
    return found


def edit_locality(attempts: Iterable[Attempt]) -> list[EditLocality]:
    """Table G.4, edit columns: the successful alternatives that edit just one variable.

    Each success needs `labels["edits"]`: one {"variable", "depth", "same_parents"} for each
    variable whose local function differs from the reference. Pools without `alt_success` have no
    row.

    >>> edits = [{"variable": "X4", "depth": 2, "same_parents": True}]
    >>> tried = [Attempt("s", "alt_ord", f"m{i}", {"alt_success": 1}, {"edits": edits * n})
    ...     for i, n in enumerate([1, 1, 1, 2, 1, 1])]
    >>> [row] = edit_locality(tried)
    >>> row.one_variable.shown, row.same_parents.shown, row.changed_parents.shown
    ('0.833', '0.833', '0.000')
    """
    found = []
    for (system, pool), group in _alternatives(attempts).items():
        every = [_edits(attempt) for attempt in group if attempt.holds("alt_success")]
        single = [edits[0]["same_parents"] if len(edits) == 1 else None for edits in every]
        found.append(
            EditLocality(
                system,
                pool,
                valid=sum(attempt.holds("valid") for attempt in group),
                successes=len(every),
                one_variable=Conditional.of(same is not None for same in single),
                same_parents=Conditional.of(same is not None and bool(same) for same in single),
                changed_parents=Conditional.of(same is not None and not same for same in single),
            )
        )
    return found


def edit_depths(attempts: Iterable[Attempt]) -> list[EditDepth]:
    """Table G.5: how often variables at each depth change; the paper's rows are `pooled`.

    Each success needs `labels["edits"]` as for `edit_locality` and `labels["depths"]`, the number
    of endogenous variables at each depth of the reference graph: {depth: count}.

    >>> labels = {"depths": {"1": 2, "2": 1, "4": 1},
    ...     "edits": [{"variable": "X9", "depth": 4, "same_parents": False}]}
    >>> tried = [Attempt("s", "alt_ord", f"m{i}", {"alt_success": 1}, labels) for i in range(8)]
    >>> [(row.depth, row.changed.shown, row.share_of_changes.shown) for row in edit_depths(tried)]
    [('1', '0.000', '0.000'), ('2', '0.000', '0.000'), ('3+', '1.000', '1.000')]
    """
    found = []
    for (system, pool), group in _alternatives(attempts).items():
        variables, kept, moved = (dict.fromkeys(DEPTHS, 0) for _ in range(3))
        for attempt in group:
            if not attempt.holds("alt_success"):
                continue
            for depth, count in _labelled(attempt, "depths").items():
                if int(depth):  # roots have depth 0 and no mechanism to edit
                    variables[_row(depth)] += int(count)
            for edit in _edits(attempt):
                (kept if edit["same_parents"] else moved)[_row(edit["depth"])] += 1
        every = sum(kept.values()) + sum(moved.values())
        for row in DEPTHS:
            here = kept[row] + moved[row]
            found.append(
                EditDepth(
                    system,
                    pool,
                    row,
                    changed=Conditional(here, variables[row]),
                    structure_changed=Conditional(moved[row], variables[row]),
                    mechanism_only=Conditional(kept[row], variables[row]),
                    share_of_changes=Conditional(here, every),
                    structure_among_changed=Conditional(moved[row], here),
                )
            )
    return found


def _alternatives(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[Attempt]]:
    """Group the attempts at pools that ask for alternatives."""
    return {
        key: group
        for key, group in rows(attempts).items()
        if any(attempt.value("alt_success") is not None for attempt in group)
    }


def _row(depth: int | str) -> str:
    if int(depth) < 1:
        raise ValueError(
            f"an edited variable is endogenous, so its depth is 1 or more; got {depth}"
        )
    return DEPTHS[min(int(depth), len(DEPTHS)) - 1]


def _edits(attempt: Attempt) -> Sequence[Mapping[str, Any]]:
    edits: Sequence[Mapping[str, Any]] = _labelled(attempt, "edits")
    return edits


def _labelled(attempt: Attempt, label: str) -> Any:
    if label not in attempt.labels:
        raise ValueError(
            f"a success of {attempt.system} in {attempt.pool} ({attempt.latent}) has no "
            f"labels[{label!r}]; give it, or leave the attempt out"
        )
    return attempt.labels[label]
