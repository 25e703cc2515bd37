"""Elimination on whole numbers agrees with elimination on fractions."""

from collections.abc import Sequence
from fractions import Fraction

import pytest

from whybench.causal.linear import ContradictionError, exact, only_solution, rank
from whybench.causal.seeds import Stream


def reduced(rows: Sequence[Sequence[int | float | Fraction]]) -> list[list[Fraction]]:
    """The rows that are left of plain Gaussian elimination, one division at a time."""
    left = [[Fraction(value) for value in row] for row in rows]
    found: list[list[Fraction]] = []
    for column in range(len(left[0]) if left else 0):
        for row in left:
            if row[column]:
                left = [other for other in left if other is not row]
                row = [value / row[column] for value in row]
                for other in (*left, *found):
                    other[:] = [a - other[column] * b for a, b in zip(other, row, strict=True)]
                found.append(row)
                break
    return found


def random_rows(stream: Stream, high: int, wide: int) -> list[list[int]]:
    """Small numbers, and often a row that is a sum of two others."""
    rows = [[stream.below(7) - 3 for _ in range(wide)] for _ in range(high)]
    if high > 2 and stream.below(2):
        rows[stream.below(high)] = [a + b for a, b in zip(rows[0], rows[-1], strict=True)]
    return stream.shuffled(rows)


def test_rank_agrees_with_fractions() -> None:
    stream, seen = Stream("test", "rank"), set()
    for _ in range(600):
        rows = random_rows(stream, 1 + stream.below(6), 1 + stream.below(6))
        assert rank(rows) == len(reduced(rows)), rows
        seen.add(len(rows) - rank(rows))
    assert {0, 1, 2} <= seen


def test_rank_takes_floats_and_fractions_at_their_exact_value() -> None:
    assert rank([[0.1, 0.2], [0.2, 0.4]]) == 1
    assert rank([[0.1, 0.3], [0.2, 0.6000000001]]) == 2
    assert rank([[Fraction(1, 3), 1], [1, 3]]) == 1
    assert rank([]) == 0


def test_a_solution_is_found_exactly_where_it_is_the_only_one() -> None:
    stream, none, many = Stream("test", "solution"), 0, 0
    for _ in range(600):
        wide = 1 + stream.below(4)
        left = random_rows(stream, wide + stream.below(3), wide)
        right = [stream.below(9) - 4 for _ in left]
        if stream.below(3):
            true = [stream.below(5) - 2 for _ in range(wide)]
            right = [sum(a * x for a, x in zip(row, true, strict=True)) for row in left]
        rows = [[*row, value] for row, value in zip(left, right, strict=True)]
        if len(reduced(rows)) > len(reduced(left)):
            none += 1
            with pytest.raises(ContradictionError):
                only_solution(rows)
            continue
        found = only_solution(rows)
        if len(reduced(left)) < wide:
            many += 1
            assert found is None
            continue
        assert found is not None
        solution = [Fraction(value, found[1]) for value in found[0]]
        assert all(
            sum(a * x for a, x in zip(row, solution, strict=True)) == value
            for row, value in zip(left, right, strict=True)
        )
    assert none > 20 < many


def test_numbers_stay_exact() -> None:
    assert repr(exact(2.0)) == "2"
    assert exact(0.1) == Fraction(0.1) != Fraction(1, 10)
    large = 10**30
    assert only_solution([[large, 1, large + 1], [1, large, large + 1]]) is not None
    assert rank([[large, large + 1], [large - 1, large]]) == 2
