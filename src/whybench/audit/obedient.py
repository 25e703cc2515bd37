"""An agent without flaws that follows the prompt to the letter must reach the ceiling.

Where a family declares nothing, this is the exact agent in the family's first protocol and
template: its replies have the form that the prompt asks for, and pass through what reads replies. A
family whose prompt asks for more than its exact agent does declares its own check as `obedient` in
`[extras]`: a function of the suites that yields one sentence per discrepancy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from whybench.audit.plays import spread
from whybench.causal.canonical import thaw
from whybench.episode.action import parse_call
from whybench.episode.episode import Episode, Moves, play
from whybench.episode.family import Suite
from whybench.interfaces.solve import converse


def discrepancies(suites: Sequence[Suite], count: int) -> Iterator[str]:
    """Say where such an agent misses the ceiling, on some instances of each suite."""
    declared = suites[0].family.capability("obedient")
    if declared is not None:
        found: Iterable[str] = declared(suites)
        yield from found
        return
    for suite in suites:
        family = suite.family
        for instance in spread(suite, count):
            episode, moves = family.open(instance), family.agent("exact", instance)
            if family.protocols[0] == "tools":
                call_tools(episode, moves)
            else:
                told_in = family.template_for(suite.profile)
                converse(episode, family.conversation(episode, told_in), moves)
            told = family.score_episode(episode).values[family.headline]
            played = family.score(instance, family.exact_run(instance)).values[family.headline]
            if told != played:
                yield f"{instance.id}: exact scores {told} as the prompt asks, {played} directly"


def call_tools(episode: Episode, moves: Moves) -> None:
    """Let an agent play by calls of tools, with arguments that have passed through JSON."""

    def called() -> Moves:
        try:
            action = next(moves)
            while True:
                args = json.loads(json.dumps(thaw(action.args)))
                action = moves.send((yield parse_call(action.name, args)))
        except StopIteration:
            return
        finally:
            moves.close()

    play(episode, called())
