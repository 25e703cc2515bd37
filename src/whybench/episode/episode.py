"""One run of one instance: a synchronous, deterministic state machine without I/O."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import TypeAlias

from whybench.episode.action import MALFORMED, Action, ActionSpec
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, OVER, Observation
from whybench.episode.trace import Evidence, Step, Trace

ANSWERED = "answered"
INVALID_ACTION = "invalid_action"
INVALID_FORMAT = "invalid_format"
INVALID_ANSWER = "invalid_answer"
TIMEOUT = "timeout"

Moves: TypeAlias = Generator[Action, Observation, None]
"""An agent at work: it yields actions and is sent observations."""


class Episode(ABC):
    """What every family's episode shares: the trace, the end, and patience with errors.

    A family implements `_carry_out`, `actions`, `instructions` and `describe`, and ends the episode
    by setting `outcome`. Errors cost nothing and are bounded: the last one allowed ends the episode
    in its mode.
    """

    __slots__ = (
        "_actions",
        "_observations",
        "errors",
        "evidence",
        "given",
        "instance",
        "max_errors",
        "outcome",
    )

    def __init__(self, instance: Instance, max_errors: int) -> None:
        self.instance = instance
        self.max_errors = max_errors
        self.errors = 0
        self.outcome: str | None = None
        self.given = 0
        self.evidence: Evidence = "own"
        self._actions: list[Action] = []
        self._observations: list[Observation] = []

    @property
    @abstractmethod
    def actions(self) -> tuple[ActionSpec, ...]:
        """The kinds of action that are understood."""

    @abstractmethod
    def instructions(self, template: str) -> str:
        """Return everything the agent is told before it acts, in the words of a template."""

    @abstractmethod
    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation in the words of a template."""

    @abstractmethod
    def _carry_out(self, action: Action) -> Observation:
        """Apply an action to the world."""

    def give(self, actions: Sequence[Action], evidence: Evidence) -> None:
        """Carry out experiments on the agent's behalf, after which it may only finish."""
        for action in actions:
            if self.step(action).is_error or self.done:
                raise ValueError(f"{action.to_json()} is no experiment of {self.instance.id}")
        self.given = self.count
        self.evidence = evidence

    def step(self, action: Action) -> Observation:
        """Carry out one action. Nothing an agent sends raises; after the end nothing counts."""
        if self.outcome is not None:
            return Observation(OVER)
        if action.name == MALFORMED:
            reason = str(action.args.get("reason", "it could not be read"))
            observation = Observation.refused(INVALID_FORMAT, reason)
        elif self.evidence != "own" and not self._is_final(action):
            reason = "the experiments are done: only the final action is left"
            observation = Observation.refused(INVALID_ACTION, reason)
        else:
            observation = self._carry_out(action)
        self._actions.append(action)
        self._observations.append(observation)
        if observation.code != OK:
            self.errors += 1
            if self.outcome is None and self._is_fatal(observation):
                self.outcome = observation.code
        return observation

    def _is_fatal(self, error: Observation) -> bool:  # noqa: ARG002 - families may look at it
        """Tell whether an error ends the episode."""
        return self.errors >= self.max_errors

    def _is_final(self, action: Action) -> bool:
        return any(spec.final and spec.name == action.name for spec in self.actions)

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.outcome is not None

    @property
    def count(self) -> int:
        """The number of steps so far."""
        return len(self._actions)

    @property
    def evidence_given(self) -> tuple[Step, ...] | None:
        """The experiments laid before the agent; None if it makes its own."""
        return None if self.evidence == "own" else self.trace.steps[: self.given]

    @property
    def trace(self) -> Trace:
        """The record so far."""
        steps = tuple(map(Step, self._actions, self._observations))
        return Trace(self.instance.id, steps, self.given, self.evidence, self.outcome)


def play(episode: Episode, moves: Moves) -> Trace:
    """Let an agent play an episode to its end, or until the agent gives up."""
    try:
        action = next(moves)
        while True:
            observation = episode.step(action)
            if episode.done:
                break
            action = moves.send(observation)
    except StopIteration:
        pass
    finally:
        moves.close()
    return episode.trace
