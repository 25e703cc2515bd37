"""A perfect reader who does as the prompt says: it must reach the best score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.families.recite.agents.strategies import answer_text
from whybench.families.recite.world.world import Node, World

DOCUMENTS = 15
"""Documents of each suite that are read."""


def discrepancies(suites: Sequence[Suite]) -> Iterator[str]:
    """Say where a perfect reader who follows the prompt to the letter misses the best score."""
    for suite in suites:
        for number in range(DOCUMENTS):
            instance = suite.row(number)
            best = suite.family.certify(instance).best_score
            reached = obedient_score(suite, instance)
            if reached != best:
                yield f"{instance.id}: a perfect reader scores {reached}, the best score is {best}"


def obedient_score(suite: Suite, instance: Instance) -> float:
    """Return the headline of the reader."""
    world: World = suite.family.world(instance)
    episode = suite.family.open(instance)
    answer = obedient_answer(world, Stream("obedient", instance.id))
    episode.step(Action.of("submit", answer=answer))
    return float(suite.family.score_episode(episode).values[suite.family.headline])


def obedient_answer(world: World, stream: Stream) -> str:
    """Return the gold graph, each node by a number or by some words of the document for it."""
    names = {node.name: node.name for node in world.nodes}
    if world.view.names == "free":
        names = {node.name: stream.choice(said(world.view.text, node)) for node in world.nodes}
    return answer_text(world.view, [(names[a], names[b]) for a, b in world.named()])


def said(text: str, node: Node) -> list[str]:
    """Return the words of a text for a node, as they are written there, without an article."""
    found = [
        match[0]
        for form in dict.fromkeys((node.name, *node.aliases))
        if (match := re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.I))
    ]
    if not found:
        raise ValueError(f"The document never mentions {node.name!r}.")
    return found
