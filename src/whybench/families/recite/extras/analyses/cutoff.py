"""Scores of documents from before and after a model's knowledge cut-off (appendix B).

Documents published before a model's cut-off may have been in its training data, later ones not. A
model that remembers scores higher before. A difference that is not significant with few documents
on one side shows little either way: read its interval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from whybench.families.recite.extras.analyses.compare import RESAMPLES, Difference, difference
from whybench.families.recite.extras.analyses.scores import Scores, known
from whybench.families.recite.extras.analyses.table import Row, between, number, p_value

_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


@dataclass(frozen=True, slots=True)
class Cutoff(Row):
    """Mean scores on either side of a date."""

    HEAD: ClassVar = (
        "system", "cut-off", "n before", "before", "n after", "after", "after − before", "95 %",
        "Welch p", "permutation p",
    )  # fmt: skip
    system: str
    date: str
    before: float
    after: float
    found: Difference
    """After minus before."""
    undated: int
    """Scored documents left out: without a date, or with a year or month that holds the cut-off."""

    def cells(self) -> tuple[str, ...]:
        """Return the row."""
        found = self.found
        sides = (str(found.n[1]), number(self.before), str(found.n[0]), number(self.after))
        gap = (number(found.estimate, sign=True), between(found.low, found.high, sign=True))
        tests = (p_value(found.welch_p), p_value(found.permutation_p))
        return (self.system, self.date, *sides, *gap, *tests)


def around_cutoff(
    scores: Scores,
    dates: Mapping[str, str],
    cutoff: str,
    system: str = "",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Cutoff:
    """Compare scores of documents from after a cut-off with those from up to it.

    Dates are `2024-05-17`, `2024-05` or `2024`, or empty if unknown. A cut-off given as a month or
    a year is its last day.
    """
    last = span(cutoff)[1]
    sides: dict[bool, list[float]] = {True: [], False: []}
    undated = 0
    for instance, score in known(scores).items():
        day = dates.get(instance, "")
        if not day:
            undated += 1
            continue
        first, end = span(day)
        if first <= last < end:
            undated += 1
        else:
            sides[first > last].append(score)
    after, before = sides[True], sides[False]
    return Cutoff(
        system,
        cutoff,
        fmean(before) if before else float("nan"),
        fmean(after) if after else float("nan"),
        difference(after, before, resamples, seed),
        undated,
    )


def span(day: str) -> tuple[str, str]:
    """Return the first and the last day of a date, month or year; they compare as texts.

    >>> span("2023-12"), span("2024")
    (('2023-12-01', '2023-12-31'), ('2024-01-01', '2024-12-31'))
    """
    if not _DATE.fullmatch(day):
        raise ValueError(f"{day!r} is not a date. Write 2024-05-17, 2024-05 or 2024.")
    # Day 31 of a short month is on no calendar, but it sorts behind all of the month's days.
    first, last = (day + rest[len(day) - 4 :] for rest in ("-01-01", "-12-31"))
    return first, last
