"""How size, explicitness and the length of reasoning go with the score.

Section 4.3 and Table 5 (size), Figures 2 and 15 (explicitness, appendix K), Table 19 and Figures 9
and 10 (reasoning, appendix G). The paper does not give the edges of its four bins of explicitness:
here they are quarters of the scale, or quarters of the instances with `quartiles`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

import numpy as np

from whybench.families.recite.extras.analyses.bins import Bin, binned
from whybench.families.recite.extras.analyses.compare import RESAMPLES, Difference, difference
from whybench.families.recite.extras.analyses.scores import Scores, joined, known
from whybench.families.recite.extras.analyses.table import Row, between, number, p_value
from whybench.families.recite.world.published.filters import Kind
from whybench.stats.association import Association, pearson

EXPLICITNESS = (0.25, 0.5, 0.75)
"""Where bins of explicitness part, unless others are asked for."""

TOKENS = 1_000
"""Width of a bin of reasoning, in tokens."""


@dataclass(frozen=True, slots=True)
class QuartileGap(Row):
    """The mean score of the largest quarter of the instances minus that of the smallest."""

    HEAD: ClassVar = (
        "size", "bottom up to", "n", "top from", "n", "top − bottom", "sd", "95 %",
        "Welch p", "permutation p",
    )  # fmt: skip
    size: str
    low_cut: float
    high_cut: float
    """Quartiles of the sizes; an instance on one belongs to that quarter."""
    found: Difference

    def cells(self) -> tuple[str, ...]:
        """Return the row; Table 5 has difference and deviation."""
        found = self.found
        cuts = (number(self.low_cut, 1), str(found.n[1]), number(self.high_cut, 1), str(found.n[0]))
        gap = (number(found.estimate, sign=True), number(found.sd))
        bounds = between(found.low, found.high, sign=True)
        return (
            self.size,
            *cuts,
            *gap,
            bounds,
            p_value(found.welch_p),
            p_value(found.permutation_p),
        )


@dataclass(frozen=True, slots=True)
class Reasoning(Row):
    """How the length of a system's reasoning goes with its scores."""

    HEAD: ClassVar = ("system", "n", "median length", "r", "p")
    system: str
    median: float
    found: Association

    def cells(self) -> tuple[str, ...]:
        """Return the row as in Table 19."""
        figures = (number(self.median, 0), number(self.found.value, sign=True))
        return (self.system, str(self.found.n), *figures, p_value(self.found.p))


def quartiles(values: Scores) -> tuple[float, float, float]:
    """Return the three cuts that part the values into quarters, between neighbours if need be.

    >>> quartiles({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})
    (2.0, 3.0, 4.0)
    """
    given = list(known(values).values())
    if not given:
        return (math.nan, math.nan, math.nan)
    low, middle, high = np.quantile(given, (0.25, 0.5, 0.75)).tolist()
    return low, middle, high


def quarters(sizes: Scores) -> dict[str, int]:
    """Return the quarter of each instance, from 0 (smallest) to 3 (largest).

    An instance on an outer cut belongs to the outer quarter, one on the middle cut to the upper
    half. Ties make the outer quarters larger, never empty; if the outer cuts are one there are no
    quarters, so nothing is returned.

    >>> quarters({"a": 1, "b": 1, "c": 2, "d": 3, "e": 9, "f": 9})
    {'a': 0, 'b': 0, 'c': 1, 'd': 2, 'e': 3, 'f': 3}
    """
    low, middle, high = quartiles(sizes)
    if not low < high:
        return {}
    return {
        one: 0 if size <= low else 3 if size >= high else 1 + (size >= middle)
        for one, size in known(sizes).items()
    }


def quartile_gap(
    scores: Scores, sizes: Scores, size: str = "", resamples: int = RESAMPLES, seed: int = 0
) -> QuartileGap:
    """Compare the quarter of largest instances with the smallest (Table 5).

    Quarters are those of the instances that are scored, as `quarters` parts them.
    """
    given = known(scores)
    scored = {one: value for one, value in known(sizes).items() if one in given}
    low, _, high = quartiles(scored)
    places = quarters(scored)
    top, bottom = ([given[one] for one in places if places[one] == at] for at in (3, 0))
    return QuartileGap(size, low, high, difference(top, bottom, resamples, seed))


def by_explicitness(
    scores: Scores,
    explicitness: Mapping[str, tuple[float, float] | None],
    kind: Kind = "lenient",
    edges: Sequence[float] = EXPLICITNESS,
) -> list[Bin]:
    """Part the scores by the share of nodes that a text mentions (Figures 2 and 15).

    `explicitness` gives the lenient and the strict share of an instance, as `released.explicitness`
    does, or None if nodes have no labels. For equally full bins give the `quartiles` of the shares;
    where many texts mention all nodes cuts may be equal, which makes fewer bins.
    """
    return binned(scores, share_of(explicitness, kind), sorted(set(edges)))


def share_of(explicitness: Mapping[str, tuple[float, float] | None], kind: Kind) -> Scores:
    """Return the lenient or the strict share by instance.

    >>> share_of({"a": (0.9, 0.4), "b": None}, "strict")
    {'a': 0.4, 'b': None}
    """
    strict = kind == "strict"
    return {one: None if both is None else both[strict] for one, both in explicitness.items()}


def log_size(sizes: Scores, values: Scores) -> Association:
    """Correlate a size, on a logarithmic scale, with another value such as explicitness.

    Section 4.3 prints r², the square of it.

    >>> round(log_size({"a": 1, "b": 10, "c": 100}, {"a": 0.1, "b": 0.2, "c": 0.3}).value, 6)
    1.0
    """
    pairs = joined(values, sizes)
    if any(size <= 0 for size, _ in pairs):
        raise ValueError("A size of 0 has no logarithm. Leave out such instances.")
    return pearson([math.log(size) for size, _ in pairs], [value for _, value in pairs])


def by_reasoning(scores: Scores, tokens: Scores, width: int = TOKENS) -> list[Bin]:
    """Part the scores by length of reasoning, in bins of equal width (Figures 9 and 10).

    From the first bin that holds an instance to the last; those between may be empty.
    """
    if width < 1:
        raise ValueError(f"Bins must be at least 1 token wide, such as {TOKENS}, not {width}.")
    pairs = joined(scores, tokens)
    if not pairs:
        return []
    places = [math.floor(length / width) for length, _ in pairs]
    return [
        Bin(
            f"{at * width} to {(at + 1) * width}",
            tuple(score for place, (_, score) in zip(places, pairs, strict=True) if place == at),
        )
        for at in range(min(places), max(places) + 1)
    ]


def reasoning(scores: Scores, lengths: Scores, system: str = "") -> Reasoning:
    """Correlate length of reasoning with the score (Table 19, which counts characters)."""
    pairs = joined(scores, lengths)
    own = [length for length, _ in pairs]
    found = pearson(own, [score for _, score in pairs])
    return Reasoning(system, median(own) if own else math.nan, found)
