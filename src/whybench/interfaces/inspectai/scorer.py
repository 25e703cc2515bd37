"""The scorer: it rebuilds the instance, runs the stored actions again, and scores the result."""

from __future__ import annotations

import logging
import math
from collections import Counter, defaultdict

from inspect_ai.event import SampleLimitEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from whybench.causal.canonical import thaw
from whybench.episode.episode import ANSWERED, TIMEOUT
from whybench.episode.score import (
    CONTEXT_EXCEEDED,
    ERROR_MODES,
    UNFINISHED,
    mode_of,
    unusable,
)
from whybench.episode.trace import Trace
from whybench.interfaces.inspectai.metrics import UNDERSTOOD, UNUSABLE, figures
from whybench.interfaces.inspectai.record import EPISODE, crashed, from_store, located, lost_kind

FIRST, MANY = 5, 3
"""A warning follows if so many of the first samples have a reply that could not be used."""

logger = logging.getLogger(__name__)


@scorer(metrics=[figures()])
def episode_score() -> Scorer:
    """Score an episode: components as the value, the outcome as the answer, labels as metadata.

    There are two components besides the family's own. `understood` is present if the family
    defines it. `unusable` means that the model's last reply could not be used. A component that
    does not apply is NaN, which Inspect does not score. Details are omitted, because the stored
    actions can reproduce them, and each value here adds cost to every sample. The explanation says
    why an episode has no answer.
    """
    finished: dict[str, list[str]] = defaultdict(list)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        family, instance = located(state.metadata)
        stored = state.store.get(EPISODE)
        if stored is None or crashed(stored):
            return Score.unscored(reason="scoring_failed", explanation="the solver crashed")
        trace = from_store(family, instance, stored)
        found, reply = family.score(instance, trace), lost_kind(state.store)
        outcome = _named(found.outcome, reply)
        _warn(finished[str(state.model)], outcome, family.name)
        values = found.values.asdict()
        if outcome in family.excluded:
            values = dict.fromkeys(values)
        shown = [metric.name for metric in family.metrics if metric.role != "detail"]
        value = {name: values[name] for name in shown}
        if family.understanding:
            value.setdefault(UNDERSTOOD, family.understood(values))
        value[UNUSABLE] = float(unusable(outcome))
        return Score(
            value={name: math.nan if one is None else one for name, one in value.items()},
            answer=outcome,
            explanation=None if outcome == ANSWERED else _explanation(outcome, reply, trace),
            metadata=thaw(found.labels),
        )

    return score


def _named(outcome: str, reply: str | None) -> str:
    """Return the outcome with the name of a reply that could not be used, or of a limit.

    `timeout` and the outcomes of single families stay as they are.
    """
    if outcome == UNFINISHED and reply != CONTEXT_EXCEEDED:
        return _limit() or reply or outcome
    return reply if reply and outcome in ERROR_MODES and outcome != TIMEOUT else outcome


def _explanation(outcome: str, reply: str | None, trace: Trace) -> str:
    """Return why an episode has no answer, the last error that the model was told, and advice."""
    mode = mode_of(outcome)
    said = [mode.reason, mode_of(reply).reason if reply else "", mode.advice]
    if trace.steps and trace.steps[-1].observation.is_error:
        said.append(f"Last error: {trace.steps[-1].observation.data.get('reason')}.")
    return " ".join(dict.fromkeys(one for one in said if one))


def _warn(finished: list[str], outcome: str, family: str) -> None:
    """Warn once if many of the first samples of a run have a reply that could not be used."""
    if len(finished) >= FIRST:
        return
    finished.append(outcome)
    bad = [one for one in finished if unusable(one)]
    if len(bad) == MANY and unusable(outcome):
        [(most, _)] = Counter(bad).most_common(1)
        logger.warning(
            "%s: %d of the first %d samples have no usable reply (%s). %s %s",
            family,
            MANY,
            len(finished),
            ", ".join(f"{name} {count}" for name, count in Counter(bad).items()),
            mode_of(most).reason,
            mode_of(most).advice,
        )


def _limit() -> str | None:
    """Return the limit that ended this sample. Its event is also present in a re-scored log."""
    for event in reversed(transcript().events):
        if isinstance(event, SampleLimitEvent):
            return f"{event.type}_limit"
    return None
