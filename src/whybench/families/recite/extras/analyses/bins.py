"""Scores of instances put into bins by another number."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import stdev
from typing import ClassVar

from whybench.families.recite.extras.analyses.compare import OneWay, one_way
from whybench.families.recite.extras.analyses.scores import Scores, joined
from whybench.families.recite.extras.analyses.table import Row, between, number
from whybench.stats.interval import Interval, mean_interval


@dataclass(frozen=True, slots=True)
class Bin(Row):
    """The scores in one bin."""

    HEAD: ClassVar = ("bin", "n", "mean", "sd", "95 %")
    name: str
    scores: tuple[float, ...]

    @property
    def found(self) -> Interval:
        """Mean with Student's interval."""
        return mean_interval(self.scores, bounds=(0, 1))

    def cells(self) -> tuple[str, ...]:
        """Return the row."""
        found = self.found
        sd = stdev(self.scores) if found.n > 1 else math.nan
        bounds = between(found.low, found.high)
        return (self.name, str(found.n), number(found.estimate), number(sd), bounds)


def binned(
    scores: Scores, values: Scores, edges: Sequence[float], names: Sequence[str] = ()
) -> list[Bin]:
    """Split scores by their instances' values: n edges make n + 1 bins.

    A value on an edge belongs to the bin above; the outer bins have no end. Bins may be empty.

    >>> for row in binned({"a": 0.1, "b": 0.3, "c": 0.9}, {"a": 4, "b": 5, "c": 9}, [5]):
    ...     print(row.name, row.scores)
    < 5 (0.1,)
    ≥ 5 (0.3, 0.9)
    """
    if any(low >= high for low, high in pairwise(edges)):
        raise ValueError(
            f"Edges {list(edges)} are not increasing. Give each once, the lowest first."
        )
    called = list(names) or edge_names(edges)
    if len(called) != len(edges) + 1:
        raise ValueError(f"{len(edges)} edges make {len(edges) + 1} bins. Give one name per bin.")
    found: list[list[float]] = [[] for _ in called]
    for value, score in joined(scores, values):
        found[bisect_right(edges, value)].append(score)
    return [Bin(name, tuple(own)) for name, own in zip(called, found, strict=True)]


def edge_names(edges: Sequence[float]) -> list[str]:
    """Name the bins between edges.

    >>> edge_names([0.15, 0.3])
    ['< 0.15', '0.15 to 0.3', '≥ 0.3']
    """
    if not edges:
        return ["all"]
    middle = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return [f"< {edges[0]:g}", *middle, f"≥ {edges[-1]:g}"]


def apart(bins: Sequence[Bin]) -> OneWay:
    """Test whether the bins differ."""
    return one_way([one.scores for one in bins])
