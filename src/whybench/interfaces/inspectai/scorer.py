"""The scorer: it rebuilds the instance, runs the stored actions again, and scores the result."""

from __future__ import annotations

import math

from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from whybench.causal.canonical import thaw
from whybench.episode.score import CONTEXT_EXCEEDED, ERROR_MODES, UNFINISHED
from whybench.interfaces.inspectai.metrics import UNDERSTOOD, UNUSABLE, figures
from whybench.interfaces.inspectai.record import EPISODE, EXCEEDED, crashed, from_store, located


@scorer(metrics=[figures()])
def episode_score() -> Scorer:
    """Score an episode: components as the value, the outcome as the answer, labels as metadata.

    There are two components besides the family's own. `understood` is present if the family
    defines it. `unusable` means that the episode ended without an answer that could be scored. A
    component that does not apply is NaN, which Inspect does not score. Details are omitted,
    because the stored actions can reproduce them, and each value here adds cost to every sample.
    """

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        family, instance = located(state.metadata)
        stored = state.store.get(EPISODE)
        if stored is None or crashed(stored):
            return Score.unscored(reason="scoring_failed", explanation="the solver crashed")
        found = family.score(instance, from_store(family, instance, stored))
        outcome = found.outcome
        if outcome == UNFINISHED:
            outcome = CONTEXT_EXCEEDED if state.store.get(EXCEEDED) else _limit() or outcome
        values = found.values.asdict()
        if outcome in family.excluded:
            values = dict.fromkeys(values)
        shown = [metric.name for metric in family.metrics if metric.role != "detail"]
        value = {name: values[name] for name in shown}
        if family.understanding:
            value.setdefault(UNDERSTOOD, family.understood(values))
        value[UNUSABLE] = float(found.outcome in ERROR_MODES)
        return Score(
            value={name: math.nan if one is None else one for name, one in value.items()},
            answer=outcome,
            metadata=thaw(found.labels),
        )

    return score


def _limit() -> str | None:
    """Return the limit that ended this sample. Its event is also present in a re-scored log."""
    for event in reversed(transcript().events):
        if isinstance(event, SampleLimitEvent):
            return f"{event.type}_limit"
    return None
