"""Measure the effect of the explicit check: CausaLab with and without `verify`, in pairs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Value, metric

from whybench.interfaces.inspectai.record import CLUSTER, INSTANCE
from whybench.stats.paired import paired_bootstrap

COMPARED = ("accuracy", "edge_f1", "interventions")
"""The metrics whose difference is reported; they apply to every episode."""


@dataclass(slots=True)
class Pair:
    """The scores of one instance, with and without the check."""

    cluster: str
    arms: dict[bool, Mapping[str, Any]] = field(default_factory=dict)


@metric
def verify_gain() -> Metric:
    """Mean of `verify` on minus `verify` off, with its 95 % interval and p-value.

    `accuracy_verify_gain` has bounds (`…_low`, `…_high`) and a p-value (`…_p`). The means of the
    two arms are `accuracy_verify_on` and `accuracy_verify_off`. Only complete pairs count. Pairs of
    the same cluster (the regimes of a scaling suite) are averaged first.
    """

    def compute(scores: list[SampleScore]) -> Value:
        pairs = whole_pairs(scores)
        found: dict[str, float] = {"verify_pairs": float(len(pairs))}
        for name in COMPARED if pairs else ():
            on, off = (by_cluster(pairs, name, verify) for verify in (True, False))
            gain = paired_bootstrap(on, off)
            found |= {
                f"{name}_verify_on": fmean(on.values()),
                f"{name}_verify_off": fmean(off.values()),
                f"{name}_verify_gain": gain.estimate,
                f"{name}_verify_gain_low": gain.low,
                f"{name}_verify_gain_high": gain.high,
                f"{name}_verify_gain_p": gain.p_value,
            }
            if gain.few_pairs:
                found["few_pairs"] = 1.0
        return found

    return compute


def whole_pairs(scores: Sequence[SampleScore]) -> list[Pair]:
    """Return the instances that were scored in both arms."""
    pairs: dict[str, Pair] = {}
    for score in scores:
        metadata = score.sample_metadata or {}
        if INSTANCE not in metadata or not isinstance(score.score.value, Mapping):
            continue
        at = json.loads(metadata[INSTANCE])
        suite = [at[name] for name in ("suite", "profile", "seed")]
        place = json.dumps([*suite, at.get("block", 0), at["index"]])
        pair = pairs.setdefault(place, Pair(metadata[CLUSTER]))
        pair.arms[at["parameters"].get("verify", False)] = score.score.value
    return [pair for pair in pairs.values() if len(pair.arms) == 2]


def by_cluster(pairs: Sequence[Pair], name: str, verify: bool) -> dict[str, float]:
    """Return one arm's mean for each cluster."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        values.setdefault(pair.cluster, []).append(pair.arms[verify][name])
    return {cluster: fmean(found) for cluster, found in values.items()}
