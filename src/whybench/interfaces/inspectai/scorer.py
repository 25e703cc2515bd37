"""The scorer: it rebuilds the instance, runs the stored actions again, and scores the result."""

from __future__ import annotations

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from inspect_ai.event import SampleLimitEvent, ScoreEvent
from inspect_ai.log import transcript
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from whybench.causal.canonical import thaw
from whybench.episode.episode import ANSWERED, TIMEOUT, Episode
from whybench.episode.family import Family
from whybench.episode.score import (
    CONTEXT_EXCEEDED,
    ERROR_MODES,
    UNFINISHED,
    mode_of,
    unusable,
)
from whybench.episode.trace import Trace
from whybench.interfaces.inspectai.metrics import UNDERSTOOD, UNUSABLE, figures
from whybench.interfaces.inspectai.record import EPISODE, crashed, located, lost_kind, replayed

SCORER = "episode_score"
"""The name of the scorer in a log."""

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
        episode = replayed(family, instance, stored)
        found = score_of(family, episode, lost_kind(state.store), _limit())
        _warn(finished[str(state.model)], str(found.answer), family.name)
        if (before := _before(state)) is not None:
            for name, old, new in differences(before, found):
                logger.warning("%s: %s: stored %s, replayed %s", state.sample_id, name, old, new)
        return found

    return score


def score_of(family: Family[Any], episode: Episode, reply: str | None, limit: str | None) -> Score:
    """Return the score of an episode as a log stores it.

    Args:
        family: The family.
        episode: The episode, played again from its actions.
        reply: The kind of the last reply, if it could not be used.
        limit: The limit of Inspect that ended the sample, as an outcome.

    """
    found, trace = family.scored(episode), episode.trace
    outcome = _named(found.outcome, reply, limit)
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


def differences(stored: Score, replayed: Score) -> list[tuple[str, Any, Any]]:
    """Return name, stored value and replayed value of everything in which two scores differ."""
    new = {"outcome": replayed.answer, **replayed.as_dict(), **(replayed.metadata or {})}
    held = stored.value if isinstance(stored.value, Mapping) else {}
    old = {"outcome": stored.answer, **held, **(stored.metadata or {})}
    return [
        (name, old.get(name), new.get(name))
        for name in dict.fromkeys((*new, *old))
        if not _is_same(old.get(name), new.get(name))
    ]


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal. Inspect writes NaN as null in some places."""
    absent = [
        value is None or (isinstance(value, float) and math.isnan(value)) for value in (one, other)
    ]
    if any(absent):
        return all(absent)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def _before(state: TaskState) -> Score | None:
    """Return the score that this sample has in the log, if the log is scored again."""
    for event in reversed(transcript().events):
        value = event.score.value if isinstance(event, ScoreEvent) else None
        if isinstance(event, ScoreEvent) and isinstance(value, Mapping) and UNUSABLE in value:
            return event.score
    return (state.scores or {}).get(SCORER)


def _named(outcome: str, reply: str | None, limit: str | None) -> str:
    """Return the outcome with the name of a reply that could not be used, or of a limit.

    `timeout` and the outcomes of single families stay as they are.
    """
    if outcome == UNFINISHED and reply != CONTEXT_EXCEEDED:
        return limit or reply or outcome
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
