"""What evidence says of a row of which only roots and targets are known.

Write a value into each other cell of the row. Some SCM that fits the evidence gives exactly these
values if and only if some SCM fits the evidence and the completed row together. By the claim in
`evidence`, such an SCM exists if variables can be placed one after another, each with a mechanism
that agrees with all its rows. Having more variables placed never hurts, so a greedy search decides
it. The search runs over all ways to complete the row at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whybench.causal.graph import members
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import smallest
from whybench.families.replayscm.proof.pairs import HALF, Bools, Ints
from whybench.families.replayscm.world.world import Asked, Rows, Scm, Table


def completed(evidence: Evidence, targets: int, rows: Ints) -> tuple[Ints, Bools]:
    """Complete rows in every way, as [way, row], and tell which ways some SCM that fits gives."""
    told, dense = evidence.told, evidence.dense
    if dense is None or told.roots is None:
        raise ValueError("the roots must be known, and the class must be small")
    fits = np.flatnonzero(dense.fits)
    variable, sets = dense.over.variable[fits], dense.over.sets[fits]
    every = rows
    for v in members(told.every & ~told.roots & ~targets):
        every = np.concatenate([every, every | 1 << v])
    shown = dense.over.cell[fits][:, every].astype(np.uint32)
    refuted = dense.seen[fits, None] >> (shown ^ np.uint32(HALF)) & np.uint32(1) == 1
    agrees = ~refuted | (targets >> variable & 1 == 1)[:, None]
    first = np.flatnonzero(np.diff(variable, prepend=-1))
    placed, before = np.full(len(every), told.roots), np.zeros(len(every), dtype=np.int64)
    while (placed != before).any():
        before = placed
        able = np.logical_or.reduceat(agrees & (sets[:, None] & ~placed == 0), first)
        placed = placed | (able << variable[first][:, None]).sum(axis=0)
    return every.reshape(-1, len(rows)), (placed == told.every).reshape(-1, len(rows))


def answers(evidence: Evidence, targets: int, rows: Ints) -> Iterator[dict[int, str]]:
    """Yield for each row whether each variable that is no root and no target is 1, or `cannot`."""
    told = evidence.told
    ways, given = completed(evidence, targets, rows)
    ones = np.bitwise_or.reduce(np.where(given, ways, 0)).tolist()
    zeros = np.bitwise_or.reduce(np.where(given, ~ways, 0)).tolist()
    for one, zero in zip(ones, zeros, strict=True):
        yield {
            v: "cannot" if one & zero & 1 << v else "yes" if one & 1 << v else "no"
            for v in members(told.every & ~(told.roots or 0) & ~targets)
        }


def answer(evidence: Evidence, asked: Asked) -> str:
    """Return the right answer: yes, no, or `cannot` if SCMs that fit differ in the asked cell."""
    (found,) = answers(evidence, asked.targets, np.array([asked.row]))
    return found[asked.variable]


def fitting(evidence: Evidence, train: tuple[Table, ...], asked: Asked, value: int) -> Scm | None:
    """Return an SCM that fits and gives the asked cell a value; None if there is none."""
    told = evidence.told
    ways, given = completed(evidence, asked.targets, np.array([asked.row]))
    for row in ways[given].tolist():
        if row >> asked.variable & 1 == value:
            further = Table.of(told.n, asked.targets, "hard_constant", [row])
            return smallest(Evidence(told, Rows.of(told.n, (*train, further))))
    return None
