"""One run of one instance: a synchronous, deterministic state machine without I/O."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from typing import TypeAlias

from whybench.episode.action import MALFORMED, Action, ActionSpec, Note
from whybench.episode.cleaning import clean_action, clean_observation
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
    """One run of one instance: a deterministic state machine without I/O.

    The base class keeps the trace, the end of the episode and the limit of errors. A family
    implements `actions`, `instructions`, `describe` and `_carry_out`, and sets `outcome` to end the
    episode. A rejected action costs nothing. The last allowed error ends the episode.

    Examples:
        >>> import whybench as wb
        >>> instance = wb.load_suite("causallink/core")[3]
        >>> episode = wb.installed_families()["causallink"].open(instance)
        >>> episode.step(wb.Action.of("answer", answer="yes")).code, episode.done
        ('ok', True)

    Args:
        instance: The instance that is played.
        max_errors: The number of errors that ends the episode.

    """

    __slots__ = (
        "_actions",
        "_noted",
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
        """The instance that is played."""
        self.max_errors = max_errors
        """The number of errors that ends the episode."""
        self.errors = 0
        """The number of errors so far."""
        self.outcome: str | None = None
        """How the episode ended; None while it is open."""
        self.given = 0
        """The number of steps that were given as evidence."""
        self.evidence: Evidence = "own"
        """Whose experiments the agent works from."""
        self._actions: list[Action] = []
        self._observations: list[Observation] = []
        self._noted: tuple[Note, ...] = ()

    @property
    @abstractmethod
    def actions(self) -> tuple[ActionSpec, ...]:
        """The kinds of action that the episode accepts."""

    @abstractmethod
    def instructions(self, template: str) -> str:
        """Return the text that the agent receives before its first action.

        Args:
            template: The name of a prompt template.

        Returns:
            The instructions.

        """

    @abstractmethod
    def describe(self, observation: Observation, template: str) -> str:
        """Return an observation as text.

        Args:
            observation: The observation.
            template: The name of a prompt template.

        Returns:
            The text that the agent sees.

        """

    @abstractmethod
    def _carry_out(self, action: Action) -> Observation:
        """Apply an action to the hidden system and return the observation."""

    def give(self, actions: Sequence[Action], evidence: Evidence) -> None:
        """Run experiments for the agent. Afterwards the agent may only finish.

        Args:
            actions: The experiments.
            evidence: Where the experiments come from; not `own`.

        Raises:
            ValueError: An action is rejected or ends the episode.

        """
        for action in actions:
            if self.step(action).is_error or self.done:
                raise ValueError(f"{action.to_json()} is no experiment of {self.instance.id}")
        self.given = self.count
        self.evidence = evidence

    def note(self, notes: Sequence[Note]) -> None:
        """Keep what an interface changed in a reply. The next action of the trace names it.

        Args:
            notes: Names of changes, such as `nul`.

        """
        self._noted = (*self._noted, *notes)

    def step(self, action: Action) -> Observation:
        """Run one action. No action raises an exception, whatever an agent sends.

        Args:
            action: The action.

        Returns:
            The observation. After the end it has the code `over` and leaves no trace.

        """
        if self.outcome is not None:
            return Observation(OVER)
        action, self._noted = clean_action(action, self._noted), ()
        if action.name == MALFORMED:
            reason = str(action.args.get("reason", "it could not be read"))
            observation = Observation.refused(INVALID_FORMAT, reason)
        elif not self._is_left(action):
            reason = "the experiments are done: only the final action is left"
            observation = Observation.refused(INVALID_ACTION, reason)
        else:
            observation = self._carry_out(action)
        if observation.code != OK:
            observation = clean_observation(observation)
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

    def _is_left(self, action: Action) -> bool:
        """Tell whether the agent may still act so; after given experiments it may only finish."""
        return self.evidence == "own" or self._is_final(action)

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
        """The experiments that were given to the agent; None if it runs its own."""
        return None if self.evidence == "own" else self.trace.steps[: self.given]

    @property
    def trace(self) -> Trace:
        """The record so far."""
        steps = tuple(map(Step, self._actions, self._observations))
        return Trace(self.instance.id, steps, self.given, self.evidence, self.outcome)


def play(episode: Episode, moves: Moves) -> Trace:
    """Let an agent play an episode until the episode ends or the agent stops.

    Examples:
        >>> import whybench as wb
        >>> instance = wb.load_suite("causallink/core")[3]
        >>> family = wb.installed_families()["causallink"]
        >>> wb.play(family.open(instance), family.agent("exact", instance)).outcome
        'answered'

    Args:
        episode: The episode.
        moves: The agent, as a generator that yields actions and is sent observations.

    Returns:
        The record of the episode.

    """
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
