"""Linear algebra in whole numbers, for the check of certificates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

Row = tuple[int, ...]


def rank(rows: Iterable[Sequence[int]], columns: Iterable[int]) -> int:
    """Return the rank of some columns."""
    chosen = tuple(columns)
    left = [[row[c] for c in chosen] for row in rows]
    rank = 0
    for c in range(len(chosen)):
        pivot = next((i for i in range(rank, len(left)) if left[i][c]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        head = left[rank]
        for i in range(rank + 1, len(left)):
            if factor := left[i][c]:
                row = [head[c] * a - factor * b for a, b in zip(left[i], head, strict=True)]
                common = gcd(*row) or 1
                left[i] = [a // common for a in row]
        rank += 1
    return rank


def null_space(rows: Iterable[Sequence[int]], columns: Sequence[int], k: int) -> list[Row]:
    """Return a basis of the vectors on some columns that are orthogonal to all rows."""
    left = [[Fraction(row[c]) for c in columns] for row in rows]
    pivots: list[int] = []
    for c in range(len(columns)):
        top = len(pivots)
        pivot = next((i for i in range(top, len(left)) if left[i][c]), None)
        if pivot is None:
            continue
        left[top], left[pivot] = left[pivot], left[top]
        left[top] = [a / left[top][c] for a in left[top]]
        for i, row in enumerate(left):
            if i != top and row[c]:
                left[i] = [a - row[c] * b for a, b in zip(row, left[top], strict=True)]
        pivots.append(c)
    basis = []
    for free in (c for c in range(len(columns)) if c not in pivots):
        vector = [Fraction(0)] * k
        vector[columns[free]] = Fraction(1)
        for i, c in enumerate(pivots):
            vector[columns[c]] = -left[i][free]
        basis.append(cleared(vector))
    return basis


def only_zero(table: Sequence[tuple[Row, list[int]]], width: int) -> bool:
    """Tell whether every solution is 0 in its first entries; lines have several right sides.

    A line that is independent of the earlier ones may have any of its right sides. For a dependent
    line the right side follows from the others and must be one of those allowed.
    """
    size = len(table[0][0])
    chosen: list[Row] = []
    ties: list[Row | None] = []
    for row, _ in table:
        tie = null_space(zip(*chosen, row, strict=True), range(len(chosen) + 1), len(chosen) + 1)
        ties.append(tie[0] if tie else None)
        chosen += [] if tie else [row]
    if len(chosen) < size:
        return False

    def other(i: int, sides: tuple[int, ...]) -> bool:
        """Tell whether lines from i on allow a solution that is not 0."""
        if i == len(table):
            lines = ((*row, -side) for row, side in zip(chosen, sides, strict=True))
            return any(null_space(lines, range(size + 1), size + 1)[0][:width])
        tie, allowed = ties[i], table[i][1]
        if tie is None:
            return any(other(i + 1, (*sides, side)) for side in allowed)
        total = sum(a * b for a, b in zip(tie, sides, strict=False))
        return any(total + tie[-1] * side == 0 for side in allowed) and other(i + 1, sides)

    return not other(0, ())


def cleared(vector: Sequence[Fraction]) -> Row:
    """Return a multiple of a vector with whole entries."""
    common = lcm(*(entry.denominator for entry in vector))
    return tuple(int(entry * common) for entry in vector)
