"""The record of an episode in a sample: its actions, written once. The rest is rebuilt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whybench.causal.canonical import canonical_json
from whybench.episode.action import Action
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.prompts.conversation import Conversation
from whybench.episode.registry import families
from whybench.episode.score import CONTEXT_EXCEEDED
from whybench.episode.trace import Trace
from whybench.interfaces.session import Session

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState
    from inspect_ai.util import Store

INSTANCE = "instance"
"""Key of the coordinates in a sample's metadata: one string, because Inspect walks nested data."""
CLUSTER = "cluster"
"""Key of the opaque cluster id in a sample's metadata."""
TEMPLATE = "template"
"""Key of the prompt template in a sample's metadata."""
GIVEN = "given"
"""Key of another run's experiments in a sample's metadata (evidence `yoked`)."""
REPLY = "whybench:reply"
"""Key in a sample's store of the kind of the model's last reply, if it could not be used."""
EXCEEDED = "whybench:context_exceeded"
"""Key in the store of older logs that marks that the model's context was full."""
EPISODE = "whybench:episode"
"""Key of the record in a sample's store."""


@dataclass(slots=True)
class Live:
    """The episode that a sample is playing, for the scripted provider."""

    family: Family[Any]
    instance: Instance
    episode: Episode
    talk: Conversation | None = None
    moves: Moves | None = None
    pending: Action | None = None
    calls: int = field(default=0)
    offered: int | None = None
    """Tokens of the definitions of tools, after the first call."""
    before: int = 0
    """The number of steps before the last reply of the model."""


LIVE: ContextVar[Live] = ContextVar("whybench_live")
"""Set by the solver in its own context, so that parallel samples stay separate."""


def located(metadata: Mapping[str, Any]) -> tuple[Family[Any], Instance]:
    """Return the family and the instance of a sample. Raise an error if they have changed."""
    coordinates = json.loads(metadata[INSTANCE])
    family = families()[coordinates["family"]]
    return family, family.rebuilt(coordinates)


@contextmanager
def sample_session(state: TaskState) -> Iterator[Session]:
    """Open the episode of an Inspect sample for a solver. The task's scorer reads the record.

    The actions are recorded even if a limit of Inspect ends the block.

    Examples:
        >>> import whybench as wb
        >>> async def solve(state, generate):
        ...     with wb.sample_session(state) as session:
        ...         session.say("answer yes")
        ...     return state

    Args:
        state: The state of the sample.

    Yields:
        The session.

    """
    session = Session(located(state.metadata)[1])
    try:
        yield session
    finally:
        state.store.set(EPISODE, to_store(session.trace, crashed=False))


def to_store(trace: Trace, crashed: bool) -> str:
    """Return the record for a sample's store, as one JSON text."""
    return canonical_json(
        {
            "evidence": trace.evidence,
            "given": trace.given,
            "actions": [action.to_json() for action in trace.actions],
            "outcome": trace.outcome,
            "crashed": crashed,
        }
    )


def lost_kind(store: Store | Mapping[str, Any]) -> str | None:
    """Return the kind of the last reply of a sample, if the episode could not use it."""
    exceeded = CONTEXT_EXCEEDED if store.get(EXCEEDED) else None
    return store.get(REPLY) or exceeded


def crashed(stored: str) -> bool:
    """Return whether the solver ended with its own error."""
    return bool(json.loads(stored)["crashed"])


def replayed(family: Family[Any], instance: Instance, stored: str) -> Episode:
    """Play a stored record again, and return the episode."""
    record = json.loads(stored)
    actions = [Action.from_json(action) for action in record["actions"]]
    episode: Episode = family.replay_episode(instance, actions, record["given"], record["evidence"])
    return episode


def from_store(family: Family[Any], instance: Instance, stored: str) -> Trace:
    """Play a stored record again, and return its trace."""
    return replayed(family, instance, stored).trace
