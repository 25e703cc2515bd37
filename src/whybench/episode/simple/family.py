"""A family of simple episodes, with an exact agent and certificates by enumeration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import product
from math import log2
from typing import Any, TypeVar

from whybench.causal.canonical import Json, Record
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate
from whybench.episode.episode import ANSWERED, Moves, play
from whybench.episode.family import Family
from whybench.episode.hooks import Fingerprint
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.score import UNFINISHED, Metric, Score
from whybench.episode.simple.episode import SimpleDialogue, SimpleEpisode
from whybench.episode.trace import Step, Trace

World = TypeVar("World")

LABELS = ("understood", "lucky", "premature", "contradicted")
"""How an answer relates to the evidence; see the metrics of the same names."""

MAX_ERRORS = 3
"""Errors after which an episode ends, unless the family has a parameter `max_errors`."""

LOOKAHEAD = 3
"""Most experiments that `exact` plans ahead, where no single one distinguishes any systems."""


class SimpleFamily(Family[World]):
    """A family in which an agent makes declared experiments and then gives one answer.

    It implements `parameter_model`, `episode`, `build` and `systems`. The rest follows by
    enumeration of `systems`: the exact agent, the certificate, whether an answer was forced or
    lucky, the bits that evidence leaves open, and the test for leaks. A family with noise, or with
    more than a few hundred systems, overrides `exact`, `certify` and `score_episode`.

    >>> [metric.name for metric in SimpleFamily.metrics][:3]
    ['accuracy', 'understood', 'lucky']
    """

    episode: type[SimpleEpisode[Any]]
    """The class of its episodes."""
    prompts = SimpleDialogue
    """The conversation of a simple episode: each reply is one JSON object that names an action."""
    headline = "accuracy"
    """The metric for which floor and ceiling are stated."""
    metrics = (
        Metric("accuracy", "the right answer was given"),
        Metric("understood", "right, and the evidence forced the answer"),
        Metric("lucky", "right, although the evidence left other answers open"),
        Metric("premature", "wrong, although the evidence left this answer open", role="side"),
        Metric("contradicted", "wrong, and the evidence ruled this answer out", role="side"),
        Metric("experiments", "experiments made", kind="amount"),
        Metric("regret", "understood answers: experiments beyond exact's", kind="number"),
        Metric("bits_share", "share of the open bits that experiments ruled out", kind="share"),
    )
    """What `score_episode` returns."""
    understanding: Mapping[str, Any] = {
        "success": "accuracy",
        "lucky": "lucky",
        "meaning": "right although the evidence left another answer open",
    }
    """What makes a success lucky."""
    hypotheses: str
    """The class of systems that an agent must reckon with, in words; stands in `family.toml`."""

    @abstractmethod
    def systems(self, instance: Instance) -> Sequence[World]:
        """List the systems that an agent cannot distinguish before its first experiment.

        Args:
            instance: The instance.

        Returns:
            All of them, the system of the instance included.

        """

    def open_world(self, instance: Instance, world: World) -> SimpleEpisode[Any]:
        """Start an episode on a system.

        Args:
            instance: The instance.
            world: The system.

        Returns:
            The episode.

        """
        max_errors = getattr(self.params(instance), "max_errors", MAX_ERRORS)
        return self.episode(instance, world, max_errors)

    def look_alikes(self, instance: Instance) -> Iterator[SimpleEpisode[Any]]:
        """Open the systems that look the same; their prompts must be equal.

        Args:
            instance: The instance.

        Returns:
            An episode for each of `systems`.

        """
        return (self.open_world(instance, world) for world in self.systems(instance))

    def moves(self, name: str, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Start `exact`, or name the first legal answer, any legal answer, or the right one.

        Args:
            name: `exact`, `null`, `random` or `oracle`; override this method to add agents.
            instance: The instance.
            given: Evidence laid before the agent, after which it may only answer.

        Returns:
            The agent, a generator that yields actions and is sent observations.

        """
        if name == "exact":
            return self.exact(instance, given)
        episode = self.open_world(instance, self.world(instance))
        legal = episode.choices("answer") or ("",)
        random = Stream("agent", name, instance.id).choice(legal)
        answers = {"null": legal[0], "random": random, "oracle": episode.right}
        return self._answer(answers[name])

    def _answer(self, answer: str) -> Moves:
        yield Action.of(self.final_action, answer=answer)

    def fingerprint(self, world: World) -> Fingerprint:
        """Name a system, a dataclass, by all its fields; independent draws are separate clusters.

        Override this if systems of different instances share a draw: `cluster` is what they share.

        Args:
            world: The system.

        Returns:
            Its content and its cluster.

        """
        content: Json = asdict(world)  # type: ignore[call-overload]
        return Fingerprint(content, cluster=content)

    def score_episode(self, episode: SimpleEpisode[Any]) -> Score:
        """Score the answer, whether the evidence bears it out, and the experiments.

        Args:
            episode: The episode as it stands.

        Returns:
            The score.

        """
        outcome, right = episode.outcome or UNFINISHED, episode.answer == episode.right
        label = None
        if outcome == ANSWERED:
            left = self.answers_left(episode.instance, self._seen(episode.trace))
            if right:
                label = "understood" if len(left) == 1 else "lucky"
            else:
                label = "premature" if episode.answer in left else "contradicted"
        labels = {name: float(name == label) for name in LABELS}
        values = Record.of(accuracy=float(right), **labels)
        return self.with_efficiency(episode, Score(outcome, values, Record.of(proof=label)))

    # Enumeration.

    def consistent(self, instance: Instance, seen: Sequence[Step]) -> list[SimpleEpisode[Any]]:
        """Find the systems on which the same actions show what was seen.

        Args:
            instance: The instance.
            seen: Experiments with their observations.

        Returns:
            An episode on each of them, in which the experiments were made.

        """
        found = self.look_alikes(instance)
        return [e for e in found if all(e.step(s.action) == s.observation for s in seen)]

    def answers_left(self, instance: Instance, seen: Sequence[Step]) -> list[str]:
        """Find the answers that the evidence leaves open; a single one is forced by it.

        Args:
            instance: The instance.
            seen: Experiments with their observations.

        Returns:
            The answers, sorted.

        """
        return sorted({episode.right for episode in self.consistent(instance, seen)})

    def exact(self, instance: Instance, given: Sequence[Step] | None) -> Moves:
        """Make the experiment that leaves fewest answers open at worst, until one is left.

        Where no single experiment tells anything, it plans up to three of them ahead.

        It may use only what an agent is shown.

        Args:
            instance: The instance.
            given: Evidence laid before the agent, after which it may only answer.

        Yields:
            Actions; it is sent their observations.

        """
        seen = list(given or ())
        while given is None and (best := _best(self, instance, tuple(seen))) is not None:
            seen.append(Step(best[0], (yield best[0])))
        yield from self._answer(self.answers_left(instance, seen)[0])

    def certify(self, instance: Instance) -> Certificate:
        """Prove an instance by enumeration of all systems and all experiments.

        Args:
            instance: The instance.

        Returns:
            The certificate.

        """
        run = self.exact_run(instance)
        left = self.answers_left(instance, self._seen(run))
        return Certificate(
            instance.id,
            self.hypotheses,
            status="proven",
            solvable=self.score(instance, run).values[self.headline] == 1,
            identified=len(left) == 1,
            best_score=1.0 if len(left) == 1 else None,
            minimax_upper=self._worst(instance, ()),
            exact_steps=len(self.experiments(run)),
            bits=log2(len(left)),
            witness=tuple(left[:2]) if len(left) > 1 else None,
        )

    def check(self, instance: Instance, certificate: Certificate) -> list[str]:
        """Check a certificate by playing `exact` on every system, without enumeration of evidence.

        The agent does the same on systems that look the same, so the systems with the trace of the
        instance are those that its evidence leaves open.

        Args:
            instance: The instance.
            certificate: Its certificate.

        Returns:
            One sentence per wrong claim; empty if none was found.

        """
        own, answers, longest = self.exact_run(instance).steps[:-1], set(), 0
        for episode in self.look_alikes(instance):
            steps = play(episode, self.agent("exact", instance)).steps[:-1]
            longest = max(longest, len(steps))
            if steps == own:
                answers.add(episode.right)
        right = self.score(instance, self.exact_run(instance)).values[self.headline] == 1
        claims = {
            "instance": instance.id,
            "status": "proven",
            "solvable": right,
            "identified": len(answers) == 1,
            "best_score": 1.0 if len(answers) == 1 else None,
            "exact_steps": len(own),
            "bits": log2(len(answers)),
        }
        stored = certificate.to_json()
        found = [
            f"{name}: {stored[name]!r} is stored, {value!r} was found"
            for name, value in claims.items()
            if stored[name] != value
        ]
        if certificate.minimax_upper is None or certificate.minimax_upper < longest:
            found.append(f"minimax_upper: {certificate.minimax_upper} is stored, {longest} needed")
        return found

    def bits_left(self, episode: SimpleEpisode[Any]) -> float:
        """Return the binary logarithm of how many answers the evidence leaves open.

        Args:
            episode: The episode as it stands.

        Returns:
            The bits; 0 if the evidence forces the answer.

        """
        return log2(len(self.answers_left(episode.instance, self._seen(episode.trace))))

    def _seen(self, trace: Trace) -> list[Step]:
        """Return the experiments of a trace with what they showed."""
        steps = [step for step in trace.steps if not step.observation.is_error]
        return [step for step in steps if step.action.name != self.final_action]

    def _worst(self, instance: Instance, seen: tuple[Step, ...]) -> int:
        """Return how many experiments `exact` needs at worst, on any system that fits."""
        best = _best(self, instance, seen)
        if best is None:
            return 0
        action, shown = best
        return 1 + max(self._worst(instance, (*seen, Step(action, one))) for one in shown)


@lru_cache(maxsize=4096)
def _best(
    family: SimpleFamily[Any], instance: Instance, seen: tuple[Step, ...]
) -> tuple[Action, list[Observation]] | None:
    """Return the best experiment and all it can show; None if nothing more can be learnt.

    It is the first of the shortest sequence that divides the systems which fit.
    """
    fitting = family.consistent(instance, seen)
    if len({episode.right for episode in fitting}) == 1:
        return None
    for length in range(1, LOOKAHEAD + 1):
        best, least = None, (len(fitting), len(fitting))
        for actions in product(fitting[0].experiments(), repeat=length):
            groups: dict[tuple[Observation, ...], list[str]] = {}
            for episode in fitting:
                again = family.open_world(instance, episode.world)
                for step in seen:
                    again.step(step.action)
                shown = tuple(again.step(action) for action in actions)
                groups.setdefault(shown, []).append(episode.right)
            legal = not any(one.is_error for shown in groups for one in shown)
            most = max((len({*answers}), len(answers)) for answers in groups.values())
            if legal and len(groups) > 1 and most < least:
                best, least = (actions[0], list({shown[0]: 0 for shown in groups})), most
        if best is not None:
            return best
    return None
