"""Linear algebra without rounding: Gaussian elimination on integers, for small proofs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

Exact: TypeAlias = int | Fraction
Row: TypeAlias = Sequence[int | float | Fraction]
"""Floats have their exact binary value: round them first if you mean decimals."""


def exact(value: float | Fraction) -> Exact:
    """Return a number's exact value, as an int if possible, because ints are much faster.

    >>> exact(3.0), exact(0.5)
    (3, Fraction(1, 2))
    """
    return int(value) if value == int(value) else Fraction(value)


def rank(rows: Iterable[Row]) -> int:
    """Return the number of independent rows.

    This is Bareiss, *Sylvester's identity and multistep integer-preserving Gaussian elimination*,
    1968. Every intermediate number is a minor of the matrix. So division by the previous pivot
    leaves no remainder, and numbers stay short.

    >>> rank([[1, 2], [2, 4]])
    1
    """
    matrix = [_whole(row) for row in rows]
    found, before = 0, 1
    for column in range(len(matrix[0]) if matrix else 0):
        chosen = next((i for i, row in enumerate(matrix) if row[column]), None)
        if chosen is None:
            continue
        pivot = matrix.pop(chosen)
        lead = pivot[column]
        matrix = [
            [(lead * a - row[column] * b) // before for a, b in zip(row, pivot, strict=True)]
            for row in matrix
        ]
        before = lead
        found += 1
        if not matrix:
            break
    return found


class ContradictionError(ValueError):
    """Raised for equations without a solution."""


def only_solution(equations: Iterable[Sequence[int]]) -> tuple[list[int], int] | None:
    """Solve integer equations, right side last; None if they have more than one solution.

    Returns numerators and their denominator. It uses Bareiss's elimination above the pivots too,
    so that in the end all pivots are the same number.

    >>> only_solution([[1, 1, 5], [1, -1, 2]])
    ([-7, -3], -2)
    >>> only_solution([[1, 1, 5], [2, 2, 10]])
    """
    waiting = [list(row) for row in equations]
    done: list[list[int]] = []
    before = 1
    width = len(waiting[0]) - 1 if waiting else 0
    for column in range(width):
        chosen = next((i for i, row in enumerate(waiting) if row[column]), None)
        if chosen is None:
            continue
        pivot = waiting.pop(chosen)
        lead = pivot[column]
        done, waiting = (
            [
                [(lead * a - row[column] * b) // before for a, b in zip(row, pivot, strict=True)]
                for row in rows
            ]
            for rows in (done, waiting)
        )
        done.append(pivot)
        before = lead
    if any(row[-1] for row in waiting):
        raise ContradictionError("These equations have no solution.")
    return ([row[-1] for row in done], before) if len(done) == width else None


def _whole(row: Row) -> Sequence[int]:
    """Return a row as whole numbers: a multiple of it has the same direction."""
    if all(type(value) is int for value in row):
        return row  # type: ignore[return-value]  # just checked
    fractions = [Fraction(value) for value in row]
    scale = lcm(*(value.denominator for value in fractions))
    return [int(value * scale) for value in fractions]
