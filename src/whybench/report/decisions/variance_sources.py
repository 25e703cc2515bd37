"""Find the variance for a plan: from two logs, one log, reference agents, or the worst case.

- Two logs of two systems give the variance of their paired difference.
- One log gives the variance of one system. The second system is assumed to vary as much.
- Without a log, a 0/1 score is assumed to have a rate of one half, where it varies most. For any
  other score, the reference agent that varies most is used.

The clusters come from the suite itself. Every assumption is a sentence in `Basis.assumed`. Because
a log is only a sample, `Basis.careful` gives upper bounds of the variances.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeVar

import numpy as np
import pandas as pd

from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.interfaces.solve import solve
from whybench.report.decisions.difference import scores_of
from whybench.stats.assurance import allowance, freedom_of, scaled
from whybench.stats.spread import (
    Spread,
    paired_spread,
    paired_spread_of,
    rate_spread,
    spread_of,
)

T = TypeVar("T")

ICC = 0.1
"""Assumed correlation of instances of one cluster, if it cannot be estimated."""

CAUTION = 0.0
"""Assumed correlation between two systems, if it cannot be estimated."""

UNSEEN = frozenset({"oracle"})
"""Agents that see the hidden system; their variance is not used."""


@dataclass(frozen=True, slots=True)
class Worlds:
    """Clusters of the instances of a suite."""

    instances: int
    worlds: int
    size_cv: float

    @property
    def mean_size(self) -> float:
        """Mean number of instances per cluster."""
        return self.instances / self.worlds

    @classmethod
    def of(cls, clusters: Sequence[Hashable]) -> Worlds:
        """Count instances by cluster."""
        sizes = np.array(list(Counter(clusters).values()), dtype=np.float64)
        return cls(len(clusters), len(sizes), float(sizes.std() / sizes.mean()))


@dataclass(frozen=True, slots=True)
class Basis:
    """Variance of one system, and of the paired difference of two."""

    one: Spread
    pair: Spread
    epochs_known: bool
    """Whether the logs show how a system varies over epochs."""
    assumed: tuple[str, ...]
    freedom_one: float = math.inf
    """Degrees of freedom of the variance of one system; infinite if it is assumed."""
    freedom_pair: float = math.inf

    def careful(self, assurance: float, rate: bool) -> tuple[Spread, Spread, tuple[str, ...]]:
        """Return upper confidence bounds of both variances at this probability.

        The bound of a 0/1 score is never larger than the variance assumed without a log.
        """
        made, said = [], []
        for spread, freedom, whole in (
            (self.one, self.freedom_one, 0.25),
            (self.pair, self.freedom_pair, 0.5),
        ):
            factor = allowance(freedom, assurance)
            there = spread.between + spread.within
            if rate and there > 0:
                factor = min(factor, max(1.0, whole / there))
            made.append(scaled(spread, factor))
            said.append(f"{100 * (factor - 1):.0f} %")
        if math.isinf(self.freedom_pair):
            return made[0], made[1], ()
        told = (
            f"The variance in logs is an estimate. So the sizes use a larger variance (two "
            f"systems: +{said[1]}, one system: +{said[0]}), which is large enough for "
            f"{100 * assurance:g} of 100 such logs."
        )
        return made[0], made[1], (told,)


def from_frames(
    frames: Sequence[pd.DataFrame],
    metric: str,
    worlds: Worlds,
    *,
    icc: float | None = None,
    correlation: float | None = None,
) -> Basis | None:
    """Estimate the variance from one frame or two; None if the scores do not vary."""
    assumed: list[str] = []
    clusters = {
        name: cluster
        for frame in frames
        for name, cluster in zip(frame["instance"], frame["cluster"], strict=True)
    }
    scores = [scores_of(frame, metric) for frame in frames]
    repeated = all(any(len(values) > 1 for values in score.values()) for score in scores)
    ones = [(spread_of(score, clusters), score) for score in scores]
    one, of = max(ones, key=lambda found: found[0].between + found[0].within)
    if one.between + one.within == 0:
        return None
    freedom = freedom_pair = _freedom(of, clusters)
    one, icc_said = _in_suite(one, worlds, icc)
    if len(frames) == 2:
        pair, pair_said = _in_suite(paired_spread_of(scores[0], scores[1], clusters), worlds, icc)
        shared = [name for name in scores[0] if name in scores[1]]
        gaps = {name: [fmean(scores[0][name]) - fmean(scores[1][name])] for name in shared}
        freedom_pair = _freedom(gaps, clusters)
        assumed.append(
            f"The variance of {metric} comes from two logs, paired on {len(shared)} shared "
            "instances. For one system, it comes from the log with the larger variance."
        )
        assumed += pair_said
        if correlation is not None:
            assumed.append("--correlation is ignored, because two logs show the correlation.")
    else:
        known = CAUTION if correlation is None else correlation
        pair = paired_spread(one, one, known)
        assumed.append(f"The variance of {metric} comes from one log of {len(of)} instances.")
        assumed += icc_said
        assumed.append(_second(known, correlation is not None))
    if not repeated:
        assumed.append(
            "The log has one epoch, so the effect of more epochs is unknown. The plan assumes none."
        )
    return Basis(one, pair, repeated, tuple(assumed), freedom, freedom_pair)


def from_agents(
    suite: Suite,
    instances: Sequence[Instance],
    worlds: Worlds,
    *,
    icc: float | None = None,
    correlation: float | None = None,
) -> Basis:
    """Return the assumed variance if there is no log."""
    family = suite.family
    (headline,) = (metric for metric in family.metrics if metric.name == family.headline)
    assumed: list[str] = []
    whole, agent = 0.25, ""
    if not headline.rate or (worlds.mean_size > 1 and icc is None):
        seen = _agents(suite, instances)
        alike = [spread.icc for spread in seen.values() if spread.between > 0]
        if not headline.rate:
            agent, most = max(seen.items(), key=lambda item: item[1].between, default=("", None))
            whole = most.between if most is not None and most.between > 0 else whole
        if icc is None and worlds.mean_size > 1:
            icc = max([ICC, *alike])
            assumed.append(
                f"The correlation of instances of one cluster is {icc:.2f}. This is the maximum "
                f"over the reference agents on {len(instances)} instances, but at least {ICC:g}."
            )
    if headline.rate:
        one = rate_spread(0.5)
        assumed.insert(
            0, f"Without a log, {family.headline} is 0.5, where its variance is largest."
        )
    else:
        one = Spread(whole)
        told = (
            f"the variance for the reference agent `{agent}` on {len(instances)} instances"
            if agent
            else "the largest variance of a score from 0 to 1"
        )
        assumed.insert(
            0, f"Without a log, {family.headline} has {told}: {whole:.3g}. A log is more precise."
        )
    one = replace(
        one,
        icc=icc if icc is not None and worlds.mean_size > 1 else 0.0,
        cluster_size=worlds.mean_size,
        size_cv=worlds.size_cv,
    )
    known = CAUTION if correlation is None else correlation
    assumed.append(_second(known, correlation is not None))
    assumed.append("The effect of more epochs is unknown. The plan assumes none.")
    return Basis(one, paired_spread(one, one, known), False, tuple(assumed))


def picked(instances: Sequence[Instance], worlds: int = 20, each: int = 4) -> list[Instance]:
    """Return a few instances of a few clusters, evenly spaced."""
    groups: dict[str, list[Instance]] = {}
    for instance in instances:
        groups.setdefault(instance.cluster, []).append(instance)
    return [one for group in spaced(list(groups.values()), worlds) for one in spaced(group, each)]


def spaced(items: Sequence[T], most: int) -> list[T]:
    """Return at most `most` items, evenly spaced."""
    count = min(most, len(items))
    return [items[at * len(items) // count] for at in range(count)]


def _freedom(scores: Mapping[str, Sequence[float]], clusters: Mapping[str, Hashable]) -> float:
    means = [fmean(values) for values in scores.values()]
    return freedom_of(means, [clusters[name] for name in scores])


def _agents(suite: Suite, instances: Sequence[Instance]) -> dict[str, Spread]:
    """Return the variance of the headline for every reference agent that can play here."""
    clusters = {instance.id: instance.cluster for instance in instances}
    found: dict[str, Spread] = {}
    for agent in suite.family.agents:
        if agent in UNSEEN:
            continue
        try:
            results = list(solve(suite, agent, instances))
            scores = {r.instance.id: [r.score.values.get(suite.family.headline)] for r in results}
            found[agent] = spread_of(scores, clusters)
        except (RuntimeError, ValueError):  # an extra is missing, or there is only one cluster
            continue
    return found


def _in_suite(spread: Spread, worlds: Worlds, icc: float | None) -> tuple[Spread, list[str]]:
    """Adapt a variance from a log to the clusters of the whole suite."""
    said: list[str] = []
    if icc is not None:
        said.append(f"The correlation of instances of one cluster is {icc:g}, as given.")
    elif worlds.mean_size > 1 and spread.cluster_size == 1:
        icc = ICC
        said.append(
            f"The correlation of instances of one cluster is assumed to be {ICC:g}, because the "
            "log has no two instances of one cluster."
        )
    elif worlds.mean_size > 1:
        said.append(f"The correlation of instances of one cluster is {spread.icc:.2f} in the log.")
    kept = spread.icc if icc is None else icc
    sizes = {"cluster_size": worlds.mean_size, "size_cv": worlds.size_cv}
    return replace(spread, icc=kept if worlds.mean_size > 1 else 0.0, **sizes), said


def _second(correlation: float, given: bool) -> str:
    if given:
        return f"The correlation of the two systems' scores is {correlation:g}, as given."
    return (
        "The second system has the same variance as the first, and the correlation of their "
        "scores is 0. Similar systems need fewer instances: give two logs or --correlation."
    )
