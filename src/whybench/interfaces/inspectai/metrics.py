"""The figures of a run: means with clustered intervals, by one metric that never raises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from whybench.episode import score as declared
from whybench.episode.family import families
from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE
from whybench.interfaces.solve import metric_interval
from whybench.stats.interval import FEW_CLUSTERS


@metric
def figures() -> Metric:
    """Mean of every component, and 95 % interval of the main ones, clustered by latent world.

    `accuracy` stands beside `accuracy_low` and `accuracy_high`; `clusters` counts latent worlds,
    and `few_clusters` is there only when they are too few to trust an interval. One metric for all
    components keeps names plain and spares Inspect a copy of every score for each component.
    """

    def compute(scores: list[SampleScore]) -> Value:
        scored = [score for score in scores if isinstance(score.score.value, Mapping)]
        if not scored:
            return {}
        clusters = [_metadata(score).get(CLUSTER) or str(score.sample_id) for score in scored]
        known = _metrics(_metadata(scored[0]))
        found: dict[str, float] = {}
        for name in scored[0].score.as_dict():
            values = [_number(score, name) for score in scored]
            what = known.get(name, declared.Metric(name, ""))
            bounds = metric_interval(what, values, clusters)
            found[name] = bounds.estimate
            if what.role == "main":
                found |= {f"{name}_low": bounds.low, f"{name}_high": bounds.high}
        found["clusters"] = len(set(clusters))
        return found | ({"few_clusters": 1.0} if found["clusters"] < FEW_CLUSTERS else {})

    return compute


def _metadata(score: SampleScore) -> Mapping[str, Any]:
    return score.sample_metadata or {}


def _metrics(metadata: Mapping[str, Any]) -> dict[str, declared.Metric]:
    if INSTANCE not in metadata:
        return {}
    family = families()[json.loads(metadata[INSTANCE])["family"]]
    return {metric.name: metric for metric in family.metrics}


def _number(score: SampleScore, name: str) -> float | None:
    value = score.score.as_dict().get(name)
    return float(value) if isinstance(value, int | float) else None
