"""Build a scorer from a panel: each judge is asked about a sample's case, then combined."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from inspect_ai.model import Model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value
from inspect_ai.solver import TaskState

from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.score import RANGES, Kind
from whybench.episode.trace import Trace
from whybench.interfaces.inspectai.record import CLUSTER, EPISODE, crashed, from_store, located
from whybench.judge.panel import Judges, named_judges, seated
from whybench.judge.question import Asked
from whybench.stats.interval import FEW_CLUSTERS, mean_interval

Case = TypeVar("Case")
Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The combined result of the judges of a sample."""

    value: dict[str, float]
    answer: str
    metadata: dict[str, Any]


def judge_scorer(
    judges: Judges,
    source: Callable[[TaskState], Case | None],
    ask: Callable[[Model, Case], Awaitable[Asked[Reply]]],
    combine: Callable[[Case, list[Asked[Reply]]], Judgement],
    *,
    allow_self: bool,
    early: bool = False,
    nothing: str = "there is nothing to judge",
) -> Scorer:
    """Return a scorer; `panel` describes how judges are chosen and rejected.

    Args:
        judges: Models that judge: a list, or names separated by commas; default: the role `judge`.
        source: Finds the case of a sample; None if there is nothing to judge.
        ask: Asks one judge, one question after the other.
        combine: Combines the replies of all judges.
        allow_self: Let a model judge its own answers, to test the setup; labelled `self_judged`.
        early: Reject the model of the run as its own judge before any sample is played.
        nothing: Explanation for a sample without a case.

    """
    named = named_judges(judges, allow_self or not early)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        panel = seated(named, str(state.model), allow_self)
        case = source(state)
        if case is None:
            return Score.unscored(reason="scoring_failed", explanation=nothing)
        found = combine(case, [await ask(model, case) for model in panel.models])
        who = {"judges": panel.names, "self_judged": panel.self_judged}
        return Score(value=found.value, answer=found.answer, metadata=who | found.metadata)

    return score


def replayed(state: TaskState) -> tuple[Family[Any], Instance, Trace] | None:
    """Replay a sample's stored episode; None if there is none, or if its solver crashed."""
    family, instance = located(state.metadata)
    stored = state.store.get(EPISODE)
    if stored is None or crashed(stored):
        return None
    return family, instance, from_store(family, instance, stored)


def clustered_means(main: Mapping[str, Kind]) -> Metric:
    """Return a metric: the mean of every figure, with a clustered 95 % interval for `main`.

    It never raises.
    """

    def compute(scores: list[SampleScore]) -> Value:
        judged = [score for score in scores if isinstance(score.score.value, Mapping)]
        clusters = [(s.sample_metadata or {}).get(CLUSTER) or str(s.sample_id) for s in judged]
        found: dict[str, float] = {}
        for name in dict.fromkeys(name for s in judged for name in s.score.as_dict()):
            values = [_number(score.score.as_dict().get(name)) for score in judged]
            bounds = mean_interval(values, clusters, bounds=RANGES[main.get(name, "number")])
            found[name] = bounds.estimate
            if name in main:
                found |= {f"{name}_low": bounds.low, f"{name}_high": bounds.high}
        found["judged"] = len(judged)
        return found | ({"few_clusters": 1.0} if len(set(clusters)) < FEW_CLUSTERS else {})

    return compute


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
