"""Generated documents: from coordinates to a text and the graph that it describes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.families.recite.parameters import COLLECTIONS, Parameters, levels, shares
from whybench.families.recite.world import plan
from whybench.families.recite.world.compose import Document, Filling, compose
from whybench.families.recite.world.diagram import Pair, diagram
from whybench.families.recite.world.frames import Sign
from whybench.families.recite.world.plan import Graph, Shares
from whybench.families.recite.world.sizes import Size, sized
from whybench.families.recite.world.vocabulary import FIELDS, Concept, field_named
from whybench.families.recite.world.world import Mention, Node, View, World

OUTSIDER = 2_500
"""A document mentions at least one concept outside its graph per this many characters."""


@dataclass(frozen=True, slots=True)
class Order:
    """The specification of a document."""

    source: str
    """Which graphs: `short`, `long`, `ladder` or `matched`."""
    seed: str
    graph: int
    """Number of the graph."""
    shares: Shares
    level: int = 0
    """Level in `made_ladder`, from 1; 0 in other suites."""
    distractors: float = 0.4
    nodes: int | None = None
    length: int | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class _Cast:
    """A graph, the concepts of its nodes, and then concepts outside the graph."""

    field: str
    graph: Graph
    concepts: tuple[Concept, ...]


def ordered(instance: Instance, parameters: Parameters) -> Order:
    """Return the specification of an instance's document."""
    collection, index = COLLECTIONS[instance.suite], instance.index
    on_ladder = collection.source == "ladder"
    steps = len(levels()) if on_ladder else 1
    return Order(
        source=collection.source,
        seed=instance.stream_seed,
        graph=index // steps,
        shares=shares(instance.suite, index, parameters),
        level=index % steps + 1 if on_ladder else 0,
        distractors=parameters.distractors,
        nodes=parameters.nodes,
        length=parameters.length,
        field=parameters.field,
    )


def made(order: Order) -> World:
    """Generate a document; the same graph at another level has another text."""
    path = ("recite", order.source, order.seed, order.graph)
    stream = Stream(*path, "graph")
    size = sized(stream, order.source, nodes=order.nodes, length=order.length)
    cast = _cast(stream, size, order.field)
    graph = cast.graph
    words = Stream(*path, "words", order.level)
    spoken = plan.mentions(graph, order.shares)
    given = plan.statuses(graph, spoken, order.shares)
    everyone = (*spoken, *_outsiders(words, len(cast.concepts) - graph.n, order.shares))
    voiced = [v for v, mention in enumerate(everyone) if mention != "absent"]
    statements = [
        *plan.stated(words, graph, given["stated"]),
        *plan.implied(graph, given["implied"]),
        *plan.derivable(words, graph, given["derivable"], voiced),
        *plan.unnamed(graph, spoken),
    ]
    filling = Filling(size.length, order.distractors)
    short = order.source == "short"
    document = compose(
        words, graph, cast.concepts, everyone, statements, filling, held_out=not short
    )
    cluster = f"{order.source}-{order.graph}"
    return _world(order, cast, spoken, document, cluster)


def _outsiders(stream: Stream, count: int, shares: Shares) -> list[Mention]:
    """Return how the text mentions concepts outside the graph, in the same shares as nodes."""
    voiced = shares.explicit + shares.implicit
    hinted = shares.implicit / voiced if voiced else 0.0
    return ["implicit" if stream.uniform() < hinted else "explicit" for _ in range(count)]


def _cast(stream: Stream, size: Size, field: str | None) -> _Cast:
    """Draw a graph and the concepts of its nodes."""
    known = field_named(field or stream.choice(FIELDS))
    outsiders = max(3, size.nodes // 4, size.length // OUTSIDER)
    drawn = stream.sample(known.concepts, min(len(known.concepts), size.nodes + outsiders))
    edges = diagram(stream, size.nodes, size.edges, size.looped)
    ordered = sorted(edges)
    signs: dict[Pair, Sign] = {e: "+" if stream.uniform() < 0.55 else "-" for e in ordered}
    graph = Graph(
        size.nodes,
        edges,
        signs,
        tuple(concept.kind for concept in drawn),
        tuple(stream.shuffled(range(size.nodes))),
        tuple(stream.shuffled(ordered)),
    )
    return _Cast(known.title, graph, tuple(drawn))


def _world(
    order: Order,
    cast: _Cast,
    spoken: tuple[Mention, ...],
    document: Document,
    cluster: str,
) -> World:
    """Sort the nodes alphabetically, in the order of their ids."""
    n = cast.graph.n
    order_of = sorted(range(n), key=lambda v: cast.concepts[v].name)
    place = {v: k for k, v in enumerate(order_of)}
    nodes = tuple(_node(cast.concepts[v], spoken[v]) for v in order_of)
    moved = [replace(e, cause=place[e.cause], effect=place[e.effect]) for e in document.edges]
    return World(
        View(document.text, n),
        nodes,
        tuple(sorted(moved, key=lambda e: (e.cause, e.effect))),
        cluster,
        title=document.title,
        domains=(cast.field,),
        level=order.level,
        denied=frozenset((place[a], place[b]) for a, b in document.denied if max(a, b) < n),
    )


def _node(concept: Concept, mention: Mention) -> Node:
    aliases = tuple(dict.fromkeys((*concept.said, *concept.hinted)))
    return Node(concept.name, mention, aliases, concept.kind, concept.broader, concept.narrower)
