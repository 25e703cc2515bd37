"""Concepts outside a graph that cannot be mistaken for one of its nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.exam import spoken as reading
from whybench.families.recite.extras.judge.exam.spoken import Spoken
from whybench.families.recite.world.vocabulary import FIELDS, Concept, field_named
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

    A plausible one is of the field, and of the kind of something in the graph; a spurious one is of
    another field. Neither is spoken of in the text. They share no word of weight with anything in
    the graph, and none is of a loose kind: one that might be taken for a node that is missing from
    the answer or that the text leaves unnamed.
    """
    own = reading.field_of(world)
    kinds = {concept.kind for concept in cast} - set(loose)
    names = {concept.name for concept in cast}
    called = frozenset[str]().union(*map(_called, cast))
    apart = [c for c in own.concepts if c.name not in names and not _called(c) & called]
    tempting = {name for pair in said.lures for name in pair}
    mentioned = [c for c in apart if c.name in said.named and c.kind not in loose]
    return {
        "plausible": stream.shuffled(
            [c for c in apart if c.kind in kinds and c.name not in said.touched]
        ),
        "spurious": _alien(world, own.name, cast, stream),
        # Those first that a relation without support joins to something.
        "mentioned": sorted(stream.shuffled(mentioned), key=lambda c: c.name not in tempting),
    }


def _called(concept: Concept) -> frozenset[str]:
    return reading.stems(concept.name, *concept.said, concept.broader)


def _alien(world: World, own: str, cast: Sequence[Concept], stream: Stream) -> list[Concept]:
    """Return concepts of other fields, as far from the graph and the text as there are."""
    text = world.view.text.lower()
    every = [c for name in FIELDS if name != own for c in field_named(name).concepts]
    heavy = frozenset[str]().union(*map(reading.weight_of, cast))
    unsaid = [
        concept
        for concept in dict.fromkeys(stream.choice(every) for _ in range(ENOUGH))
        if not any(form.lower() in text for form in concept.said)
    ]
    return sorted(unsaid, key=lambda c: len(reading.weight_of(c) & heavy))[:FARTHEST]
