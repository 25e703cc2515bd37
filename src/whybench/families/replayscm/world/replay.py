"""Replay: run an SCM on all tables at once and compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybench.causal.boolean import evaluate
from whybench.families.replayscm.submission import Candidate
from whybench.families.replayscm.world.world import Asked, Sheet


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well an SCM replays the tables of one split."""

    cells: int
    """Scored cells: those of endogenous variables that are not targets."""
    right: int
    tables: int
    """Tables with at least one scored cell."""
    exact_tables: int

    @property
    def exact(self) -> bool:
        """Whether there are scored cells, and all are right."""
        return 0 < self.cells == self.right

    @property
    def accuracy(self) -> float:
        """The share of right cells."""
        return self.right / self.cells if self.cells else 0.0

    @property
    def table_rate(self) -> float:
        """The share of tables without a wrong cell: the paper's WorldExact."""
        return self.exact_tables / self.tables if self.tables else 0.0


def replay(candidate: Candidate, on: Sheet) -> tuple[Agreement, Agreement]:
    """Replay an SCM; return its agreement with training and with held-out tables.

    Targets and roots keep the row's values. Every other variable is computed from values already
    replayed, so an error propagates downstream.
    """
    rows = on.rows
    every = (1 << rows.size) - 1
    values = list(rows.columns)
    wrong = cells = train_cells = wrong_cells = train_wrong_cells = 0
    for v in candidate.order:
        formula = candidate.formulas[v]
        if formula is None:
            raise ValueError(f"variable {v} has no mechanism: this is no valid submission")
        free = rows.free[v]
        computed = evaluate(formula, values, every)
        missed = (computed ^ rows.columns[v]) & free
        values[v] = rows.columns[v] ^ missed
        cells += free.bit_count()
        train_cells += (free & on.train).bit_count()
        if missed:
            wrong |= missed
            wrong_cells += missed.bit_count()
            train_wrong_cells += (missed & on.train).bit_count()
    counted = on.counted(candidate.roots)
    exact = counted
    if wrong:
        exact = [
            scored and not wrong & place
            for scored, (_, place) in zip(counted, on.tables, strict=True)
        ]
    split = on.trained
    train = Agreement(
        train_cells, train_cells - train_wrong_cells, sum(counted[:split]), sum(exact[:split])
    )
    cells, wrong_cells = cells - train_cells, wrong_cells - train_wrong_cells
    held = Agreement(cells, cells - wrong_cells, sum(counted[split:]), sum(exact[split:]))
    return train, held


def mismatches(candidate: Candidate, on: Sheet) -> tuple[int, ...]:
    """Return for each variable the rows in which it is scored and replayed wrongly."""
    rows, values = on.rows, list(on.rows.columns)
    found = [0] * len(values)
    for v in candidate.order:
        formula = candidate.formulas[v]
        if formula is not None:
            computed = evaluate(formula, values, (1 << rows.size) - 1)
            found[v] = (computed ^ rows.columns[v]) & rows.free[v]
            values[v] ^= found[v]
    return tuple(found)


def simulate(
    candidate: Candidate, columns: Sequence[int], free: Sequence[int], size: int
) -> list[int]:
    """Run an SCM on `size` rows; where a variable is not free, its column is kept."""
    values = list(columns)
    every = (1 << size) - 1
    for v in candidate.order:
        formula = candidate.formulas[v]
        if formula is not None:
            values[v] ^= (evaluate(formula, values, every) ^ values[v]) & free[v]
    return values


def simulated(candidate: Candidate, asked: Asked) -> int:
    """Return the value that an SCM gives the asked cell."""
    n = len(candidate.tables)
    columns = [asked.row >> v & 1 for v in range(n)]
    free = [1 - (asked.targets >> v & 1) for v in range(n)]
    return simulate(candidate, columns, free, 1)[asked.variable]
