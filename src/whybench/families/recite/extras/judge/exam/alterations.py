"""An answer derived from a gold graph by known alterations.

Part of the gold graph is kept from the reference, so that there are things that the document says
and the reference lacks; the rest is given as it is, in other words, at another level, turned round,
divided, put together or not at all; and things are added that are not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.judge.exam import spoken as reading
from whybench.families.recite.extras.judge.exam.outsiders import outsiders
from whybench.families.recite.extras.judge.exam.spoken import Spoken
from whybench.families.recite.world.vocabulary import Concept
from whybench.families.recite.world.world import World

Relation = Literal["none", "same", "broader", "narrower", "joined"]
"""How an answer's node compares with what it stands for; joined: it names several at once."""

QUALITIES = ("poor", "fair", "good")
PLAIN = ("exact", "synonym")
FEWEST_TO_WITHHOLD = 6
"""A smaller graph is kept whole but for some edges."""

LONGEST_NAME = 78
"""A longer name would be cut before a judge sees it."""

Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Given:
    """A node of the answer."""

    name: str
    origin: str
    """The alteration that made it: `exact`, `synonym`, …, `plausible`, `spurious`, `mentioned`."""
    relation: Relation
    of: tuple[int, ...] = ()
    """The document's nodes that it stands for."""
    concept: str = ""
    """The concept outside the graph that it names, if the document mentions it."""


@dataclass(slots=True)
class Altered:
    """An answer with all that is known about it."""

    world: World
    spoken: Spoken
    quality: str
    treatment: dict[int, str] = field(default_factory=dict)
    """How each node was given; `unlisted`: the reference lacks it; `missing`: the answer does."""
    nodes: list[Given] = field(default_factory=list)
    unlisted: set[Ends] = field(default_factory=set)
    """Edges that the reference lacks."""
    edges: dict[tuple[str, str], str] = field(default_factory=dict)
    """The answer's edges by names → the alteration that made each."""

    @property
    def reference_nodes(self) -> list[int]:
        """The nodes that the judge sees as gold."""
        return [v for v, how in sorted(self.treatment.items()) if how != "unlisted"]

    @property
    def reference_edges(self) -> list[Ends]:
        """The edges that the judge sees as gold."""
        kept = set(self.reference_nodes)
        return [
            (e.cause, e.effect)
            for e in self.world.edges
            if {e.cause, e.effect} <= kept and (e.cause, e.effect) not in self.unlisted
        ]

    def by_node(self, node: int) -> list[Given]:
        """Return the nodes of the answer that represent a node."""
        return [given for given in self.nodes if node in given.of]

    def named_plainly(self) -> dict[int, Given]:
        """Return the nodes that are given by their name or a synonym."""
        return {given.of[0]: given for given in self.nodes if given.relation == "same"}

    def add(self, cause: Given, effect: Given, origin: str) -> None:
        """Add an edge to the answer, unless it has it."""
        if cause != effect:
            self.edges.setdefault((cause.name, effect.name), origin)


@cache
def settings() -> Mapping[str, Any]:
    """Return how often each alteration is used."""
    found: Mapping[str, Any] = json.loads(
        (files(__package__ or "") / "alterations.json").read_text("utf-8")
    )
    return found


def deal(stream: Stream, weights: Mapping[str, int], count: int) -> list[str]:
    """Return this many alterations in random order, with shares close to the weights."""
    deck = [name for name, copies in weights.items() for _ in range(copies)]
    dealt: list[str] = []
    while len(dealt) < count:
        dealt += stream.shuffled(deck)
    return dealt[:count]


def titled(form: str) -> str:
    """Return a form in the style of a diagram.

    >>> titled("the share of unfilled posts")
    'Share of unfilled posts'
    """
    bare = form.removeprefix("the ")
    return bare[0].upper() + bare[1:]


def altered_nodes(world: World, stream: Stream) -> Altered:
    """Assign an alteration to each node, and add nodes that are not in the graph."""
    vocabulary = reading.field_of(world)
    found = Altered(world, reading.spoken(vocabulary, world.view.text), stream.choice(QUALITIES))
    known = reading.concepts(vocabulary)
    cast = [known[node.name] for node in world.nodes]
    hidden = _unlisted(world, cast, stream)
    rest = stream.shuffled([v for v in range(len(cast)) if v != hidden])
    if hidden is not None:
        _give(found, stream, cast, stream.choice(PLAIN), (hidden,))
        found.treatment[hidden] = "unlisted"
    dealt = deal(stream, settings()["nodes"][found.quality], len(rest))
    lured = _lured(found, stream)
    while rest:
        how = dealt.pop()
        taken = tuple(rest[: 2 if how == "merged" else 1])
        if (
            (how == "merged" and len(taken) < 2)
            or (how == "missing" and _crowded(cast, taken[0]))
            or (how not in PLAIN and lured.intersection(taken))
        ):
            how, taken = stream.choice(PLAIN), taken[:1]
        rest = rest[len(taken) :]
        _give(found, stream, cast, how, taken)
    _add_outsiders(found, stream, cast)
    return found


def _unlisted(world: World, cast: Sequence[Concept], stream: Stream) -> int | None:
    """Return a node to keep from the reference: one that is named, and like no other."""
    if len(cast) < FEWEST_TO_WITHHOLD:
        return None
    fit = [
        v
        for v, node in enumerate(world.nodes)
        if node.mention == "explicit" and not _crowded(cast, v)
    ]
    return stream.choice(fit) if fit else None


def _lured(found: Altered, stream: Stream) -> frozenset[int]:
    """Return nodes to give plainly, since the text joins them without saying that one acts."""
    place = {node.name: v for v, node in enumerate(found.world.nodes)}
    pairs = [
        frozenset(place[name] for name in pair if name in place)
        for pair in sorted(found.spoken.lures)
    ]
    return stream.choice(pairs) if pairs else frozenset()


def _crowded(cast: Sequence[Concept], node: int) -> bool:
    """Return whether another node could be mistaken for this one."""
    own = cast[node]
    return any(
        other.kind == own.kind
        or reading.stems(other.name, *other.said, other.broader) & reading.stems(own.name)
        for v, other in enumerate(cast)
        if v != node
    )


def _give(
    found: Altered, stream: Stream, cast: Sequence[Concept], how: str, of: tuple[int, ...]
) -> None:
    """Give nodes of the document in a way; by their name if the way's words will not do."""
    concept = cast[of[0]]
    relation: Relation = "broader" if how == "merged" else "narrower"
    names: Sequence[str] = ()
    if how == "synonym":
        relation, names = "same", _synonyms(concept, stream)
    elif how == "broader":
        relation, names = "broader", (titled(concept.broader),)
    elif how == "narrower":
        names = (titled(concept.narrower),)
    elif how == "split":
        halves = stream.choice(settings()["halves"])
        names = tuple(f"{concept.name} {half}" for half in halves)
    elif how == "merged":
        if cast[of[1]].kind != concept.kind:
            relation = "joined"
        names = (_together(concept, cast[of[1]]),)
    taken = {given.name.casefold() for given in found.nodes} | {c.name.casefold() for c in cast}
    if how != "missing" and any(
        len(name) > LONGEST_NAME or name.casefold() in taken for name in names or ("x" * 99,)
    ):
        for node in of:
            found.treatment[node] = "exact"
            found.nodes.append(Given(cast[node].name, "exact", "same", (node,)))
        return
    found.treatment |= dict.fromkeys(of, how)
    found.nodes += [Given(name, how, relation, of) for name in names]


def _synonyms(concept: Concept, stream: Stream) -> tuple[str, ...]:
    others = [titled(form) for form in concept.said]
    fit = [form for form in others if form.casefold() != concept.name.casefold()]
    return (stream.choice(fit),) if fit else ()


def _together(first: Concept, second: Concept) -> str:
    """Return a name for two: their kind if they share one, else both."""
    if first.kind == second.kind:
        return titled(first.kind)
    return f"{first.name} and {second.name[0].lower()}{second.name[1:]}"


def _add_outsiders(found: Altered, stream: Stream, cast: Sequence[Concept]) -> None:
    """Add what neither graph nor text speaks of, and what only the text does; never nothing."""
    shares: Mapping[str, float] = settings()["added"][found.quality]
    loose = {
        cast[v].kind
        for v, how in found.treatment.items()
        if how == "missing" or found.world.nodes[v].mention == "absent"
    }
    taken = {given.name for given in found.nodes}
    for origin, fit in outsiders(found.world, found.spoken, cast, loose, stream).items():
        wanted = int(shares[origin] * len(cast) + stream.uniform())
        for concept in fit[: max(wanted, origin == "spurious")]:
            if concept.name not in taken:
                taken.add(concept.name)
                spoken_of = concept.name if origin == "mentioned" else ""
                found.nodes.append(Given(concept.name, origin, "none", (), spoken_of))
