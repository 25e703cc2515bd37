"""An annotated episode: what was seen, what it leaves open, and how the answer compares."""

from __future__ import annotations

from typing import Any

from whybench.causal.canonical import EMPTY, Record
from whybench.episode.action import MALFORMED, Action
from whybench.episode.annotated import (
    AnnotatedEpisode,
    Arrow,
    Moment,
    arrows,
    in_words,
    shortened,
)
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.observation import Observation
from whybench.episode.trace import Trace
from whybench.families.prism.prompts.surface import Surface, surface_of
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.world.world import World

VERDICTS = {
    "understood": "right, and justified",
    "lucky": "right, but not justified",
    "premature": "wrong: a claim about an open question",
    "contradicted": "wrong: the evidence forces another answer",
}


def annotated(family: Family[Any], instance: Instance, trace: Trace) -> AnnotatedEpisode:
    """Annotate a trace in the words of the table, beside the hidden system."""
    episode: PrismEpisode = family.replay_episode(
        instance, trace.actions[: trace.given], trace.given, trace.evidence
    )
    world, plain = episode.world, surface_of(instance, episode.world.n, "table")
    moments = [
        _moment(episode, plain, step.action, step.observation, given=True)
        for step in trace.steps[: trace.given]
    ]
    moments += [
        _moment(episode, plain, action, episode.step(action), given=False)
        for action in trace.actions[trace.given :]
    ]
    told = f"The right answer is {world.answer}. The probability of yes is {world.posterior}."
    names = (*plain.names, *(["hidden"] if world.hidden_inputs else []))
    return AnnotatedEpisode(
        verdict=_verdict(family, episode),
        moments=tuple(moments),
        nodes=names,
        truth=_truth(world, names),
        belief="shown by the evidence",
        notes=(plain.question(world), told),
    )


def _truth(world: World, names: tuple[str, ...]) -> tuple[Arrow, ...]:
    pairs = ((u, v) for v, rule in enumerate(world.truth, world.roots) for u in rule.arguments)
    return arrows(names, pairs)


def _moment(
    episode: PrismEpisode, plain: Surface, action: Action, seen: Observation, *, given: bool
) -> Moment:
    if seen.is_error:
        did = "wrote a reply that could not be read"
        if action.name != MALFORMED:
            did = f"tried: {shortened(in_words(action))}"
        reason = shortened(seen.data.get("reason", "the episode had ended"))
        return Moment(did, f"rejected: {reason}", error=True, given=given)
    if action.name == "answer":
        answer, right = action.args["answer"].strip().casefold(), episode.world.answer
        return Moment(f"answered {answer}", "right" if answer == right else f"wrong: {right}")
    number = seen.data.get("trial")
    marks: Record = EMPTY
    saw = "the record is open" if number is None else plain.trial(number, episode.seen[number - 1])
    if number is not None:
        trial = episode.seen[number - 1]
        held = dict(trial.held)
        marks = Record(
            (plain.names[v], f"{x}{' held' if v in held else ''}")
            for v, x in enumerate(trial.values)
        )
    did = {"next": "read the next trial", "try": "ran a trial"}.get(action.name, "began to read")
    return Moment(did, saw, given=given, marks=marks)


def _verdict(family: Family[Any], episode: PrismEpisode) -> str:
    score = family.score_episode(episode)
    said, gold = score.labels["answer"], episode.world.answer
    if said is None:
        return f"No answer: {score.outcome}. The right answer is {gold}."
    words = VERDICTS.get(score.labels["proof"] or "", "right")
    return f"Answered {said}: {words}. The right answer is {gold}."
