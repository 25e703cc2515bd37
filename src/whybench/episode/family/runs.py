"""What a family does with episodes: start them, run them again, score them, and play its agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from whybench.causal.canonical import Record
from whybench.episode.action import IN_TEXT, Action
from whybench.episode.declaration import known
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.hooks import Hooks
from whybench.episode.instance import Instance
from whybench.episode.score import CALL_IN_TEXT, CLEANED, Score
from whybench.episode.trace import Evidence, Step, Trace

World = TypeVar("World")


class Runs(Hooks[World]):
    """Episodes and runs on the hidden systems of a family."""

    def params(self, instance: Instance) -> Any:
        """Return the parameters of an instance.

        Args:
            instance: The instance.

        Returns:
            The family's own parameter model.

        """
        return _params(self, instance.parameters)

    def world(self, instance: Instance) -> World:
        """Return the hidden system of an instance. The latest ones are cached.

        Args:
            instance: The instance.

        Returns:
            The hidden system.

        """
        found: World = _world(self, instance, instance.stream_seed)
        return found

    def open(
        self,
        instance: Instance,
        *,
        evidence: Evidence = "own",
        given: Sequence[Action] = (),
    ) -> Episode:
        """Start an episode.

        Args:
            instance: The instance.
            evidence: What the agent works from, one of those that the family declares. `optimal`
                and `yoked` evidence is given to the agent at the start.
            given: The experiments of another run, for `yoked` evidence.

        Returns:
            The episode.

        Raises:
            ValueError: The family has no such evidence, or `given` was passed with other evidence
                than `yoked`.

        """
        known("evidence", evidence, self.evidence, self.name)
        if given and evidence != "yoked":
            raise ValueError("`given` actions need evidence='yoked'")
        episode = self.open_world(instance, self.world(instance))
        if evidence == "optimal":
            given = self.experiments(self.exact_run(instance))
        if evidence != "own":
            episode.give(given, evidence)
        return episode

    def replay_episode(
        self, instance: Instance, actions: Sequence[Action], given: int, evidence: Evidence
    ) -> Any:
        """Return an episode in which actions were run.

        Args:
            instance: The instance.
            actions: The actions.
            given: The number of first actions that were given as evidence.
            evidence: Whose experiments these are.

        Returns:
            The episode.

        """
        episode = self.open_world(instance, self.world(instance))
        if evidence != "own":
            episode.give(actions[:given], evidence)
        for action in actions[given:]:
            episode.step(action)
        return episode

    def again(self, instance: Instance, trace: Trace) -> Any:
        """Return an episode in which the actions of a trace were run again.

        Args:
            instance: The instance.
            trace: A trace of this instance.

        Returns:
            The episode.

        Raises:
            ValueError: The trace belongs to another instance.

        """
        if trace.instance != instance.id:
            raise ValueError(f"this is a trace of {trace.instance}, not of {instance.id}")
        return self.replay_episode(instance, trace.actions, trace.given, trace.evidence)

    def replay(self, instance: Instance, trace: Trace) -> Trace:
        """Run the actions of a trace again, from the same evidence.

        Args:
            instance: The instance.
            trace: The trace.

        Returns:
            The new trace. It equals the old one if nothing was forged.

        """
        again: Trace = self.replay_episode(
            instance, trace.actions, trace.given, trace.evidence
        ).trace
        return again

    def score(self, instance: Instance, trace: Trace) -> Score:
        """Run the actions of a trace on the rebuilt hidden system and score the result.

        Args:
            instance: The instance.
            trace: A trace of this instance. Only its actions are used.

        Returns:
            The score.

        """
        return self.scored(self.again(instance, trace))

    def scored(self, episode: Any) -> Score:
        """Score an episode as it is, and count calls written as text and cleaned replies.

        Args:
            episode: An episode of this family.

        Returns:
            The score. The labels `call_in_text` and `cleaned` have the numbers, if there are any.

        """
        score = self.score_episode(episode)
        trace = episode.trace
        own = trace.actions[trace.given :]
        counts = {
            CALL_IN_TEXT: sum(action.form == IN_TEXT for action in own),
            CLEANED: sum(bool(action.cleaned) for action in own),
        }
        more = [(name, count) for name, count in counts.items() if count]
        return replace(score, labels=Record((*score.labels, *more))) if more else score

    def agent(self, name: str, instance: Instance, given: Sequence[Step] | None = None) -> Moves:
        """Start a reference agent.

        Args:
            name: The name of the agent.
            instance: The instance to play.
            given: Evidence after which the agent may only finish.

        Returns:
            The agent, as a generator that yields actions and is sent observations.

        Raises:
            ValueError: The family has no such agent. The message lists its agents.

        """
        if name not in self.agents:
            raise ValueError(f"{self.name} has no agent {name!r}: try {', '.join(self.agents)}")
        return self.moves(name, instance, given)

    def with_efficiency(self, episode: Any, score: Score) -> Score:
        """Add how the agent's experiments compare with those of the exact agent.

        This is the one definition for all families with experiments. `experiments` counts those
        that the agent chose. `regret` counts those beyond the exact agent's on the same instance;
        it is None unless the answer is `understood`, because a guess needs no experiment.
        `bits_share` is the share of the bits open at the start that they ruled out. The exact
        agent rules out all bits if the instance is identified.

        Args:
            episode: An episode of this family.
            score: Its score. The label `proof` says whether its answer is understood.

        Returns:
            The score with these metrics. The last two are None if evidence was given.

        """
        trace, instance = episode.trace, episode.instance
        names = [metric.name for metric in self.metrics]
        ran = len(self.experiments(trace)) - trace.given
        regret = bits = None
        if trace.evidence == "own":
            if score.labels["proof"] == "understood":
                regret = float(ran - self.exact_experiments(instance))
            if "bits_share" in names and (start := _bits_at_start(self, instance)):
                bits = 1 - self.bits_left(episode) / start
        added = {"experiments": float(ran), "regret": regret, "bits_share": bits}
        found = score.values.asdict() | added
        return replace(score, values=Record((name, found[name]) for name in names))

    def bits_at_start(self, instance: Instance) -> float:
        """Return the bits that are open before the first experiment, as a measure of difficulty.

        Args:
            instance: The instance.

        Returns:
            The bits.

        """
        return _bits_at_start(self, instance)

    def exact_experiments(self, instance: Instance) -> int:
        """Return how many experiments the exact agent makes. Override it if no run is needed.

        Args:
            instance: The instance.

        Returns:
            The number.

        """
        return len(self.experiments(self.exact_run(instance)))

    def exact_run(self, instance: Instance) -> Trace:
        """Return the trace of the exact agent. The latest ones are cached.

        Args:
            instance: The instance.

        Returns:
            The trace.

        """
        return _exact_run(self, instance)


@lru_cache(maxsize=1024)
def _params(family: Runs[Any], record: Record) -> Any:
    return family.parameter_model(**record.asdict())


@lru_cache(maxsize=2048)
def _world(family: Runs[Any], instance: Instance, seed: str) -> Any:
    """Find the world of an instance that may have its id already."""
    return _built(family, replace(instance, id="", cluster=""), seed)


@lru_cache(maxsize=2048)
def _built(family: Runs[Any], bare: Instance, seed: str) -> Any:  # noqa: ARG001 - part of the key
    return family.build(bare)


@lru_cache(maxsize=1024)
def _exact_run(family: Runs[Any], instance: Instance) -> Trace:
    return play(family.open(instance), family.agent("exact", instance))


@lru_cache(maxsize=1024)
def _bits_at_start(family: Runs[Any], instance: Instance) -> float:
    return family.bits_left(family.open(instance))
