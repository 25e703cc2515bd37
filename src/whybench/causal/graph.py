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
        """Return whether no node is its own descendant."""
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
    """Return a code, equal for two coloured graphs exactly if renaming nodes makes them equal.

    The method refines colours, then individualises the nodes of the first smallest ambiguous class,
    and keeps the smallest code over all branches (McKay, *Practical graph isomorphism*, 1981). If a
    symmetry maps nodes onto one another, it tries only one of them. This is fast if refinement
    finds all differences, as on trees; regular graphs may take very long.

    >>> canonical_form((0b010, 0, 0)) == canonical_form((0, 0, 0b010))
    True
    """
    colours = tuple(colours) if colours is not None else (0,) * len(rows)
    if len(colours) != len(rows):
        raise ValueError("give one colour for each node")
    ranks = {colour: rank for rank, colour in enumerate(sorted(set(colours)))}
    web = _Web.of(rows)
    return (*sorted(colours), *_smallest(web, web.refined([ranks[colour] for colour in colours])))


@dataclass(frozen=True, slots=True)
class _Web:
    """A graph, ready for refinement."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    after: list[list[int]]
    """Each node's children."""
    before: list[list[int]]
    """Each node's parents."""

    @classmethod
    def of(cls, rows: Sequence[int]) -> _Web:
        columns = transpose(rows)
        lists = ([list(members(mask)) for mask in masks] for masks in (rows, columns))
        return cls(tuple(rows), columns, *lists)

    def refined(self, cells: list[int]) -> list[int]:
        """Split cells by how many neighbours each node has in each cell, until nothing splits."""
        count = len(set(cells))
        while True:
            marks = [
                (
                    cell,
                    tuple(sorted([cells[c] for c in after])),
                    tuple(sorted([cells[p] for p in before])),
                )
                for cell, after, before in zip(cells, self.after, self.before, strict=True)
            ]
            first: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = {}
            for place, mark in enumerate(sorted(marks)):
                first.setdefault(mark, place)
            cells = [first[mark] for mark in marks]
            if len(first) == count:
                return cells
            count = len(first)

    def singled_out(self, cells: list[int], v: int) -> list[int]:
        """Put a node before the others of its cell, and refine."""
        split = [2 * cell for cell in cells]
        split[v] -= 1
        return self.refined(split)

    def one_of_each_kind(self, nodes: list[int]) -> list[int]:
        """Return one node, the first, of each set of nodes that can be swapped."""
        kinds: dict[tuple[int, int], int] = {}
        for v in nodes:
            kinds.setdefault((self.rows[v], self.columns[v]), v)
        return list(kinds.values())

    def code(self, cells: list[int]) -> tuple[int, ...]:
        """Return the sets of children when every node is named by its cell."""
        named = [0] * len(cells)
        for cell, after in zip(cells, self.after, strict=True):
            named[cell] = sum([1 << cells[c] for c in after])
        return tuple(named)


def _ambiguous(cells: list[int]) -> list[int]:
    """Return the nodes of the first smallest cell with several nodes; empty if there is none."""
    groups: dict[int, list[int]] = {}
    for v, cell in enumerate(cells):
        groups.setdefault(cell, []).append(v)
    open_cells = [(len(group), cell) for cell, group in groups.items() if len(group) > 1]
    return groups[min(open_cells)[1]] if open_cells else []


def _smallest(web: _Web, cells: list[int]) -> tuple[int, ...]:
    """Return the smallest code over all ways to distinguish the nodes of refined cells."""
    candidates = _ambiguous(cells)
    if not candidates:
        return web.code(cells)
    tried: list[list[int]] = []
    for v in web.one_of_each_kind(candidates):
        split = web.singled_out(cells, v)
        if not any(_alike(web, other, split) for other in tried):
            tried.append(split)
    return min(_smallest(web, split) for split in tried)


def _alike(web: _Web, left: list[int], right: list[int]) -> bool:
    """Return whether a symmetry of the graph maps refined cells onto others."""
    if sorted(left) != sorted(right):
        return False
    here, there = _ambiguous(left), _ambiguous(right)
    if not here:
        return web.code(left) == web.code(right)
    chosen = web.singled_out(left, here[0])
    return any(_alike(web, chosen, web.singled_out(right, v)) for v in web.one_of_each_kind(there))
