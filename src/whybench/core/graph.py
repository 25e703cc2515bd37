"""Directed graphs on bitmasks: node v is bit `1 << v`, a set of nodes is an integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


def members(mask: int) -> Iterator[int]:
    """Yield the nodes of a set, lowest first.

    >>> list(members(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed graph: `children[v]` is the set of v's children.

    >>> Graph.from_edges(3, [(0, 1), (1, 2)]).reach()
    (6, 4, 0)
    """

    children: tuple[int, ...]

    @classmethod
    def from_edges(cls, n: int, edges: Iterable[tuple[int, int]]) -> Graph:
        """Build a graph on nodes 0 … n−1."""
        children = [0] * n
        for parent, child in edges:
            if not (0 <= parent < n and 0 <= child < n) or parent == child:
                raise ValueError(f"edge {parent}->{child} does not join two of {n} nodes")
            children[parent] |= 1 << child
        return cls(tuple(children))

    @property
    def n(self) -> int:
        """The number of nodes."""
        return len(self.children)

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Return the edges, sorted."""
        return tuple((v, c) for v, mask in enumerate(self.children) for c in members(mask))

    def parents(self) -> tuple[int, ...]:
        """Return each node's set of parents."""
        return transpose(self.children)

    def reach(self) -> tuple[int, ...]:
        """Return each node's set of descendants (itself included only on a cycle)."""
        reach = list(self.children)
        for middle in range(self.n):
            bit = 1 << middle
            for v in range(self.n):
                if reach[v] & bit:
                    reach[v] |= reach[middle]
        return tuple(reach)

    def is_acyclic(self) -> bool:
        """Tell whether no node is its own descendant."""
        return not any(mask >> v & 1 for v, mask in enumerate(self.reach()))

    def sources(self) -> int:
        """Return the set of nodes without parents."""
        return sum(1 << v for v, mask in enumerate(self.parents()) if not mask)

    def relabelled(self, to: Sequence[int]) -> Graph:
        """Return the graph with node v renamed `to[v]`."""
        return Graph.from_edges(self.n, ((to[a], to[b]) for a, b in self.edges()))


def transpose(rows: Sequence[int]) -> tuple[int, ...]:
    """Reverse a relation: turn sets of children into sets of parents, or back."""
    columns = [0] * len(rows)
    for v, mask in enumerate(rows):
        for other in members(mask):
            columns[other] |= 1 << v
    return tuple(columns)


def canonical_form(rows: Sequence[int], colours: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return a code equal for two coloured graphs exactly if renaming nodes maps one to the other.

    Colour refinement, then individualisation of the first smallest ambiguous class, keeping the
    smallest code over all branches: the scheme of McKay, *Practical graph isomorphism*, 1981,
    without its automorphism search. Of interchangeable twins only one is tried, which suffices for
    our sizes.

    >>> canonical_form((0b010, 0, 0)) == canonical_form((0, 0, 0b010))
    True
    """
    colours = tuple(colours) if colours is not None else (0,) * len(rows)
    if len(colours) != len(rows):
        raise ValueError("give one colour for each node")
    ranks = {colour: rank for rank, colour in enumerate(sorted(set(colours)))}
    cells = [ranks[colour] for colour in colours]
    return (*sorted(colours), *_smallest(tuple(rows), transpose(rows), cells))


def _smallest(rows: tuple[int, ...], columns: tuple[int, ...], cells: list[int]) -> tuple[int, ...]:
    cells = _refined(rows, columns, cells)
    sizes: dict[int, int] = {}
    for cell in cells:
        sizes[cell] = sizes.get(cell, 0) + 1
    ambiguous = [(size, cell) for cell, size in sizes.items() if size > 1]
    if not ambiguous:
        relabelled = [0] * len(rows)
        for v, mask in enumerate(rows):
            relabelled[cells[v]] = sum(1 << cells[c] for c in members(mask))
        return tuple(relabelled)
    chosen = min(ambiguous)[1]
    tried: list[int] = []
    codes = []
    for v in (v for v, cell in enumerate(cells) if cell == chosen):
        if any(_twins(rows, columns, u, v) for u in tried):
            continue
        tried.append(v)
        split = [2 * cell for cell in cells]
        split[v] -= 1
        codes.append(_smallest(rows, columns, split))
    return min(codes)


def _refined(rows: tuple[int, ...], columns: tuple[int, ...], cells: list[int]) -> list[int]:
    """Split cells by how many neighbours each node has in each cell, until nothing splits."""
    while True:
        marks = [
            (
                cells[v],
                sorted(cells[c] for c in members(rows[v])),
                sorted(cells[p] for p in members(columns[v])),
            )
            for v in range(len(rows))
        ]
        ordered = sorted(marks)
        finer = [ordered.index(mark) for mark in marks]
        if len(set(finer)) == len(set(cells)):
            return finer
        cells = finer


def _twins(rows: tuple[int, ...], columns: tuple[int, ...], u: int, v: int) -> bool:
    """Tell whether swapping u and v changes nothing."""
    return rows[u] == rows[v] and columns[u] == columns[v]
