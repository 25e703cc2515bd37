"""Recompute every number of a generated document from its seed, for `check`.

The generator uses matrices; this module adds and multiplies in plain Python. Both draw from the
same streams of random numbers, and print few digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import mul

from whybench.causal.seeds import Stream
from whybench.families.recite.proof.checker.verification_parser import Heard, table

PERIODS = {"economy": 480, "health": 520, "water": 520}
_BEFORE, _KEPT, _GROWTH, _PAIRS = 60, 0.4, 0.52, 200

Link = tuple[int, int]
Link2 = tuple[float, float]


def shown(value: float, digits: int) -> str:
    """Return a number as it should be printed."""
    units = max(0, math.ceil(abs(value) * 10**digits - 0.5 - 1e-6))
    text = str(units).zfill(digits + 1)
    text = f"{text[:-digits]}.{text[-digits:]}" if digits else text
    return ("−" if value < 0 and units else "") + text


def significance(ratio: float) -> str:
    """Return a p-value as it should be printed."""
    p = math.erfc(abs(ratio) / math.sqrt(2.0))
    return "< 0.001" if p < 0.001 else f"= {shown(p, 3)}"


def disturbances(stream: Stream, count: int) -> list[float]:
    """Return sums of four uniform numbers, centred, with variance 1."""
    drawn = [int(word) >> 11 for word in stream.words(4 * count)]
    scale = math.sqrt(3.0)
    return [(math.fsum(drawn[k : k + 4]) * 2.0**-53 - 2.0) * scale for k in range(0, len(drawn), 4)]


def solved(
    products: Sequence[Sequence[float]], right: Sequence[float], total: float, count: int
) -> tuple[list[Link2], float]:
    """Solve the normal equations of a regression (Gauss and Jordan)."""
    k = len(products)
    rows = [[*row, *(float(i == j) for j in range(k))] for i, row in enumerate(products)]
    for i in range(k):
        pivot = rows[i][i]
        rows[i] = [x / pivot for x in rows[i]]
        for j in range(k):
            if j != i:
                factor = rows[j][i]
                rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    found = [sum(map(mul, row[k:], right)) for row in rows]
    rest = total - sum(map(mul, found, right))
    variance = rest / (count - k - 1)
    errors = [math.sqrt(variance * rows[i][k + i]) for i in range(k)]
    return list(zip(found, errors, strict=True)), 1.0 - rest / total


def _centred(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the sum of products of two series, each without its mean."""
    return float(sum(map(mul, x, y)) - sum(x) * sum(y) / len(x))


class Recomputed:
    """The data of a study: concepts by name, arrows with signs, and the path of its seed."""

    def __init__(
        self, path: Sequence[str | int], field: str, names: Sequence[str], n: int,
        signs: Mapping[Link, int],
    ) -> None:  # fmt: skip
        self.path, self.names, self.n, self.signs = tuple(path), list(names), n, dict(signs)
        self.place = {name: v for v, name in enumerate(names)}
        known = {row["name"]: row for row in table(f"fields/{field}/concepts.tsv")}
        self.rows = [known[name] for name in names]
        self.periods = PERIODS[field]
        self.causes = {b: [a for a, effect in sorted(signs) if effect == b] for b in range(n)}
        self._cross: dict[tuple[int, int, int], float] = {}

    @cached_property
    def weights(self) -> dict[Link, float]:
        """The weights of the arrows."""
        stream = Stream(*self.path, "weights")
        size = {link: 0.3 + 0.2 * stream.uniform() for link in sorted(self.signs)}
        level, bound = [1.0] * self.n, 1.0
        for _ in range(200):
            raised = level[:]
            for (a, b), weight in size.items():
                raised[b] += weight * level[a]
            bound = max(new / old for new, old in zip(raised, level, strict=True)) - 1.0
            top = max(raised)
            level = [max(value / top, 1e-9) for value in raised]
        factor = min(1.0, _GROWTH / bound)
        return {link: self.signs[link] * weight * factor for link, weight in size.items()}

    @cached_property
    def series(self) -> list[list[float]]:
        """The standardised observations, one list for each concept."""
        k, length = len(self.names), _BEFORE + self.periods
        shocks = disturbances(Stream(*self.path, "noise"), length * k)
        now = [0.0] * k
        rows = [now]
        for t in range(1, length):
            after = [_KEPT * x + e for x, e in zip(now, shocks[t * k : t * k + k], strict=True)]
            for (a, b), weight in self.weights.items():
                after[b] += weight * now[a]
            now = after
            rows.append(now)
        columns = [list(column) for column in zip(*rows[_BEFORE:], strict=True)]
        self.scale = []
        found = []
        for column in columns:
            mean = math.fsum(column) / len(column)
            spread = math.sqrt(math.fsum((x - mean) ** 2 for x in column) / (len(column) - 1))
            self.scale.append(spread)
            found.append([(x - mean) / spread for x in column])
        return found

    @cached_property
    def units(self) -> tuple[list[float], list[float]]:
        """The means and standard deviations in the units of the concepts."""
        stream, k = Stream(*self.path, "units"), len(self.names)
        drawn = [(int(word) >> 11) * 2.0**-53 for word in stream.words(2 * k)]
        sds = [float(r["sd"]) * (0.85 + 0.3 * u) for r, u in zip(self.rows, drawn, strict=False)]
        means = [
            float(r["mean"]) + 0.5 * float(r["sd"]) * (u - 0.5)
            for r, u in zip(self.rows, drawn[k:], strict=True)
        ]
        return means, sds

    def correlation(self, a: int, b: int) -> float:
        """Return the correlation of two quantities."""
        return float(sum(map(mul, self.series[a], self.series[b])) / (self.periods - 1))

    def _product(self, a: int, b: int, lag: int) -> float:
        """Return the centred product of a's past and b's past (lag 0) or present (lag 1)."""
        key = (a, b, lag)
        if key not in self._cross:
            first = self.series[a][:-1]
            second = self.series[b][1:] if lag else self.series[b][:-1]
            centre = sum(first) * sum(second) / len(first)
            self._cross[key] = sum(map(mul, first, second)) - centre
        return self._cross[key]

    def regression(self, effect: int, others: Sequence[int]) -> tuple[list[Link2], float]:
        """Return coefficient and standard error of each regressor, the own past first, and R²."""
        own = [effect, *others]
        present = self.series[effect][1:]
        return solved(
            [[self._product(a, b, 0) for b in own] for a in own],
            [self._product(a, effect, 1) for a in own],
            sum(map(mul, present, present)) - sum(present) ** 2 / len(present),
            len(present),
        )

    def same_period(self, effect: int, others: Sequence[int]) -> tuple[list[Link2], float]:
        """Return the same for a regression on the values of others in the same period."""
        size = self.periods - 1
        return solved(
            [[size * self.correlation(a, b) for b in others] for a in others],
            [size * self.correlation(a, effect) for a in others],
            float(size),
            self.periods,
        )

    def leads(self, v: int, others: Sequence[int]) -> tuple[list[Link2], float]:
        """Return the same for a regression on the own past and on what follows in others."""
        own = [self.series[v][:-2], *(self.series[w][2:] for w in others)]
        now = self.series[v][1:-1]
        return solved(
            [[_centred(x, y) for y in own] for x in own],
            [_centred(x, now) for x in own],
            _centred(now, now),
            len(now),
        )

    # What sentences print.

    def expected(self, one: Heard, before: Heard | None) -> Iterator[tuple[str, str]]:
        """Yield the numbers that a sentence should print, by slot."""
        slot = {name: [self.place[v] for v in held] for name, held in one.slots.items()
                if name in ("a", "b", "c")}  # fmt: skip
        if "#beta" in one.numbers or (
            "#p" in one.numbers and "b" in slot and "#r" not in one.numbers
        ):
            effect = slot["b"][0]
            if one.role in ("this", "latter", "former"):
                named = before.named if before else ()
                cause = self.place[named[0 if one.role == "former" else -1]]
            else:
                cause = slot["a"][0]
            yield from self._coefficient(cause, effect)
        if "#r" in one.numbers:
            value = self.correlation(slot["a"][0], slot["b"][0])
            yield "#r", shown(value, 2)
            yield "#p", significance(math.atanh(value) * math.sqrt(self.periods - 3))
        if "#mean" in one.numbers or "#sd" in one.numbers:
            v = slot["a"][0]
            means, sds = self.units
            digits = int(self.rows[v]["decimals"])
            yield from (("#mean", shown(means[v], digits)), ("#sd", shown(sds[v], digits)))
        if "#r2" in one.numbers:
            yield "#T", str(self.periods)
        if one.role == "trial":
            v = slot["a"][0]
            yield "#n", str(_PAIRS)
            yield "#da", shown(self.units[1][v], int(self.rows[v]["decimals"]))
        if one.role == "response" and before is not None and before.role == "trial":
            yield from self._response(self.place[before.slots["a"][0]], slot["b"][0], before)
        yield from (("#T", str(self.periods)), ("#count", str(self.n)))

    def _coefficient(self, cause: int, effect: int) -> Iterator[tuple[str, str]]:
        others = self.causes.get(effect, [])
        if cause not in others:
            others = [*others, cause]
        value, error = self.regression(effect, others)[0][1 + others.index(cause)]
        yield from (("#beta", shown(value, 2)), ("#se", shown(error, 2)))
        yield "#p", significance(value / error)

    def _response(self, a: int, b: int, trial: Heard) -> Iterator[tuple[str, str]]:
        self.series  # noqa: B018 - sets the scale
        size = trial.signs["x"] * self.weights[a, b] * self.scale[a]
        unit = self.units[1][b] / self.scale[b]
        attempt = 0
        while True:
            stream = Stream(*self.path, "trial", a, b, attempt)
            changes = [size + math.sqrt(2.0) * e for e in disturbances(stream, _PAIRS)]
            mean = math.fsum(changes) / _PAIRS
            spread = math.sqrt(math.fsum((x - mean) ** 2 for x in changes) / (_PAIRS - 1))
            error = spread / math.sqrt(_PAIRS)
            if mean * size > 0 and abs(mean) > 3.0 * error:
                break
            attempt += 1
        digits = int(self.rows[b]["decimals"]) + 1
        low, high = (mean + step * 1.96 * error for step in (-1, 1))
        near, far = sorted((abs(low), abs(high)))
        values = {
            "#db": abs(mean),
            "#sdb": mean,
            "#lo": near,
            "#hi": far,
            "#slo": low,
            "#shi": high,
        }
        yield from ((name, shown(value * unit, digits)) for name, value in values.items())
