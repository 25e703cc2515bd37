"""The rules of few inputs that err least on shown rows, and what they say of further rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from whybench.causal.boolean import essential
from whybench.causal.graph import members
from whybench.families.replayscm.proof.pairs import Ints
from whybench.families.replayscm.world.generation.local_alternatives import minterms
from whybench.families.replayscm.world.world import Rows, Told, ordered

Parents = list[int]
"""For each variable, its parents as a set."""


def majority(rows: Rows, v: int, parents: Sequence[int]) -> tuple[int, int]:
    """Return the table that depends on all parents and errs least, and how many rows it gets wrong.

    It says what each pattern of the parents shows most often.
    """
    cells = minterms(rows.free[v], [rows.columns[u] for u in parents])
    ones = [(cell & rows.columns[v]).bit_count() for cell in cells]
    counts = [cell.bit_count() for cell in cells]
    usual = 2 * sum(ones) > sum(counts)
    margins = [2 * one - count for one, count in zip(ones, counts, strict=True)]
    table = sum(1 << at for at, m in enumerate(margins) if m > 0 or (m == 0 and usual))
    if essential(table, len(parents)) != (1 << len(parents)) - 1:
        table ^= 1 << min(range(len(margins)), key=lambda at: abs(margins[at]))
    wrong = sum(
        count - one if table >> at & 1 else one
        for at, (one, count) in enumerate(zip(ones, counts, strict=True))
    )
    return table, wrong


def best_rules(told: Told, rows: Rows, most: int) -> tuple[Parents, int]:
    """Give each variable the set of at most `most` parents whose rule errs least, without cycles.

    Return parents and roots. Roots that are not disclosed are taken to be the variables whose best
    rule errs most.
    """
    roots = told.roots
    ranked: dict[int, list[tuple[int, int, int]]] = {}
    for v in members(told.every & ~(roots or 0)):
        there = list(members(told.admissible[v]))
        ranked[v] = sorted(
            (majority(rows, v, chosen)[1], size, sum(1 << u for u in chosen))
            for size in range(1, min(most, told.k) + 1)
            for chosen in combinations(there, size)
        )
    easiest = sorted(ranked, key=lambda v: (ranked[v][0][0], v))
    if roots is None:
        roots = sum(1 << v for v in easiest[told.n - told.root_count :])
    parents = [0] * told.n
    for v in easiest:
        for _, _, chosen in ranked[v]:
            if not roots >> v & 1 and acyclic(parents, v, chosen):
                parents[v] = chosen
                break
    return parents, roots


def acyclic(parents: Parents, v: int, chosen: int) -> bool:
    """Tell whether a variable can take a set of parents without a cycle."""
    tried = [*parents[:v], chosen, *parents[v + 1 :]]
    return ordered(tried, (1 << len(parents)) - 1) is not None


def foreseen(told: Told, rows: Rows, parents: Parents, further: Ints, known: int) -> Ints:
    """Return further rows, of which some variables are known, with what the rules say of others."""
    found = further & known
    for v in ordered(parents, told.every & ~known) or ():
        own = tuple(members(parents[v]))
        table, _ = majority(rows, v, own)
        pattern = sum((found >> u & 1) << at for at, u in enumerate(own)) + np.zeros_like(found)
        found = found | (np.int64(table) >> pattern & 1) << v
    return found
