"""Canonical forms of graphs with labelled edges: equal for graphs that renaming makes equal.

The method is that of `causal.graph.canonical_form`: colour refinement, then individualisation, and
the smallest code over all branches. Colours and labels are any values that can be sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])
Cells: TypeAlias = list[int]
Edge: TypeAlias = tuple[int, int]
Code: TypeAlias = tuple[tuple[int, int, Any], ...]


def labelled_form(
    colours: Sequence[Any], edges: Mapping[Edge, Any]
) -> tuple[tuple[Any, ...], Code]:
    """Return colours and edges under new names, equal exactly if renaming makes two graphs equal.

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
    cells = [places[colour] for colour in colours]

    def marks(cells: Cells) -> list[Any]:
        """What joins each node to each cell."""
        return [
            (cell, sorted((out, label, cells[u]) for out, label, u in joined))
            for cell, joined in zip(cells, around, strict=True)
        ]

    def code(names: Cells) -> Code:
        return tuple(sorted((names[a], names[b], label) for (a, b), label in edges.items()))

    return tuple(sorted(colours)), smallest_code(cells, marks, code, lambda v: sorted(around[v]))


def smallest_code(
    cells: Cells,
    marks: Callable[[Cells], list[Any]],
    code: Callable[[Cells], T],
    kind: Callable[[int], Any] | None = None,
) -> T:
    """Return the smallest code over all names that fit cells of nodes.

    `marks` distinguishes the nodes of a cell, with their cell first. `code` encodes everything
    under given names. Nodes of the same `kind` can be swapped, so only one of them is tried.
    Without `kind` all are tried, which takes long if many nodes are alike.
    """
    cells = _refined(cells, marks)
    groups: dict[int, list[int]] = {}
    for v, cell in enumerate(cells):
        groups.setdefault(cell, []).append(v)
    several = [(len(group), cell) for cell, group in groups.items() if len(group) > 1]
    if not several:
        return code(cells)
    codes, kinds = [], []
    for v in groups[min(several)[1]]:
        if kind is not None:
            if (own := kind(v)) in kinds:
                continue
            kinds.append(own)
        split = [2 * cell for cell in cells]
        split[v] -= 1
        codes.append(smallest_code(split, marks, code, kind))
    return min(codes)


def _refined(cells: Cells, marks: Callable[[Cells], list[Any]]) -> Cells:
    """Split cells by their nodes' marks, until nothing splits."""
    count = len(set(cells))
    while True:
        found = marks(cells)
        ordered = sorted(found)
        cells = [ordered.index(mark) for mark in found]
        if len(set(cells)) == count:
            return cells
        count = len(set(cells))
