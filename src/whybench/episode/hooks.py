"""What a family writes: the hooks that it implements, and those that it may override."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from whybench.causal.canonical import EMPTY, Json, Record
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate, SuiteProof
from whybench.episode.declaration import Declaration
from whybench.episode.episode import Episode, Moves
from whybench.episode.instance import Instance, Profile
from whybench.episode.prompts.turn_limits import TurnLimits
from whybench.episode.score import Score
from whybench.episode.trace import Step, Trace

if TYPE_CHECKING:
    from whybench.episode.family import Suite

World = TypeVar("World")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What identifies a hidden system in ids and statistics.

    Examples:
        >>> import whybench as wb
        >>> family = wb.installed_families()["causallink"]
        >>> world = family.world(wb.load_suite("causallink/core")[3])
        >>> isinstance(family.fingerprint(world), wb.Fingerprint)
        True

    """

    content: Json
    """All that defines the problem. It is hashed into the id of the instance."""
    cluster: Json
    """What dependent problems share. It is the unit of statistics, so it decides the width of every
    interval."""


class Hooks(Declaration, ABC, Generic[World]):
    """The methods of a family that its author writes."""

    clusters_are_systems: bool = True
    """Whether the score of one instance reveals the answer to others of its cluster in other
    suites. False if a cluster ignores names, or if its members differ in their answers."""

    @abstractmethod
    def build(self, instance: Instance) -> World:
        """Rebuild the hidden system from coordinates alone.

        Args:
            instance: The coordinates, without id and cluster.

        Returns:
            The hidden system. `world` caches it.

        """

    @abstractmethod
    def fingerprint(self, world: World) -> Fingerprint:
        """Return what identifies a hidden system.

        Args:
            world: The hidden system.

        Returns:
            Its content and its cluster.

        """

    @abstractmethod
    def open_world(self, instance: Instance, world: World) -> Episode:
        """Start an episode on a hidden system.

        Args:
            instance: The instance.
            world: Its hidden system, or one that looks the same.

        Returns:
            The episode.

        """

    @abstractmethod
    def certify(self, instance: Instance) -> Certificate:
        """Show what can be shown about an instance.

        Args:
            instance: The instance.

        Returns:
            The certificate.

        """

    @abstractmethod
    def score_episode(self, episode: Any) -> Score:
        """Score an episode as it is. This is a pure function.

        Args:
            episode: An episode of this family.

        Returns:
            The score.

        """

    @abstractmethod
    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start a declared reference agent. Only the agent `oracle` may read the hidden system.

        Args:
            name: The name of the agent.
            instance: The instance to play.
            given: Evidence after which the agent may only finish. None: it runs its own
                experiments.

        Returns:
            The agent, as a generator that yields actions and is sent observations.

        """

    # What a family may add.

    def size(self, suite: str, profile: Profile, params: Any) -> int:  # noqa: ARG002
        """Return the size of a suite.

        Args:
            suite: The name of the suite.
            profile: The rules.
            params: The parameters, as the family's model.

        Returns:
            The number of instances.

        Raises:
            ValueError: The parameters do not fit the suite.

        """
        return 100

    def system(self, world: World) -> Json:
        """Return the hidden system, ignoring names. Splits never share one.

        Args:
            world: The hidden system.

        Returns:
            A key. Equal systems have equal keys.

        """
        return self.fingerprint(world).cluster

    def problem(self, world: World) -> Json:
        """Return the whole problem, ignoring names: the system, what is shown and what is asked.

        Args:
            world: The hidden system.

        Returns:
            A key. Equal problems have equal keys.

        """
        return [self.system(world), self.fingerprint(world).content]

    def covariates(self, instance: Instance) -> Record:  # noqa: ARG002 - a family may have none
        """Return what a report may group instances by: size, structure, difficulty.

        Args:
            instance: The instance.

        Returns:
            Name → value. No agent sees it.

        """
        return EMPTY

    def discarded(self, instance: Instance) -> Record:  # noqa: ARG002 - most keep the first draw
        """Return the draws that were discarded before this hidden system was kept.

        Args:
            instance: The instance.

        Returns:
            Reason → count.

        """
        return EMPTY

    def look_alikes(self, instance: Instance) -> Iterable[Episode]:  # noqa: ARG002 - for tests of leaks
        """Open episodes on other hidden systems with the same instructions.

        Tests of leaks use them.

        Args:
            instance: The instance.

        Returns:
            The episodes.

        """
        return ()

    def bits_left(self, episode: Any) -> float:  # noqa: ARG002 - some have no experiments
        """Return what the evidence so far leaves open, in bits.

        It depends only on what the agent saw.

        Args:
            episode: An episode of this family.

        Returns:
            The bits; 0 if the answer is forced or the family has no experiments.

        """
        return 0.0

    def turn_limits(self, episode: Any, template: str) -> TurnLimits | None:  # noqa: ARG002 - some families lead
        """Return the limits for a model that calls tools.

        Args:
            episode: An episode of this family.
            template: The name of a prompt template.

        Returns:
            The limits; None if there are none.

        """
        return None

    def prove(self, suite: Suite) -> SuiteProof:  # noqa: ARG002 - most proofs are of instances
        """Show what can only be shown about a suite as a whole. This may take minutes.

        Args:
            suite: The suite.

        Returns:
            The figures, and the claims that fail.

        """
        return SuiteProof()

    def experiments(self, trace: Trace) -> tuple[Action, ...]:
        """Return the experiments of a trace: its accepted actions without the final one.

        Args:
            trace: The trace.

        Returns:
            The actions.

        """
        return tuple(
            step.action
            for step in trace.steps
            if not step.observation.is_error and step.action.name != self.final_action
        )

    def submission(self, answer: Json) -> tuple[Action, ...]:
        """Return the actions that submit an answer without an experiment.

        Args:
            answer: The answer, as JSON data or as text.

        Returns:
            The actions.

        """
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return (Action.of(self.final_action, answer=text),)
