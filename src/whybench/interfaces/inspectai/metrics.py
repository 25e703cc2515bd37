"""An interval that never raises, whatever a run has left."""

from __future__ import annotations

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from whybench.interfaces.inspectai.record import CLUSTER
from whybench.stats import interval as intervals


@metric
def interval() -> Metric:
    """95 % interval clustered by latent world, flagged when it rests on fewer than ten clusters."""

    def compute(scores: list[SampleScore]) -> Value:
        clusters = [str((score.sample_metadata or {}).get(CLUSTER)) for score in scores]
        found = intervals.interval([score.score.as_float() for score in scores], clusters)
        bounds = {"low": found.low, "high": found.high}
        return bounds | ({"few_clusters": found.clusters} if found.few_clusters else {})

    return compute
