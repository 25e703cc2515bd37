"""The scorer: rebuilds the instance, plays the stored actions again, and scores what happens."""

from __future__ import annotations

import math

from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState

from whybench.episode.score import UNFINISHED
from whybench.interfaces.inspectai.metrics import interval
from whybench.interfaces.inspectai.record import EPISODE, INSTANCE, family_of, from_store


@scorer(metrics={"*": [mean(), interval()]})
def episode_score() -> Scorer:
    """Score an episode; a component that does not apply is NaN, which Inspect leaves unscored."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        family = family_of(state.metadata)
        instance = family.rebuilt(state.metadata[INSTANCE])
        record = state.store.get(EPISODE)
        if record is None or record["crashed"]:
            return Score.unscored(reason="scoring_failed", explanation="the solver crashed")
        found = family.score(instance, from_store(family, instance, record))
        outcome = _limit() or found.outcome if found.outcome == UNFINISHED else found.outcome
        values = found.values.asdict()
        shown = [metric.name for metric in family.metrics if not metric.detail]
        return Score(
            value={name: math.nan if values[name] is None else values[name] for name in shown},
            answer=outcome,
            metadata={"outcome": outcome, "labels": found.labels.asdict(), "values": values},
        )

    return score


def _limit() -> str | None:
    """Name the limit that ended this sample; its events are there when a log is re-scored too."""
    for event in reversed(transcript().events):
        if isinstance(event, SampleLimitEvent):
            return f"{event.type}_limit"
    return None
