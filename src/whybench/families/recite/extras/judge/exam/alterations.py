"""An answer derived from a gold graph by known alterations.

Part of the gold graph is kept from the reference, so that there are things that the document says
and the reference lacks; the rest is given as it is, in other words, at another level, turned round,
divided, put together or not at all; and things are added that are not there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any, Literal

from whybench.causal.seeds import Stream
from whybench.families.recite.agents.words import forms_of
from whybench.families.recite.extras.judge.exam import spoken as reading
from whybench.families.recite.extras.judge.exam.outsiders import outsiders
from whybench.families.recite.extras.judge.exam.spoken import Spoken
from whybench.families.recite.world.knowledge import Concept
from whybench.families.recite.world.world import World

Relation = Literal["none", "same", "broader", "narrower", "joined"]
"""How an answer's node compares with what it stands for; joined: it names several at once."""

QUALITIES = ("poor", "fair", "good")
PLAIN = ("exact", "synonym")
LACKING = ("missing", "unlisted")
"""Ways to leave a node out of the answer or of the reference."""
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
    known = reading.concepts(reading.field_of(world).name)
    found = Altered(world, reading.spoken(world.view.text), stream.choice(QUALITIES))
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
        taken = next(
            (two for two in _choices(rest, how) if _fits(found, cast, lured, how, two)), ()
        )
        if not taken:
            how, taken = stream.choice(PLAIN), (rest[0],)
        rest = [v for v in rest if v not in taken]
        _give(found, stream, cast, how, taken)
    _add_outsiders(found, stream, cast)
    return found


def _choices(rest: Sequence[int], how: str) -> Iterator[tuple[int, ...]]:
    """Yield nodes to which an alteration may be dealt, in order."""
    yield from combinations(rest, 2 if how == "merged" else 1)


def _fits(
    found: Altered, cast: Sequence[Concept], lured: Collection[int], how: str, nodes: Sequence[int]
) -> bool:
    """Return whether the right labels stay clear if nodes are given in a way."""
    if how in PLAIN:
        return True
    topics = {cast[v].cluster for v in nodes}
    whole = {cast[v].cluster for one in found.nodes if one.relation == "broader" for v in one.of}
    lacking = {cast[v].cluster for v, was in found.treatment.items() if was in LACKING}
    clear = True
    if how == "missing":  # nothing else may be taken for it
        clear = not topics & whole and not _crowded(cast, nodes[0])
    elif how == "broader" or (how == "merged" and len(topics) == 1):
        clear = not topics & (whole | lacking)
    return clear and not set(lured) & set(nodes)


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
    own = reading.stems(cast[node].name)
    return any(reading.stems(*forms_of(one)) & own for v, one in enumerate(cast) if v != node)


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
        relation, names = "broader", (_whole(concept),)
    elif how in ("narrower", "split"):
        halves = stream.choice(settings()["halves"])
        names = tuple(f"{titled(concept.name)} {half}" for half in halves)
        names = names if how == "split" else names[:1]
    elif how == "merged":
        if cast[of[1]].cluster != concept.cluster:
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
    return (titled(stream.choice((concept.reference, concept.described))),)


def _whole(concept: Concept) -> str:
    """Return a name for the topic of a concept, which is broader."""
    return f"{titled(concept.cluster)} as a whole"


def _together(first: Concept, second: Concept) -> str:
    """Return a name for two: their topic if they share one, else both."""
    if first.cluster == second.cluster:
        return _whole(first)
    return f"{titled(first.name)} and {second.name}"


def _add_outsiders(found: Altered, stream: Stream, cast: Sequence[Concept]) -> None:
    """Add what neither graph nor text speaks of, and what only the text does; never nothing."""
    shares: Mapping[str, float] = settings()["added"][found.quality]
    loose = {cast[v].cluster for v, how in found.treatment.items() if how == "missing"}
    taken = {given.name for given in found.nodes}
    for origin, fit in outsiders(found.world, found.spoken, cast, loose, stream).items():
        wanted = int(shares[origin] * len(cast) + stream.uniform())
        for concept in fit[: max(wanted, origin == "spurious")]:
            if concept.name not in taken:
                taken.add(concept.name)
                spoken_of = concept.name if origin == "mentioned" else ""
                found.nodes.append(Given(concept.name, origin, "none", (), spoken_of))
