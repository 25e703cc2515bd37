"""Count the SCMs that fit a second time, for `check`: by faces of the cube, and layer by layer.

Nothing here is shared with the prover. The prover weighs parent sets by Möbius inversion over cells
of rows, and sums over sinks with signs.

- A table over the faces of the cube, where every variable is 0, 1 or open, records which patterns
  of which variables were seen with which value. It gives the functions that fit.
- Every acyclic SCM has exactly one division into layers: a variable is one layer after the last of
  its parents. SCMs are counted layer by layer, and every term is positive.
- All SCMs that fit replay a row correctly if and only if none of them has a mechanism that
  disagrees with the row itself. The reason: before the first wrong cell of a replay, all cells are
  right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from whybench.families.replayscm.world.world import Asked, Table, View

Row = tuple[int, int]
"""What was clamped, and which variables were 1."""

_WIDEST = 5
"""With more parents, the numbers of functions exceed the machine's integers."""


def rows_of(tables: Iterable[Table]) -> tuple[Row, ...]:
    """Return the rows of tables, each with its targets."""
    return tuple((table.targets, row) for table in tables for row in table.rows())


def admissible(view: View) -> tuple[int, ...]:
    """Return the admissible parents of each variable, read from the disclosure."""
    every = (1 << view.n) - 1
    layers: Sequence[Sequence[int]] = [range(view.n)]
    if view.disclosure == "ordered":
        layers = [(v,) for v in view.order]
    if view.disclosure == "block":
        layers = view.blocks
    found, before = [every] * view.n, 0
    for layer in layers:
        before |= sum(1 << v for v in layer)
        for v in layer:
            found[v] = before & ~(1 << v)
    return tuple(found)


def root_sets(view: View) -> Iterator[int]:
    """Yield the sets of roots that are possible for the agent."""
    if view.disclosure == "roots":
        for chosen in combinations(range(view.n), view.told.root_count):
            yield sum(1 << v for v in chosen)
    else:
        yield view.told.roots or 0


class Recount:
    """The SCMs that fit rows: at most k essential parents each, none that is not admissible."""

    def __init__(self, n: int, k: int, allowed: Sequence[int], rows: Iterable[Row]) -> None:
        self.n, self.k, self.allowed = n, min(k, n - 1), tuple(allowed)
        self.every = (1 << n) - 1
        self._rows = set(rows)
        self._faces: dict[int, npt.NDArray[np.uint8]] = {}
        self._agrees: dict[int, npt.NDArray[np.bool_]] = {}
        self._ways: dict[int, list[int]] = {}

    def ways(self, v: int, placed: int) -> int:
        """Return how many functions of variables in `placed` fit as the mechanism of v."""
        if v not in self._ways:
            faces = self._faces[v] = _faces(self.n, v, self._rows)
            agrees = self._agrees[v] = _by_support(faces == 3, v).ravel() == 0
            patterns = _by_support(faces > 0, v).ravel()
            self._ways[v] = _bounded(self.n, self.k, patterns, agrees)
        return self._ways[v][placed & self.allowed[v]]

    def count(self, roots: int) -> int:
        """Return how many SCMs with these roots fit."""
        if self._reached(roots, 0) != self.every:
            return 0
        every, ways, n = self.every, self.ways, self.n

        @cache
        def rest(placed: int, before: int) -> int:
            """Count the ways to place the rest; `placed` less `before` is the last layer."""
            if placed == every:
                return 1
            layers = [(placed, 1)]
            for v in range(n):
                if not placed >> v & 1:
                    new = ways(v, placed) - (ways(v, before) if before >= 0 else 0)
                    if new:
                        layers += [(mask | 1 << v, count * new) for mask, count in layers]
            return sum(count * rest(mask, placed) for mask, count in layers[1:])

        return rest(roots, -1)

    def _reached(self, placed: int, barred: int) -> int:
        """Return all that can be placed after some variables, if others never are."""
        before = -1
        while placed != before:
            before = placed
            for v in range(self.n):
                if not (placed | barred) >> v & 1 and self.ways(v, placed):
                    placed |= 1 << v
        return placed

    def undetermined(self, roots: int, rows: Sequence[Row]) -> set[int]:
        """Return the numbers of rows that some SCM with these roots fits without replaying."""
        found: set[int] = set()
        for v in range(self.n):
            if roots >> v & 1:
                continue
            ahead = self._reached(roots, 1 << v)
            if not self.ways(v, ahead) or self._reached(ahead | 1 << v, 0) != self.every:
                continue
            free = [r for r, (targets, _) in enumerate(rows) if not targets >> v & 1]
            if free:
                wrong = self._wrong(v, ahead & self.allowed[v], [rows[r][1] for r in free])
                found.update(r for r, bad in zip(free, wrong, strict=True) if bad)
        return found

    def cell(self, roots: int, asked: Asked) -> set[int]:
        """Return the values that SCMs with these roots that fit give the asked cell.

        Variables are placed one after another in every order. Each takes every value that a
        mechanism on those placed can give it: one that no row with the same pattern contradicts.
        """
        waiting = [(roots, asked.row & (roots | asked.targets))]
        known = set(waiting)
        while waiting:
            placed, row = waiting.pop()
            for v in range(self.n):
                if not placed >> v & 1 and self.ways(v, placed):
                    for value in self._values(v, placed, row, asked):
                        after = placed | 1 << v, row & ~(1 << v) | value << v
                        if after not in known:
                            known.add(after)
                            waiting.append(after)
        return {row >> asked.variable & 1 for placed, row in known if placed == self.every}

    def _values(self, v: int, placed: int, row: int, asked: Asked) -> set[int]:
        """Return the values that v can take after some variables with their values."""
        if asked.targets >> v & 1:
            return {row >> v & 1}
        one, zero = self._wrong(v, placed & self.allowed[v], [row | 1 << v, row & ~(1 << v)])
        return {value for value, can in enumerate((one, zero)) if can}

    def _wrong(self, v: int, ahead: int, rows: Sequence[int]) -> list[bool]:
        """Tell for each row whether a mechanism of v on `ahead` fits and gets it wrong."""
        u = [u for u in range(self.n) if ahead >> u & 1]
        supports = [
            [int(x in chosen) for x in range(self.n)]
            for chosen in combinations(u, min(self.k, len(u)))
            if self._agrees[v][sum(1 << x for x in chosen)]
        ]
        digits = np.array([[1 + (row >> x & 1) for x in range(self.n)] for row in rows])
        places = np.array([3 ** (x - (x > v)) for x in range(self.n)])
        at = (np.array(supports).reshape(-1, self.n) * places) @ digits.T
        seen = self._faces[v].ravel()[at]
        right = np.array([2 if row >> v & 1 else 1 for row in rows])
        wrong: list[bool] = (seen != right).any(axis=0).tolist()
        return wrong


def _faces(n: int, v: int, rows: Iterable[Row]) -> npt.NDArray[np.uint8]:
    """Return for every face of the cube what v was where it was free: 1 for 0, 2 for 1, 3 for both.

    Axis n - 1 - u is variable u: left open, 0, 1. The axis of v itself is open.
    """
    table = np.zeros(1 << n, np.uint8)
    for targets, row in rows:
        if not targets >> v & 1:
            table[row] |= 2 if row >> v & 1 else 1
    table = table.reshape((2,) * n)
    for u in range(n):
        low, high = np.split(table, 2, axis=n - 1 - u)
        parts = [low | high] if u == v else [low | high, low, high]
        table = np.concatenate(parts, axis=n - 1 - u)
    return table


def _by_support(marked: npt.NDArray[np.bool_], v: int) -> npt.NDArray[np.int64]:
    """Return how many faces are marked for each set of variables that are not left open."""
    found = marked.astype(np.int64)
    n = found.ndim
    for u in range(n):
        axis = n - 1 - u
        if u == v:
            found = np.repeat(found, 2, axis=axis)
            continue
        free, low, high = np.split(found, 3, axis=axis)
        found = np.concatenate([free, low + high], axis=axis)
    return found


def _bounded(
    n: int, k: int, patterns: npt.NDArray[np.int64], agrees: npt.NDArray[np.bool_]
) -> list[int]:
    """Return for each set how many functions of it fit that depend on at most k of its members.

    Up to k members, the number is 2 to the number of patterns not seen. For a larger set S, the
    fitting functions of its small subsets Q are added with a sign and weight that count each
    function once: (-1)^(k-|Q|) C(|S|-|Q|-1, k-|Q|), which is the sum over i <= k-|Q| of
    (-1)^i C(|S|-|Q|, i).
    """
    sizes = [mask.bit_count() for mask in range(1 << n)]
    small = [
        (1 << (1 << size) - seen) if size <= k and agreed else 0
        for size, seen, agreed in zip(sizes, patterns.tolist(), agrees.tolist(), strict=True)
    ]
    if k >= n - 1:
        return small
    kind: Any = np.int64 if k <= _WIDEST else object
    of_size = np.array(sizes)
    sums = np.array(small, kind) * (of_size == np.arange(k + 1)[:, None])
    sums = sums.reshape((k + 1, *(2,) * n))
    for axis in range(1, n + 1):
        low, high = np.split(sums, 2, axis=axis)
        sums = np.concatenate([low, low + high], axis=axis)
    signs = np.array(
        [
            [(-1) ** (k - j) * comb(s - j - 1, k - j) if s > k else 0 for s in range(n + 1)]
            for j in range(k + 1)
        ],
        kind,
    )
    large = (sums.reshape(k + 1, -1) * signs[:, of_size]).sum(axis=0).tolist()
    return [a if size <= k else b for size, a, b in zip(sizes, small, large, strict=True)]
