"""Find the first row that contradicts a submission, and how often such a row was shown."""

from __future__ import annotations

from dataclasses import dataclass

from whybench.causal.graph import members
from whybench.families.replayscm.submission import Candidate
from whybench.families.replayscm.world.replay import mismatches
from whybench.families.replayscm.world.world import Sheet, World


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The first row that a submission replays wrongly; training rows come first."""

    heldout: bool
    world: int
    """Its number among the training worlds, or among those held out, from 1."""
    row: int
    """Its number in that world, from 1."""
    variable: int
    """The first variable, along the submission's order, that comes out wrong."""
    predicted: int
    pattern: tuple[tuple[int, int], ...]
    """The variable's true parents, each with its value in the row."""
    shown: int
    """Training rows in which the variable is free and its true parents have those values."""
    shown_believed: int
    """The same for the parents that the submission gives it."""


def first_contradiction(candidate: Candidate, world: World) -> Contradiction | None:
    """Return the first row that contradicts a submission; None if it replays every row."""
    on = world.sheet
    wrong = mismatches(candidate, on)
    union = 0
    for rows in wrong:
        union |= rows
    if not union:
        return None
    row = (union & -union).bit_length() - 1
    variable = next(v for v in candidate.order if wrong[v] >> row & 1)
    number, first = next(
        (number, (place & -place).bit_length() - 1)
        for number, (_, place) in enumerate(on.tables)
        if place >> row & 1
    )
    heldout = number >= on.trained
    parents = world.gold.parents[variable]
    return Contradiction(
        heldout,
        number + 1 - (on.trained if heldout else 0),
        row - first + 1,
        variable,
        1 - (on.rows.columns[variable] >> row & 1),
        tuple((u, on.rows.columns[u] >> row & 1) for u in members(parents)),
        _alike(on, variable, parents, row),
        _alike(on, variable, candidate.parents[variable], row),
    )


def _alike(on: Sheet, variable: int, parents: int, row: int) -> int:
    """Count the training rows that show a row's pattern of parents with the variable free."""
    alike = on.rows.free[variable] & on.train
    for u in members(parents):
        column = on.rows.columns[u]
        alike &= column if column >> row & 1 else ~column
    return alike.bit_count()
