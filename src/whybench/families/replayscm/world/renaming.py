"""Canonical forms: equal for SCMs and problems that differ only in the names of their variables.

The method refines colours, then individualises the variables of the first smallest class that is
still ambiguous, and keeps the smallest code over all branches. It follows McKay, *Practical graph
isomorphism*, 1981, with mechanisms in place of edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whybench.causal.boolean import projected
from whybench.causal.canonical import Json
from whybench.causal.graph import members
from whybench.causal.labelled_graph_canon import Cells, smallest_code
from whybench.families.replayscm.world.world import Scm, World, scm_of

Mechanism = tuple[tuple[int, ...], int]
"""A variable's parents, and the table of its function of them, lowest bit first."""
Code = tuple[tuple[Mechanism, ...], ...]
"""For each SCM and each variable its mechanism; that of a root is `ROOT`."""
ROOT: Mechanism = ((), -1)
Link = tuple[int, int, bool, int]
"""Which SCM, who is at the other end, whether it is the parent, and how often it matters."""


def system(scm: Scm) -> Json:
    """Return an SCM's mechanisms; equal for two SCMs exactly if renaming makes them equal.

    Only functions count, not how they are written.
    """
    return smallest_scms([scm], [scm.roots >> v & 1 for v in range(scm.n)])


def problem(world: World) -> Json:
    """Return a whole problem up to renaming: mechanisms, disclosure, all worlds, the reference.

    The order in which variables are shown, also within a block, is not part of it. For a
    laboratory, the budget is part of it, and a draw that fixes the chance in all experiments.
    """
    view = world.view
    tables = (*view.train, *world.heldout)
    block = {v: at for at, several in enumerate(view.blocks) for v in several}
    place = {v: at for at, v in enumerate(view.order)}
    colours: list[tuple[Json, ...]] = [
        (
            world.gold.roots >> v & 1,
            block.get(v, -1),
            place.get(v, -1),
            tuple((table.targets >> v & 1, table.columns[v]) for table in tables),
        )
        for v in range(view.n)
    ]
    if view.asked is not None:
        known = (view.asked.targets, view.asked.row, 1 << view.asked.variable)
        colours = [(*c, tuple(mask >> v & 1 for mask in known)) for v, c in enumerate(colours)]
    scms = [world.gold, scm_of(view.reference)] if view.reference else [world.gold]
    told = [view.task, view.disclosure, view.told.k, view.told.root_count, view.released]
    told += world.experiments
    worlds = [len(view.train), [[table.mode, table.size] for table in tables]]
    return [told, worlds, sorted(colours), smallest_scms(scms, colours)]


def smallest_scms(scms: Sequence[Scm], colours: Sequence[Json]) -> Code:
    """Return the smallest code of SCMs over the same variables, over all names that fit colours.

    Colours are ordered; names fit if variables of a smaller colour have smaller names.
    """
    ranks = {colour: rank for rank, colour in enumerate(sorted(set(colours)))}
    mechanisms = [_mechanisms(scm) for scm in scms]
    around: list[list[Link]] = [[] for _ in colours]
    for at, each in enumerate(mechanisms):
        for v, found in enumerate(each):
            for u, weight in zip(found[0], _influence(*found), strict=True):
                around[v].append((at, u, True, weight))
                around[u].append((at, v, False, weight))
    weights = [
        tuple(-1 if found == ROOT else found[1].bit_count() for found in of_v)
        for of_v in zip(*mechanisms, strict=True)
    ]
    start = sorted({(ranks[c], w) for c, w in zip(colours, weights, strict=True)})
    cells = [start.index((ranks[c], w)) for c, w in zip(colours, weights, strict=True)]

    def marks(cells: Cells) -> list[Any]:
        """The parents and children of each variable, and how often each parent matters."""
        return [
            (cell, sorted((at, cells[u], parent, weight) for at, u, parent, weight in links))
            for cell, links in zip(cells, around, strict=True)
        ]

    return smallest_code(cells, marks, lambda names: _code(scms, mechanisms, names))


def _code(scms: Sequence[Scm], mechanisms: Sequence[Sequence[Mechanism]], names: Cells) -> Code:
    """Return SCMs with each variable under its new name."""
    found = []
    for scm, each in zip(scms, mechanisms, strict=True):
        code = [ROOT] * scm.n
        for v, mechanism in enumerate(each):
            if mechanism != ROOT:
                parents = sorted(mechanism[0], key=names.__getitem__)
                table = projected(scm.tables[v], parents)
                code[names[v]] = tuple(names[u] for u in parents), table
        found.append(tuple(code))
    return tuple(found)


def _mechanisms(scm: Scm) -> list[Mechanism]:
    found: list[Mechanism] = []
    for v, mask in enumerate(scm.parents):
        parents = tuple(members(mask))
        root = scm.roots >> v & 1
        found.append(ROOT if root else (parents, projected(scm.tables[v], parents)))
    return found


def _influence(parents: Sequence[int], table: int) -> list[int]:
    """Return for each parent in how many patterns of the others it matters."""
    found = []
    for i in range(len(parents)):
        low = sum(1 << at for at in range(1 << len(parents)) if not at >> i & 1)
        found.append(((table >> (1 << i) ^ table) & low).bit_count())
    return found
