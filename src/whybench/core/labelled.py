"""Canonical forms of graphs whose edges carry labels: the same for all that renaming makes equal.

The scheme is that of `core.graph.canonical_form`: colour refinement, then individualisation, and
the smallest code over all branches. Colours and labels are any values that can be put in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Edge: TypeAlias = tuple[int, int]
Code: TypeAlias = tuple[tuple[int, int, Any], ...]


def labelled_form(
    colours: Sequence[Any], edges: Mapping[Edge, Any]
) -> tuple[tuple[Any, ...], Code]:
    """Return colours and edges under new names, the same exactly if renaming makes two graphs one.

    >>> labelled_form("baa", {(0, 2): 5.0}) == labelled_form("aba", {(1, 0): 5.0})
    True
    >>> labelled_form("aa", {(0, 1): 1.0}) == labelled_form("aa", {(0, 1): 2.0})
    False
    """
    order = sorted(set(colours))
    around: list[list[tuple[bool, Any, int]]] = [[] for _ in colours]
    for (a, b), label in edges.items():
        around[a].append((True, label, b))
        around[b].append((False, label, a))
    places = {colour: order.index(colour) for colour in order}
    cells = _refined([places[colour] for colour in colours], around)
    return tuple(sorted(colours)), _smallest(cells, edges, around)


def _smallest(
    cells: list[int], edges: Mapping[Edge, Any], around: Sequence[Sequence[tuple[bool, Any, int]]]
) -> Code:
    groups: dict[int, list[int]] = {}
    for v, cell in enumerate(cells):
        groups.setdefault(cell, []).append(v)
    several = [(len(group), cell) for cell, group in groups.items() if len(group) > 1]
    if not several:
        return tuple(sorted((cells[a], cells[b], label) for (a, b), label in edges.items()))
    codes, kinds = [], []
    for v in groups[min(several)[1]]:
        kind = sorted(around[v])
        if kind in kinds:
            continue  # v may change places with one that was tried: nothing tells them apart
        kinds.append(kind)
        split = [2 * cell for cell in cells]
        split[v] -= 1
        codes.append(_smallest(_refined(split, around), edges, around))
    return min(codes)


def _refined(cells: list[int], around: Sequence[Sequence[tuple[bool, Any, int]]]) -> list[int]:
    """Split cells by what joins each node to each cell, until nothing splits."""
    count = len(set(cells))
    while True:
        marks = [
            (cell, sorted((out, label, cells[u]) for out, label, u in edges))
            for cell, edges in zip(cells, around, strict=True)
        ]
        ordered = sorted(marks)
        cells = [ordered.index(mark) for mark in marks]
        if len(set(cells)) == count:
            return cells
        count = len(set(cells))
