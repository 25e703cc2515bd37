"""Run reference agents or recorded actions on a suite, and summarize the results."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from whybench.causal.canonical import Json
from whybench.episode.action import Action
from whybench.episode.certificate import Certificate, SuiteProof
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.prompts.conversation import Coding, Conversation
from whybench.episode.registry import families
from whybench.episode.score import Metric, Score
from whybench.episode.trace import Evidence, Trace
from whybench.stats.interval import Interval, mean_interval, rate_interval

MOST_TURNS = 10_000
"""Turns after which a dialogue is taken to be endless."""


@dataclass(frozen=True, slots=True)
class Result:
    """One scored episode.

    Examples:
        >>> import whybench as wb
        >>> result = next(wb.solve(wb.load_suite("causallink/core"), "exact"))
        >>> result.instance.index, result.score.values["accuracy"]
        (0, 1.0)

    """

    instance: Instance
    """The instance that was played."""
    trace: Trace
    """The record of the episode."""
    score: Score
    """Its score."""


def solve(
    suite: Suite,
    agent: str = "exact",
    instances: Iterable[Instance] | None = None,
    evidence: Evidence = "own",
    template: str | None = None,
) -> Iterator[Result]:
    """Let a reference agent play instances of a suite.

    Examples:
        >>> from whybench.episode.registry import load_suite
        >>> next(solve(load_suite("causallink/core"), "exact")).score.values["accuracy"]
        1.0

    Args:
        suite: The suite.
        agent: The name of a reference agent.
        instances: The instances to play. Default: all of the suite.
        evidence: Whose experiments the agent works from: `own` or `optimal`.
        template: A prompt template, or the path of your own file. The agent then replies to its
            prompts, as a model does. Default: the agent acts without prompts.

    Yields:
        One result per instance.

    """
    family = suite.family
    for instance in suite if instances is None else instances:
        episode = family.open(instance, evidence=evidence)
        moves = family.agent(agent, instance, episode.evidence_given)
        if template is None:
            play(episode, moves)
        else:
            in_words(episode, family.template_for(suite.profile, template), moves)
        yield Result(instance, episode.trace, family.score(instance, episode.trace))


def in_words(episode: Episode, template: str, moves: Moves) -> None:
    """Let an agent play by replies to prompts; by calls, if replies would be programs."""
    talk = families()[episode.instance.family].conversation(episode, template)
    if not isinstance(talk, Coding):
        converse(episode, talk, moves)
        return
    episode.instructions(template)
    for step in play(episode, moves).steps:
        episode.describe(step.observation, template)


def converse(episode: Episode, talk: Conversation, moves: Moves) -> None:
    """Let an agent play by replies to the turns of a dialogue."""
    try:
        action = next(moves)
        for _ in range(MOST_TURNS):
            if talk.turn() is None:
                return
            text, run = talk.say(action)
            talk.reply(text)
            if run and not episode.done:
                action = moves.send(episode.trace.steps[-1].observation)
    except StopIteration:
        return
    finally:
        moves.close()


def certify(instance: Instance) -> Certificate:
    """Show what can be shown about an instance.

    Examples:
        >>> import whybench as wb
        >>> wb.certify(wb.load_suite("causallink/core")[3]).solvable
        True

    Args:
        instance: The instance.

    Returns:
        The certificate.

    """
    return families()[instance.family].certify(instance)


def score(instance: Instance, trace: Trace) -> Score:
    """Run the actions of a trace on the rebuilt hidden system and score the result.

    Examples:
        >>> import whybench as wb
        >>> result = next(wb.solve(wb.load_suite("causallink/core"), "exact"))
        >>> wb.score(result.instance, result.trace) == result.score
        True

    Args:
        instance: The instance.
        trace: A trace of this instance. Only its actions are used.

    Returns:
        The score.

    """
    return families()[instance.family].score(instance, trace)


def read_predictions(suite: Suite, path: Path) -> dict[str, tuple[Action, ...]]:
    """Read a predictions file: one JSON object per line, with `id` and `actions` or `answer`."""
    predictions: dict[str, tuple[Action, ...]] = {}
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "actions" in row:
                actions = tuple(Action.from_json(item) for item in row["actions"])
            else:
                actions = suite.family.submission(row["answer"])
            name = row["id"]
            if not isinstance(name, str):
                raise TypeError("`id` must be a string")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"Line {number} of {path.name} cannot be read: {error!r}. Write "
                '{"id": …, "actions": […]} or {"id": …, "answer": …}.'
            ) from error
        if name in predictions:
            raise ValueError(f"Line {number} of {path.name} repeats {name}. Keep one line per id.")
        predictions[name] = actions
    return predictions


def score_predictions(
    suite: Suite, predictions: Mapping[str, Sequence[Action]], instances: Iterable[Instance]
) -> Iterator[Result]:
    """Score recorded actions. An instance without a prediction counts as unfinished."""
    family = suite.family
    for instance in instances:
        episode = family.open(instance)
        for action in predictions.get(instance.id, ()):
            episode.step(action)
        yield Result(instance, episode.trace, family.score(instance, episode.trace))


def metric_interval(
    metric: Metric,
    values: Sequence[float | None],
    clusters: Sequence[str],
    instances: Sequence[str] | None = None,
    level: float = 0.95,
) -> Interval:
    """Return a metric's mean and its clustered interval, limited to the metric's range."""
    if metric.rate:
        return rate_interval(values, clusters, level, instances=instances)
    return mean_interval(values, clusters, level, instances=instances, bounds=metric.range)


def summary(suite: Suite, agent: str, results: Sequence[Result]) -> dict[str, Json]:
    """Summarize a run: the mean of each metric over the episodes to which it applies."""
    clusters = [result.instance.cluster for result in results]
    found = {
        metric.name: metric_interval(
            metric, [result.score.values.get(metric.name) for result in results], clusters
        )
        for metric in suite.family.metrics
    }
    return {
        "suite": suite.path,
        "agent": agent,
        "profile": suite.profile,
        "version": suite.family.version,
        "seed": suite.seed,
        "parameters": suite.parameters.asdict(),
        "instances": len(results),
        "clusters": len(set(clusters)),
        "few_clusters": found[suite.family.headline].few_clusters,
        "outcomes": dict(sorted(Counter(result.score.outcome for result in results).items())),
        "metrics": {name: _number(i.estimate) for name, i in found.items()},
        "intervals": {name: [_number(i.low), _number(i.high)] for name, i in found.items()},
    }


def certified(
    suite: Suite, certificates: Sequence[tuple[Instance, Certificate]], whole: SuiteProof
) -> dict[str, Json]:
    """Summarize the certificates of instances and of the whole suite, with the failed claims."""
    failed = [
        {"id": instance.id, "why": why}
        for instance, certificate in certificates
        if (why := certificate.defects())
    ]
    failed += [{"id": what, "why": [why]} for what, why in whole.flaws]
    proofs = [certificate for _, certificate in certificates]
    figures: dict[str, Json] = {
        "status": dict(sorted(Counter(proof.status for proof in proofs).items())),
        "solvable": sum(proof.solvable is True for proof in proofs),
        "identified": sum(proof.identified is True for proof in proofs),
        "clusters": len({instance.cluster for instance, _ in certificates}),
    }
    for name in ("fewest", "minimax", "minimax_upper", "exact_steps", "bits", "best_score"):
        figures |= _figure(name, [getattr(proof, name) for proof in proofs])
    for name in dict.fromkeys(name for proof in proofs for name, _ in proof.facts):
        figures |= _figure(name, [proof.facts.get(name) for proof in proofs])
    figures |= whole.figures
    return {
        "suite": suite.path,
        "profile": suite.profile,
        "version": suite.family.version,
        "seed": suite.seed,
        "parameters": suite.parameters.asdict(),
        "instances": len(proofs),
        "failed": failed,
        "figures": figures,
    }


MOST_COUNTED = 20
"""Number of different values up to which a figure lists the count of each value."""


def _figure(name: str, values: Sequence[Json]) -> dict[str, Json]:
    """Return a figure's mean, minimum and maximum, and the counts of its values if they are few."""
    known = [float(value) for value in values if isinstance(value, bool | int | float)]
    if not known:
        return {}
    found: dict[str, Json] = {
        "n": len(known),
        "mean": sum(known) / len(known),
        "min": min(known),
        "max": max(known),
    }
    counts = Counter(value for value in values if value is not None)
    if len(counts) <= MOST_COUNTED:
        found["counts"] = {str(key): n for key, n in sorted(counts.items())}
    return {name: found}


def _number(value: float) -> float | None:
    """Return None for NaN, because JSON has no NaN."""
    return None if math.isnan(value) else value
