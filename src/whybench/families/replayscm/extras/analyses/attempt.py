"""One scored submission, and how submissions are grouped, averaged and paired by hidden SCM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from whybench.causal.canonical import thaw
from whybench.episode.instance import Instance
from whybench.episode.score import Score
from whybench.stats.interval import Interval, mean_interval, rate_interval

UNBOUNDED = frozenset({"parent_shd", "ast_size", "gold_ast_size", "bits"})
"""The metrics that are not shares from 0 to 1, though some samples may look like shares."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One scored submission of one system to one problem."""

    system: str
    pool: str
    """The suite, such as `ord_match`."""
    latent: str
    """The name of the hidden SCM, the same for all problems made from it."""
    values: Mapping[str, float | None] = field(hash=False)
    """Metric → value; None, NaN or absence means "does not apply", never zero."""
    labels: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Labels that are not numbers, such as the edits of an alternative SCM."""

    def value(self, metric: str) -> float | None:
        """Return a value, or None where the metric does not apply.

        >>> Attempt("s", "block", "m1", {"valid": True, "parent_f1": None}).value("parent_f1")
        """
        value = self.values.get(metric)
        if value is None or value != value:  # only NaN differs from itself
            return None
        return float(value)

    def holds(self, metric: str) -> bool:
        """Return whether a 0/1 metric is 1; a metric that does not apply does not hold."""
        return self.value(metric) == 1


def attempt_of(system: str, instance: Instance, score: Score, bits: float | None = None) -> Attempt:
    """Return a scored episode as an attempt; `bits` of its certificate is for `ambiguity`."""
    values = score.values.asdict() | {"bits": bits}
    return Attempt(system, instance.suite, instance.cluster, values, thaw(score.labels))


def rows(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[Attempt]]:
    """Group attempts by system and pool, in order of first appearance."""
    found: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in attempts:
        found.setdefault((attempt.system, attempt.pool), []).append(attempt)
    return found


def systems(grouped: Iterable[tuple[str, str]]) -> list[str]:
    """List the systems among the keys of `rows`, each once."""
    return list(dict.fromkeys(system for system, _ in grouped))


def pooled(attempts: Iterable[Attempt], name: str = "all systems") -> list[Attempt]:
    """Assign all attempts to one system, for the tables that do not distinguish systems.

    >>> pooled([Attempt("s", "block", "m1", {})])[0].system
    'all systems'
    """
    return [replace(attempt, system=name) for attempt in attempts]


def mean(attempts: Iterable[Attempt], metric: str) -> float | None:
    """Mean over the attempts that the metric applies to; None if there are none.

    >>> mean([Attempt("s", "block", m, {"valid": v}) for m, v in zip("abc", (1, 0, None))], "valid")
    0.5
    """
    values = [value for a in attempts if (value := a.value(metric)) is not None]
    return fmean(values) if values else None


def measured(attempts: Iterable[Attempt], metric: str, level: float = 0.95) -> Interval:
    """Mean of a metric with its interval; attempts at one hidden SCM form a cluster.

    >>> measured([Attempt("s", "block", m, {"parent_shd": 3}) for m in "ab"], "parent_shd").high
    3.0
    """
    listed = list(attempts)
    values = [a.value(metric) for a in listed]
    share = metric not in UNBOUNDED and all(
        0 <= value <= 1 for value in values if value is not None
    )
    method = rate_interval if share else mean_interval
    return method(values, (a.latent for a in listed), level)


def by_latent(attempts: Iterable[Attempt], metric: str) -> dict[str, float]:
    """Mean of a metric for each hidden SCM, over repeats; SCMs it never applies to are absent.

    >>> two = [Attempt("s", "block", "m1", {"valid": v}) for v in (1, 0)]
    >>> by_latent([*two, Attempt("s", "block", "m2", {"valid": None})], "valid")
    {'m1': 0.5}
    """
    found: dict[str, list[float]] = {}
    for attempt in attempts:
        if (value := attempt.value(metric)) is not None:
            found.setdefault(attempt.latent, []).append(value)
    return {latent: fmean(values) for latent, values in found.items()}
