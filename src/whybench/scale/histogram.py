"""Histograms of a column that is read in parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.causal.canonical import canonical_json

WORDS = 20
"""Number of words that are listed, the most frequent first. The rest is `other`."""
KNOWN = 1000
"""Number of different words that are counted separately."""
VALUES = 50
"""Numbers with more values than this are shown in bins."""
BINS = 20
FINE = 1000
"""Maximum number of bins while counting. At the end they are merged into round bins."""


class Tally:
    """Counts of the values of one column. Numbers and words are counted separately."""

    def __init__(self) -> None:
        self.count = 0
        self.missing = 0
        self.words: Counter[str] = Counter()
        self.other = 0
        self.numbers = Numbers()

    def add(self, values: Sequence[Any]) -> None:
        """Add values. None is missing; everything that is not a number counts as a word."""
        kinds = set(map(type, values))
        if type(None) in kinds:
            values = [value for value in values if value is not None]
        numbers: Sequence[float] = values
        if not kinds <= {int, float, type(None)}:
            numbers = [value for value in values if type(value) in (int, float)]
            self._add_words(value for value in values if type(value) not in (int, float))
        self.count += len(values)
        if len(numbers):
            self.numbers.add(np.asarray(numbers, np.float64))

    def add_numbers(self, column: Any) -> None:
        """Add a column of numbers."""
        self.missing += column.null_count
        self.count += len(column) - column.null_count
        if column.null_count < len(column):
            self.numbers.add(column.drop_null().to_numpy().astype(np.float64))

    def _add_words(self, values: Iterable[Any]) -> None:
        plain = (canonical_json(v) if isinstance(v, list | dict) else v for v in values)
        for value, count in Counter(plain).items():
            word = value if isinstance(value, str) else canonical_json(value)
            if word in self.words or len(self.words) < KNOWN:
                self.words[word] += count
            else:
                self.other += count

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON data."""
        told: dict[str, Any] = {"count": self.count, "missing": self.missing}
        if self.numbers.count:
            told |= self.numbers.to_json()
        if self.words:
            ranked = sorted(self.words.items(), key=lambda item: (-item[1], item[0]))
            told["words"] = [[word, count] for word, count in ranked[:WORDS]]
            told["other"] = self.other + sum(count for _, count in ranked[WORDS:])
        return told


class Numbers:
    """Counts of numbers: by value while there are few values, then in bins of round width.

    While counting, bins are 10^k wide, with the smallest k that needs at most FINE bins. So the
    bins depend only on the smallest and the largest number, not on the order of the numbers.
    """

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.low, self.high = math.inf, -math.inf
        self.whole = True
        self.values: dict[float, int] | None = {}
        self.power = -300
        self.bins: Counter[int] = Counter()

    def add(self, numbers: NDArray[np.float64]) -> None:
        """Add numbers."""
        values, counts = np.unique(numbers, return_counts=True)
        self.count += len(numbers)
        self.total += float((values * counts).sum())
        self.low, self.high = min(self.low, float(values[0])), max(self.high, float(values[-1]))
        self.whole = self.whole and bool((values == np.floor(values)).all())
        if self.values is not None:
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.values[value] = self.values.get(value, 0) + count
            if len(self.values) <= VALUES:
                return
            values = np.fromiter(self.values, np.float64)
            counts = np.fromiter(self.values.values(), np.int64)
            self.values = None
        self._widen()
        places, inverse = np.unique(_places(values, self.power), return_inverse=True)
        sums = np.bincount(inverse, counts).astype(np.int64)
        for place, count in zip(places.tolist(), sums.tolist(), strict=True):
            self.bins[place] += count

    def _widen(self) -> None:
        least = math.floor(math.log10((self.high - self.low) / FINE))
        power = least if _span(self.low, self.high, least) <= FINE else least + 1
        if power > self.power:
            joined: Counter[int] = Counter()
            for place, count in self.bins.items():
                joined[place // 10 ** (power - self.power)] += count
            self.power, self.bins = power, joined

    def to_json(self) -> dict[str, Any]:
        """Return mean, minimum, maximum and a histogram."""
        kind = int if self.whole else float
        told: dict[str, Any] = {
            "mean": self.total / self.count, "min": kind(self.low), "max": kind(self.high)
        }  # fmt: skip
        if self.values is not None:
            return told | {"values": [[kind(v), n] for v, n in sorted(self.values.items())]}
        power, factor = self._round()
        shift = power - self.power
        joined: Counter[int] = Counter()
        for place, count in self.bins.items():
            joined[place // (factor * 10**shift)] += count
        edges = range(min(joined), max(joined) + 1)
        return told | {
            "bins": [
                [_edge(e * factor, power), _edge((e + 1) * factor, power), joined[e]] for e in edges
            ]
        }

    def _round(self) -> tuple[int, int]:
        """Return the smallest width factor · 10^power (factor 1, 2 or 5) that needs few bins."""
        start = max(self.power, 0) if self.whole else self.power
        for power in range(start, start + 20):
            for factor in (1, 2, 5):
                if _span(self.low, self.high, power, factor) <= BINS:
                    return power, factor
        raise ValueError(f"Numbers from {self.low} to {self.high} cannot be shown in bins.")


def _places(numbers: Any, power: int, factor: int = 1) -> Any:
    """Return the bins of numbers. Rounding does not move a number at an edge to the bin below."""
    scaled = numbers * 10.0**-power if power < 0 else numbers / 10.0**power
    return np.floor(np.round(scaled, 6) / factor).astype(np.int64)


def _span(low: float, high: float, power: int, factor: int = 1) -> int:
    first, last = _places(np.array([low, high]), power, factor).tolist()
    return int(last - first + 1)


def _edge(place: int, power: int) -> float:
    return place / int(10**-power) if power < 0 else place * int(10**power)
