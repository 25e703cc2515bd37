"""Count the calls and tokens of an episode, as a provider bills them.

A reference agent plays the episode in the real protocol. The whole conversation counts again at
every call. Definitions of tools are included. Tokens are counted by the rule of
`whybench.curriculum.columns`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.curriculum.columns import tokens_in
from whybench.episode.action import Action
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.episode.prompts.conversation import Coding
from whybench.release.data import Use

TOOLS = "tools"

ENDLESS = 400
"""Calls after which an agent that never stops is taken to have no limit."""


@dataclass(slots=True)
class Count:
    """Calls and tokens of one episode."""

    prompt: int
    calls: int = 0
    asked: int = 0
    said: int = 0
    observed: int = 0
    """Tokens that the episode added to the conversation after the first prompt."""


def mean_use(
    family: Family[Any],
    instances: Sequence[Instance],
    protocol: str,
    template: str,
    agent: str = "exact",
) -> Use:
    """Return the mean use of an episode of a reference agent."""
    counts = [counted(family, one, agent, protocol, template) for one in instances]
    most = [
        most_calls(family, one, protocol, template, count)
        for one, count in zip(instances, counts, strict=True)
    ]
    growth = [count.observed / max(1, count.calls - 1) for count in counts]
    return Use(
        calls=_mean(count.calls for count in counts),
        input=_mean(count.asked for count in counts),
        output=_mean(count.said for count in counts),
        prompt=_mean(count.prompt for count in counts),
        most_calls=max(most),
        growth=max(growth),
    )


def counted(
    family: Family[Any], instance: Instance, agent: str, protocol: str, template: str
) -> Count:
    """Let a reference agent play one episode, and count."""
    episode = family.open(instance)
    moves = family.agent(agent, instance)
    talk = family.conversation(episode, template)
    if protocol == TOOLS or isinstance(talk, Coding):  # programs would need a sandbox
        count = _by_tools(episode, moves, template)
    else:
        count = _in_turns(episode, talk, moves)
    moves.close()
    return count


def most_calls(
    family: Family[Any], instance: Instance, protocol: str, template: str, usual: Count
) -> float:
    """Return the calls of an agent that repeats an experiment until it is stopped, then errs.

    If a conversation needs several calls for an action, they count as often as in the usual
    episode. A family that limits turns gives the number itself.
    """
    episode, moves = family.open(instance), family.agent("exact", instance)
    limits = family.turn_limits(episode, template) if protocol == TOOLS else None
    if limits is not None:
        return (limits.turns + limits.grace) * (limits.calls + 1)
    first, steps = next(moves), 0
    moves.close()
    while not episode.done and steps < ENDLESS:
        steps += 1
        if episode.step(first).is_error:
            break
    spoilt = family.open(instance)
    errors = 0
    while not spoilt.done and errors < ENDLESS:
        errors += 1
        spoilt.step(Action.malformed("no call"))
    played = max(1, len(family.exact_run(instance).actions))
    return (steps + 1) * max(1.0, usual.calls / played) + errors


def _by_tools(episode: Episode, moves: Moves, template: str) -> Count:
    offered = sum(
        tokens_in(f"{spec.name} {spec.meaning} {json.dumps(spec.json_schema())}")
        for spec in episode.actions
    )
    context = offered + tokens_in(episode.instructions(template))
    count = Count(context)
    try:
        action = next(moves)
        while not episode.done:
            call = tokens_in(canonical_json(action.to_json()))
            count.calls, count.asked, count.said = (
                count.calls + 1,
                count.asked + context,
                count.said + call,
            )
            observation = episode.step(action)
            told = tokens_in(episode.describe(observation, template))
            context += call + told
            count.observed += told
            if not episode.done:
                action = moves.send(observation)
    except StopIteration:
        pass
    return count


def _in_turns(episode: Episode, talk: Any, moves: Moves) -> Count:
    start = context = tokens_in(talk.system)
    count: Count | None = None
    action, carried_out = next(moves), False
    while (turn := talk.turn()) is not None:
        if carried_out:
            try:
                action = moves.send(episode.trace.steps[-1].observation)
            except StopIteration:
                break
        told = tokens_in(turn.prompt)
        context = (start if turn.fresh else context) + told
        if count is None:
            count = Count(context)
        else:
            count.observed += told
        text, carried_out = talk.say(action)
        written = tokens_in(text)
        count.calls, count.asked, count.said = (
            count.calls + 1,
            count.asked + context,
            count.said + written,
        )
        context += written
        talk.reply(text)
    return count or Count(context)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
