"""Local alternatives to gold: other functions of the variables before one, and their refutation.

They are read from the catalogue of all functions of four inputs. So "no shortcut survives" is a
fact about the class, not about a search that stopped early.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from whybench.causal.boolean import parse, projected
from whybench.families.replayscm.alternative import candidate_of
from whybench.families.replayscm.world.gold_scm import LEVELS, ROOTS, Intervention, Latent
from whybench.families.replayscm.world.minimal_formulas import matching
from whybench.families.replayscm.world.replay import simulate
from whybench.families.replayscm.world.world import Rows, Table, numbers, scm_of

SLACK, CAP = 2, 8
"""Local alternatives: formulas of at most `SLACK` nodes more than gold, at most `CAP`."""

LocalAlternative = tuple[int, tuple[int, ...], int]
"""A local alternative to gold: a variable, the variables it takes, and its four-input table."""


def survivors(latent: Latent, worlds: Sequence[Table], most: int) -> list[LocalAlternative]:
    """Return all functions of the window with at most this many nodes that fit and are not gold."""
    return _alternatives(latent, worlds, lambda _: most)


def local_alternatives(latent: Latent, worlds: Sequence[Table]) -> list[LocalAlternative]:
    """Return all functions of the window about as small as gold that fit and are not gold."""

    def most(v: int) -> int:
        return min(parse(latent.formulas[v], numbers(latent.n)).size + SLACK, CAP)

    return _alternatives(latent, worlds, most)


def _alternatives(
    latent: Latent, worlds: Sequence[Table], most: Callable[[int], int]
) -> list[LocalAlternative]:
    rows = Rows.of(latent.n, worlds)
    gold = scm_of(latent.formulas)
    found: list[LocalAlternative] = []
    for v in latent.own:
        window = latent.window(v)
        own = projected(gold.tables[v], window)
        own = own if len(window) == 4 else own * (0, 0x5555, 0x1111, 0x0101)[len(window)]
        care, value = seen_patterns(rows, v, window)
        fits = matching(care, value, len(window), most(v))
        found += [(v, window, int(table)) for table in fits if table != own]
    return found


def seen_patterns(rows: Rows, v: int, over: Sequence[int]) -> tuple[int, int]:
    """Return the patterns of some variables seen where v is free, and those that gave 1."""
    care = value = 0
    ones = rows.columns[v]
    cells = minterms(rows.free[v], [rows.columns[u] for u in over])
    for at, cell in enumerate(cells):
        if cell:
            care |= 1 << at
            if cell & ones:
                value |= 1 << at
    return care, value


def minterms(rows: int, columns: Sequence[int]) -> list[int]:
    """Return for each pattern of some columns the rows that show it.

    >>> minterms(0b1111, [0b1010, 0b1100])
    [1, 2, 4, 8]
    """
    cells = [rows]
    for column in columns:
        cells = [cell & ~column for cell in cells] + [cell & column for cell in cells]
    return cells


def refutations(
    latent: Latent, proposals: Sequence[Intervention], alternatives: Sequence[LocalAlternative]
) -> NDArray[np.bool_]:
    """Return for each alternative and each proposal whether the proposal refutes the alternative.

    All worlds are processed at once, with 16 bits of every column for each.
    """
    count = len(proposals)
    if not alternatives:
        return np.zeros((0, count), dtype=bool)
    every = (1 << latent.units) - 1
    starts = [[0] * count for _ in range(latent.n)]
    frees = [[every] * count for _ in range(latent.n)]
    at_level = {level: latent.root_columns([level] * ROOTS) for level in LEVELS}
    for i, proposal in enumerate(proposals):
        for r, level in enumerate(proposal.levels):
            starts[latent.order[r]][i] = at_level[level][r]
        for v, column in proposal.set_to.items():
            starts[v][i], frees[v][i] = column, 0
    free = [_joined(columns) for columns in frees]
    gold = candidate_of(latent.formulas)
    seen = simulate(gold, [_joined(columns) for columns in starts], free, 16 * count)
    cells: dict[int, list[int]] = {}
    found = np.zeros((len(alternatives), count), dtype=bool)
    for r, (v, window, table) in enumerate(alternatives):
        if v not in cells:
            cells[v] = minterms(free[v], [seen[u] for u in window])
        ones = 0
        for at, rows in enumerate(cells[v]):
            if table >> at & 1:
                ones |= rows
        wrong = (ones ^ seen[v]) & free[v]
        found[r] = np.frombuffer(wrong.to_bytes(2 * count, "little"), dtype="<u2") != 0
    return found


def _joined(columns: Sequence[int]) -> int:
    return int.from_bytes(np.array(columns, dtype="<u2").tobytes(), "little")
