"""Linear algebra without rounding: Gaussian elimination on fractions, for small proofs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

Vector: TypeAlias = tuple[Fraction, ...]
Row: TypeAlias = Sequence[int | float | Fraction]
"""Floats are taken at their exact binary value: round them first where decimals are meant."""


def echelon(rows: Iterable[Row]) -> tuple[list[Vector], list[int]]:
    """Return the reduced rows without zero rows, and the column that leads each of them.

    >>> echelon([[1, 2, 3], [2, 4, 7]])[1]
    [0, 2]
    """
    matrix = [[Fraction(value) for value in row] for row in rows]
    reduced: list[list[Fraction]] = []
    leads: list[int] = []
    width = len(matrix[0]) if matrix else 0
    for column in range(width):
        pivot = next((row for row in matrix if row[column]), None)
        if pivot is None:
            continue
        matrix.remove(pivot)
        scale = pivot[column]
        pivot = [value / scale for value in pivot]
        for other in (*matrix, *reduced):
            if factor := other[column]:
                other[:] = [a - factor * b for a, b in zip(other, pivot, strict=True)]
        reduced.append(pivot)
        leads.append(column)
    return [tuple(row) for row in reduced], leads


def rank(rows: Iterable[Row]) -> int:
    """Return the number of independent rows.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    return len(echelon(rows)[0])


def nullspace(rows: Iterable[Row], width: int) -> list[Vector]:
    """Return a basis of the vectors of a given length that every row is orthogonal to.

    >>> nullspace([[1, 2]], 2)
    [(Fraction(-2, 1), Fraction(1, 1))]
    """
    reduced, leads = echelon(rows)
    basis = []
    for free in (column for column in range(width) if column not in leads):
        vector = [Fraction(0)] * width
        vector[free] = Fraction(1)
        for row, lead in zip(reduced, leads, strict=True):
            vector[lead] = -row[free]
        basis.append(tuple(vector))
    return basis
