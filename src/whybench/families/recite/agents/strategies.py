"""Reference agents: floors without reading, readers, and the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import permutations

from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import Moves
from whybench.families.recite.agents.pattern import relations
from whybench.families.recite.agents.words import named_together
from whybench.families.recite.proof.document_parser import read
from whybench.families.recite.world.world import View, World

Pairs = Iterable[tuple[str, str]]


def answer_text(view: View, pairs: Pairs) -> str:
    """Return an answer as JSON: with names, or with ids if names are given."""
    told = {name: number for number, name in enumerate(view.nodes, 1)}
    free = view.names == "free"
    arrows = [
        {"source": a, "sink": b} if free else {"source": told[a], "sink": told[b]} for a, b in pairs
    ]
    return json.dumps({"relationships": arrows}, ensure_ascii=False)


def agent(name: str, world: World, stream: Stream) -> Moves:
    """Start an agent; each submits one graph."""
    pairs = _GRAPHS[name](world, stream)
    yield Action.of("submit", answer=answer_text(world.view, pairs))


def _null(world: World, stream: Stream) -> Pairs:  # noqa: ARG001 - one signature for all
    return ()


def _random(world: World, stream: Stream) -> Pairs:
    """Draw a graph as the paper's baseline does, with the gold nodes and number of edges."""
    n = len(world.nodes)
    every = [(a, b) for a in range(n) for b in range(n) if a != b]
    drawn = stream.sample(every, len(world.edges))
    return [(world.nodes[a].name, world.nodes[b].name) for a, b in drawn]


def _pattern(world: World, stream: Stream) -> Pairs:  # noqa: ARG001
    view = world.view
    found = relations(view.text, view.nodes or None)
    return [pair for pair in dict.fromkeys(found) if pair[0] != pair[1]]


def _co_mention(world: World, stream: Stream) -> Pairs:  # noqa: ARG001
    """Connect all concepts of each sentence: the result of shallow reading."""
    found = (pair for names in named_together(world.view) for pair in permutations(names, 2))
    return dict.fromkeys(found)


def _exact(world: World, stream: Stream) -> Pairs:  # noqa: ARG001
    """Read the text, and name each quantity as the text does first, or as it is given."""
    view = world.view
    found = read(view.text)
    if found.unread:
        raise ValueError(
            "The agent `exact` reads generated documents only. Use the agent `pattern`."
        )
    if view.names == "told":
        return found.edges
    return [(found.forms[a], found.forms[b]) for a, b in found.edges]


def _oracle(world: World, stream: Stream) -> Pairs:  # noqa: ARG001
    return list(world.named())


_GRAPHS: dict[str, Callable[[World, Stream], Pairs]] = {
    "null": _null,
    "random": _random,
    "co_mention": _co_mention,
    "pattern": _pattern,
    "exact": _exact,
    "oracle": _oracle,
}
