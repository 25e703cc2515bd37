"""How far judges agree on the same outputs (Tables 7 and 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import ClassVar

from whybench.families.recite.extras.analyses.table import Row, number, p_value
from whybench.stats.association import pearson

Output = tuple[str, str]
"""What was judged: a system's answer to an instance."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One judge's score of one output."""

    judge: str
    system: str
    instance: str
    score: float | None
    """None or NaN: unscored, as after an incomplete pass."""


@dataclass(frozen=True, slots=True)
class Agreement(Row):
    """How far two judges agree on the outputs that both have scored."""

    HEAD: ClassVar = ("judge 1", "judge 2", "n", "r", "p", "mean Δ", "sd Δ")
    first: str
    second: str
    n: int
    r: float
    p: float
    mean: float
    """Mean of first - second: positive means that the first gives more."""
    sd: float
    """Standard deviation of first - second."""

    def cells(self) -> tuple[str, ...]:
        """Return the row as in Table 7."""
        figures = (number(self.r), p_value(self.p), number(self.mean, sign=True), number(self.sd))
        return (self.first, self.second, str(self.n), *figures)


def agreements(marks: Iterable[Mark], judges: Sequence[str] = ()) -> list[Agreement]:
    """Compare every two judges on the outputs that both have scored (Table 7).

    >>> marks = [Mark(j, "s", i, v) for j, vs in (("J", (1, 2, 4)), ("K", (0, 1, 2)))
    ...          for i, v in zip("abc", vs)]
    >>> print(agreements(marks)[0])
    | J | K | 3 | 0.982 | 0.121 | +1.333 | 0.577 |
    """
    given = by_judge(marks)
    return [_agreement(a, b, given) for a, b in combinations(judges or given, 2)]


def matched_agreements(marks: Iterable[Mark], judges: Sequence[str] = ()) -> list[Agreement]:
    """Compare every two judges on the outputs that all of them have scored (Table 8).

    On the same outputs the mean differences add up: (J - K) + (K - L) = J - L.
    """
    given = by_judge(marks)
    named = list(judges or given)
    common = set.intersection(*(set(given.get(judge, {})) for judge in named)) if named else set()
    kept = {
        judge: {output: score for output, score in given.get(judge, {}).items() if output in common}
        for judge in named
    }
    return [_agreement(a, b, kept) for a, b in combinations(named, 2)]


def by_judge(marks: Iterable[Mark]) -> dict[str, dict[Output, float]]:
    """Return the scores of each judge by output, judges in order of appearance."""
    found: dict[str, dict[Output, float]] = {}
    seen: set[tuple[str, Output]] = set()
    for mark in marks:
        output = (mark.system, mark.instance)
        if (mark.judge, output) in seen:
            raise ValueError(
                f"{mark.judge} scored {mark.system} on {mark.instance} twice. Average repetitions "
                "first."
            )
        seen.add((mark.judge, output))
        own = found.setdefault(mark.judge, {})
        if mark.score is not None and not math.isnan(mark.score):
            own[output] = mark.score
    return found


def _agreement(first: str, second: str, given: Mapping[str, Mapping[Output, float]]) -> Agreement:
    mine, theirs = given.get(first, {}), given.get(second, {})
    both = [output for output in mine if output in theirs]
    x, y = [mine[output] for output in both], [theirs[output] for output in both]
    apart = [a - b for a, b in zip(x, y, strict=True)]
    found = pearson(x, y)
    return Agreement(
        first,
        second,
        len(both),
        found.value,
        found.p,
        fmean(apart) if apart else math.nan,
        stdev(apart) if len(apart) > 1 else math.nan,
    )
