"""The figures of a run: means with clustered intervals, from one metric that never raises."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from whybench.episode import score as declared
from whybench.episode.episode import ANSWERED
from whybench.episode.registry import families
from whybench.episode.score import CALL_IN_TEXT
from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE
from whybench.interfaces.solve import metric_interval
from whybench.stats.interval import FEW_CLUSTERS

UNDERSTOOD, UNUSABLE = "understood", "unusable"
"""Components of every score in a log, if the family defines what is understood."""


@metric
def figures() -> Metric:
    """Return the means of the headline, `understood` and `unusable`, with their 95 % intervals.

    `accuracy` comes with `accuracy_low` and `accuracy_high`. Intervals are clustered, and they are
    omitted if there is too little data. `clusters` counts the clusters. `few_clusters` is present
    only if they are too few to trust an interval. `call_in_text` is present only if a model wrote
    tool calls as text: it is their mean number per episode. Each outcome but `answered` that
    occurs is present with its share of the episodes; of several epochs, the first counts. The
    other components stay with the samples, where reports read them.
    """

    def compute(scores: list[SampleScore]) -> Value:
        scored = [score for score in scores if isinstance(score.score.value, Mapping)]
        if not scored:
            return {}
        clusters = [_metadata(score).get(CLUSTER) or str(score.sample_id) for score in scored]
        headline = _headline(_metadata(scored[0]), next(iter(scored[0].score.as_dict())))
        found: dict[str, float] = {}
        for what in (headline, declared.Metric(UNDERSTOOD, ""), declared.Metric(UNUSABLE, "")):
            if what.name not in scored[0].score.as_dict():
                continue
            values = [_number(score, what.name) for score in scored]
            bounds = metric_interval(what, values, clusters)
            found[what.name] = bounds.estimate
            if not math.isnan(bounds.low):
                found |= {f"{what.name}_low": bounds.low, f"{what.name}_high": bounds.high}
        written = sum((one.score.metadata or {}).get(CALL_IN_TEXT, 0) for one in scored)
        if written:
            found[CALL_IN_TEXT] = written / len(scored)
        ended = Counter(one.score.answer for one in scored if one.score.answer)
        del ended[ANSWERED]
        found |= {outcome: count / len(scored) for outcome, count in sorted(ended.items())}
        found["clusters"] = len(set(clusters))
        return found | ({"few_clusters": 1.0} if found["clusters"] < FEW_CLUSTERS else {})

    return compute


def _metadata(score: SampleScore) -> Mapping[str, Any]:
    return score.sample_metadata or {}


def _headline(metadata: Mapping[str, Any], first: str) -> declared.Metric:
    """Return the headline metric of the family. Without an instance, use the first component."""
    if INSTANCE not in metadata:
        return declared.Metric(first, "")
    family = families()[json.loads(metadata[INSTANCE])["family"]]
    return next(metric for metric in family.metrics if metric.name == family.headline)


def _number(score: SampleScore, name: str) -> float | None:
    value = score.score.as_dict().get(name)
    return float(value) if isinstance(value, int | float) else None
