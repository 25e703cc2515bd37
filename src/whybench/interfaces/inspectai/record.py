"""What a sample keeps of an episode: its actions, written once. Everything else is rebuilt."""

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
from whybench.episode.trace import Trace
from whybench.interfaces.session import Session

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState

INSTANCE = "instance"
"""Key of the coordinates in a sample's metadata: one JSON text, as Inspect walks all else."""
CLUSTER = "cluster"
"""Key of the opaque cluster id in a sample's metadata."""
GIVEN = "given"
"""Key of another run's experiments in a sample's metadata (evidence `yoked`)."""
EXCEEDED = "whybench:context_exceeded"
"""Key in a sample's store that says that the model's context was full."""
EPISODE = "whybench:episode"
"""Key of the record in a sample's store."""


@dataclass(slots=True)
class Live:
    """The episode that a sample is playing, for the scripted provider to look at."""

    family: Family[Any]
    instance: Instance
    episode: Episode
    talk: Conversation | None = None
    moves: Moves | None = None
    pending: Action | None = None
    calls: int = field(default=0)


LIVE: ContextVar[Live] = ContextVar("whybench_live")
"""Set by the solver in its own context, so that samples running at once never meet."""


def located(metadata: Mapping[str, Any]) -> tuple[Family[Any], Instance]:
    """Return the family and the instance of a sample, or say that they are not what was logged."""
    coordinates = json.loads(metadata[INSTANCE])
    family = families()[coordinates["family"]]
    return family, family.rebuilt(coordinates)


@contextmanager
def sample_session(state: TaskState) -> Iterator[Session]:
    """Open the episode of a sample for a solver, and leave its record for the task's scorer.

    What was done is recorded also if a limit of Inspect ends the block.
    """
    session = Session(located(state.metadata)[1])
    try:
        yield session
    finally:
        state.store.set(EPISODE, to_store(session.trace, crashed=False))


def to_store(trace: Trace, crashed: bool) -> str:
    """Return what a sample's store keeps, as one JSON text."""
    return canonical_json(
        {
            "evidence": trace.evidence,
            "given": trace.given,
            "actions": [action.to_json() for action in trace.actions],
            "outcome": trace.outcome,
            "crashed": crashed,
        }
    )


def crashed(stored: str) -> bool:
    """Tell whether the solver ended with an error of its own."""
    return bool(json.loads(stored)["crashed"])


def from_store(family: Family[Any], instance: Instance, stored: str) -> Trace:
    """Play a stored record again."""
    record = json.loads(stored)
    actions = [Action.from_json(action) for action in record["actions"]]
    trace: Trace = family.replay_episode(
        instance, actions, record["given"], record["evidence"]
    ).trace
    return trace
