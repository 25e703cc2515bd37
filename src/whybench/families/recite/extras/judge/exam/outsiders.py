"""Concepts outside a graph that cannot be mistaken for one of its nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from whybench.causal.seeds import Stream
from whybench.families.recite.agents.words import forms_of
from whybench.families.recite.extras.judge.exam import spoken as reading
from whybench.families.recite.extras.judge.exam.spoken import Spoken
from whybench.families.recite.world.knowledge import FIELDS, Concept, field_named
from whybench.families.recite.world.world import World

ENOUGH = 80
"""Number of concepts of other fields that are considered."""

FARTHEST = 8
"""Number that are kept: those with the fewest words in common with the graph."""


def outsiders(
    world: World,
    said: Spoken,
    cast: Sequence[Concept],
    loose: Collection[str],
    stream: Stream,
) -> Mapping[str, list[Concept]]:
    """Return outsiders in random order: plausible, spurious, and mentioned by the text alone.

    A plausible one is of the field, and of the topic of something in the graph; a spurious one is
    of another field. Neither is spoken of in the text. They share no word of weight with anything
    in the graph, and none is of a loose topic: that of a node that is missing from the answer.
    """
    own = reading.field_of(world)
    topics = {concept.cluster for concept in cast} - set(loose)
    names = {concept.name for concept in cast}
    heard = frozenset[str]().union(*(reading.stems(*forms_of(one)) for one in cast))
    apart = [
        one
        for one in own.concepts
        if one.name not in names and not reading.stems(*forms_of(one)) & heard
    ]
    tempting = {name for pair in said.lures for name in pair}
    mentioned = [c for c in apart if c.name in said.named and c.cluster not in loose]
    return {
        "plausible": stream.shuffled(
            [c for c in apart if c.cluster in topics and c.name not in said.touched]
        ),
        "spurious": _alien(world, own.name, cast, stream),
        # Those first that a relation without support joins to something.
        "mentioned": sorted(stream.shuffled(mentioned), key=lambda c: c.name not in tempting),
    }


def _alien(world: World, own: str, cast: Sequence[Concept], stream: Stream) -> list[Concept]:
    """Return concepts of other fields, as far from the graph and the text as there are."""
    text = world.view.text.lower()
    every = [c for name in FIELDS if name != own for c in field_named(name).concepts]
    heavy = frozenset[str]().union(*map(reading.called, cast))
    unsaid = [
        concept
        for concept in dict.fromkeys(stream.choice(every) for _ in range(ENOUGH))
        if concept.name.lower() not in text
    ]
    return sorted(unsaid, key=lambda c: len(reading.called(c) & heavy))[:FARTHEST]
