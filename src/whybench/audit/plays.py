"""Play the battery and the exact agent on unused seeds, and measure them on the same instances.

A guesser that learns is fitted on a suite of the training seed, never on an audited one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from whybench.audit.rule import Measured
from whybench.episode.episode import play
from whybench.episode.family import Family, Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.episode.instance import Instance
from whybench.interfaces.solve import metric_interval
from whybench.stats.paired import paired_bootstrap

EXACT = "exact"
SECOND = 1.0
"""Seconds of CPU per instance from which a guesser is slow."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many instances each agent plays, over all seeds."""

    quick: int = 1000
    """Of a quick guesser."""
    slow: int = 200
    """Of a guesser that takes more than a second per instance."""
    exact: int = 100
    """Of the exact agent."""
    certificates: int = 50
    """Certificates to check."""
    seconds: float = 120.0
    """Seconds of CPU after which an agent stops, whatever it has played."""


Row = tuple[str, str, Mapping[str, float | None]]
"""Seed and id of the instance, seed and cluster, and values by metric."""


def battery(family: Family[Any]) -> tuple[Guesser, ...]:
    """Return the battery that a family declares; without one, its agents with a ceiling."""
    found = family.capability("battery")
    if found is None:
        names = family.floor_ceiling
        found = [Guesser(name, family.agents[name], None, unlearned(name)) for name in names]
    twice = {one.name for one in found if [other.name for other in found].count(one.name) > 1}
    if twice or EXACT in {one.name for one in found}:
        raise ValueError(f"{family.name}: two guessers have the name {min(twice, default=EXACT)!r}")
    return tuple(found)


def exact_agent() -> Guesser:
    """Return the exact agent in the form of a guesser."""
    return Guesser(EXACT, "the exact agent", None, unlearned(EXACT))


def played(suites: Sequence[Suite], train: Suite, guesser: Guesser, sizes: Sizes) -> list[Row]:
    """Fit a guesser and let it play: many instances if it is quick, else fewer."""
    if train.seed in {suite.seed for suite in suites}:
        raise ValueError(f"seed {train.seed!r} is for training and cannot be audited")
    player = guesser.fit(train)
    most = sizes.exact if guesser.name == EXACT else sizes.quick
    found: list[Row] = []
    spent = 0.0
    for row, seconds in _rows(suites, player, most):
        found.append(row)
        spent += seconds
        slow = len(found) >= sizes.slow and spent > SECOND * len(found)
        if spent > sizes.seconds or (slow and guesser.name != EXACT):
            break
    return found


def _rows(suites: Sequence[Suite], player: Player, count: int) -> Iterator[tuple[Row, float]]:
    """Play rows of suites in turn; return each with its seconds of CPU.

    To build an instance is not the time of the agent.
    """
    for instances in zip(
        *(spread(suite, -(-count // len(suites))) for suite in suites), strict=True
    ):
        for suite, instance in zip(suites, instances, strict=True):
            family = suite.family
            began = time.process_time()
            trace = play(family.open(instance), player(instance))
            values = family.score(instance, trace).values.asdict()
            row = f"{suite.seed}/{instance.id}", f"{suite.seed}/{instance.cluster}", values
            yield row, time.process_time() - began


def spread(suite: Suite, count: int) -> Iterator[Instance]:
    """Return rows of the endless list that a suite begins, so that any first part is spread evenly.

    A suite may be sorted, by size for example, so its first rows would not represent it.
    """
    size = len(suite)
    step = next(n for n in range(round(0.618 * size), 2 * size + 2) if gcd(n, size) == 1)
    for number in range(count):
        block, place = divmod(number, size)
        yield suite.row(block * size + place * step % size)


def measured(
    family: Family[Any], guesser: Guesser, found: Sequence[Row], level: float, metric: str = ""
) -> Measured | None:
    """Return the mean of a metric with its interval; None if it applies to no instance."""
    name = metric or family.headline
    kind = next(one for one in family.metrics if one.name == name)
    values = [values.get(name) for _, _, values in found]
    if all(value is None for value in values):
        return None
    interval = metric_interval(kind, values, [cluster for _, cluster, _ in found], level=level)
    return Measured(
        guesser.name,
        guesser.experiments,
        interval.estimate,
        interval.low,
        interval.high,
        interval.n,
        guesser.counts,
        guesser.reason,
        metric,
    )


def gained(first: Sequence[Row], second: Sequence[Row], metric: str) -> float:
    """Return the mean difference on common instances; 0 without one.

    >>> gained([("a", "a", {"m": 1.0}), ("b", "b", {"m": 0.0})], [("a", "a", {"m": 0.5})], "m")
    0.5
    """
    other = {name: values.get(metric) for name, _, values in second}
    pairs = [(values.get(metric), other.get(name)) for name, _, values in first]
    more = [one - two for one, two in pairs if one is not None and two is not None]
    return sum(more) / max(1, len(more))


def difference(first: Sequence[Row], second: Sequence[Row], metric: str) -> tuple[float, float]:
    """Return the mean difference on common instances, and its lower bound."""
    one = {name: values.get(metric) for name, _, values in first}
    other = {name: values.get(metric) for name, _, values in second}
    clusters = {name: cluster for name, cluster, _ in [*first, *second]}
    found = paired_bootstrap(one, other, clusters=clusters, resamples=2000)
    return found.estimate, found.low
