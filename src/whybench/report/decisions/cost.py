"""What a run will cost in tokens and money: from logs, or from a reference agent's episodes.

Without a log the exact agent's episodes are told as a model would hear them, and characters are
counted, four to a token, the whole talk anew at every turn, as models are billed. That leaves out
what a model adds: reasoning, detours, and the descriptions of tools.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from whybench.causal.canonical import canonical_json
from whybench.episode.episode import Episode, Moves
from whybench.episode.family import Family, Suite
from whybench.episode.instance import Instance
from whybench.episode.prompts.conversation import Coding

CHARACTERS = 4
"""Characters a token: the rule of thumb of the provider `whybench`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one episode of one system takes, on average, and how much that varies."""

    system: str
    episodes: int
    """Episodes that this rests on."""
    input_tokens: float
    input_sd: float
    output_tokens: float
    output_sd: float
    cost: float
    """Money for an episode as a log has it; nan if it does not."""
    source: str


@dataclass(frozen=True, slots=True)
class Bill:
    """What all episodes of a plan take."""

    episodes: int
    input_tokens: float
    output_tokens: float
    cost: float
    """nan if neither prices nor a log say."""


def usage_in(system: str, frame: pd.DataFrame, source: str) -> Usage | None:
    """Return what an episode took in a log; None if the log does not say."""
    known = frame.dropna(subset=["input_tokens", "output_tokens"])
    if known.empty:
        return None
    asked, said = (known[name].to_numpy(np.float64) for name in ("input_tokens", "output_tokens"))
    priced = known["cost"].dropna() if "cost" in known else pd.Series(dtype=float)
    cost = float(priced.mean()) if len(priced) else math.nan
    return _usage(system, asked, said, cost, source)


def usage_played(suite: Suite, instances: Iterable[Instance], agent: str, template: str) -> Usage:
    """Let a reference agent play, and count what a model would read and write in its place."""
    protocol = suite.family.protocols[0]
    counts = [_counted(suite.family, one, agent, protocol, template) for one in instances]
    source = (
        f"{len(counts)} episodes of the agent `{agent}`, {CHARACTERS} characters a token, "
        "without reasoning or detours: a model writes more"
    )
    asked, said = np.array(counts, dtype=np.float64).T
    return _usage(f"whybench/{agent}", asked, said, math.nan, source)


def bill(
    usages: Sequence[Usage],
    episodes: int,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Bill:
    """Return what so many episodes of each system take; prices are for a million tokens."""
    asked = episodes * math.fsum(usage.input_tokens for usage in usages)
    said = episodes * math.fsum(usage.output_tokens for usage in usages)
    if price_in is None and price_out is None:
        cost = episodes * math.fsum(usage.cost for usage in usages)
    else:
        cost = (asked * (price_in or 0.0) + said * (price_out or 0.0)) / 1e6
    return Bill(episodes * len(usages), asked, said, cost)


def _usage(system: str, asked: Any, said: Any, cost: float, source: str) -> Usage:
    return Usage(
        system,
        len(asked),
        float(asked.mean()),
        float(asked.std()),
        float(said.mean()),
        float(said.std()),
        cost,
        source,
    )


def _counted(
    family: Family[Any], instance: Instance, agent: str, protocol: str, template: str
) -> tuple[float, float]:
    """Return tokens read and written in one episode."""
    episode = family.open(instance)
    moves = family.agent(agent, instance)
    talk = family.conversation(episode, template)
    if protocol == "tools" or isinstance(talk, Coding):  # programs would need a sandbox
        asked, said = _by_tools(episode, moves, template)
    else:
        asked, said = _in_turns(episode, talk, moves)
    moves.close()
    return asked / CHARACTERS, said / CHARACTERS


def _by_tools(episode: Episode, moves: Moves, template: str) -> tuple[int, int]:
    context, asked, said = len(episode.instructions(template)), 0, 0
    try:
        action = next(moves)
        while not episode.done:
            call = len(canonical_json(action.to_json()))
            asked, said = asked + context, said + call
            observation = episode.step(action)
            context += call + len(episode.describe(observation, template))
            if not episode.done:
                action = moves.send(observation)
    except StopIteration:
        pass
    return asked, said


def _in_turns(episode: Episode, talk: Any, moves: Moves) -> tuple[int, int]:
    start = len(talk.system)
    context, asked, said = start, 0, 0
    action, carried_out = next(moves), False
    while (turn := talk.turn()) is not None:
        if carried_out:
            try:
                action = moves.send(episode.trace.steps[-1].observation)
            except StopIteration:
                break
        context = (start if turn.fresh else context) + len(turn.prompt)
        text, carried_out = talk.say(action)
        asked, said = asked + context, said + len(text)
        context += len(text)
        talk.reply(text)
    return asked, said
