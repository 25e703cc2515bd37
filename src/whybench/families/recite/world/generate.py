"""Generated documents: from coordinates to a text and the graph that it describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from whybench.causal.seeds import Stream
from whybench.episode.instance import Instance
from whybench.families.recite.parameters import (
    COLLECTIONS,
    Parameters,
    Shares,
    levels,
    shares,
)
from whybench.families.recite.world.author import Author
from whybench.families.recite.world.compose import Composer, Speaker, evidence
from whybench.families.recite.world.doubts import Doubts
from whybench.families.recite.world.drawing import Link, System, drawn
from whybench.families.recite.world.knowledge import FIELDS, field_named, scenery
from whybench.families.recite.world.nearness import FORMS, margins
from whybench.families.recite.world.plan import Setting, planned
from whybench.families.recite.world.say import Findings
from whybench.families.recite.world.simulate import PAIRS, Study, simulated
from whybench.families.recite.world.sizes import Size, sized
from whybench.families.recite.world.world import Edge, Node, Status, View, World

PERIODS = {"economy": 480, "health": 520, "water": 520}
"""Observations of a quantity."""
GRAMMARS = {"seen": {False}, "held_out": {True}, "all": {False, True}}
"""Parameter `grammar` → whether productions may be held out."""
SHORTENED = 0.6
"""Share of the named concepts that a text abbreviates."""
DRAFTS = 5
"""How often a document is written anew if it is longer than asked for."""
PER_MENTION = 260
"""Characters of a document for each time that an arrow is told, about."""
OFTEN = {"short": (1.5, 2.0), "ladder": (1.8, 2.6), "matched": (2.0, 3.2)}
"""How often an arrow is told in the mean: least and most, unless a length is asked for."""


@dataclass(frozen=True, slots=True)
class Order:
    """The specification of a document."""

    source: str
    """Which graphs: `short`, `ladder` or `matched`."""
    seed: str
    graph: int
    """Number of the graph."""
    shares: Shares
    level: int = 0
    """Level in `ladder`, from 1; 0 in other suites."""
    distractors: float = 2.0
    grammar: str = "held_out"
    nodes: int | None = None
    length: int | None = None
    field: str | None = None

    @property
    def path(self) -> tuple[str | int, ...]:
        """The seed of the document's system."""
        return ("recite", self.source, self.seed, self.graph)


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
        grammar=parameters.grammar,
        nodes=parameters.nodes,
        length=parameters.length,
        field=parameters.field,
    )


def system_of(order: Order) -> tuple[System, Size]:
    """Draw the system of a document, and its size."""
    stream = Stream(*order.path, "graph")
    size = sized(stream, order.source, nodes=order.nodes, length=order.length)
    field = field_named(order.field or stream.choice(FIELDS))
    return drawn(stream, field, size), size


@dataclass(frozen=True, slots=True)
class Draft:
    """A document as written, with what is needed to describe it."""

    title: str
    author: Author
    doubts: Doubts
    composer: Composer
    described: frozenset[int]


def made(order: Order) -> World:
    """Generate a document; the same graph at another level has another text."""
    system, size = system_of(order)
    study = simulated(order.path, system, PERIODS[system.field.name])
    often = _often(order, size.length / len(system.arrows))
    draft = _drafted(order, study, often)
    for _ in range(DRAFTS if order.length else 0):
        if draft.composer.page.at <= size.length:
            break
        often *= 0.95 * size.length / draft.composer.page.at
        draft = _drafted(order, study, often)
    if order.length:
        draft.composer.appendix(draft.doubts.appendix(), order.length)
    return _world(order, system, draft)


def _drafted(order: Order, study: Study, often: float) -> Draft:
    """Write a document that tells its arrows a number of times in the mean."""
    system = study.system
    stream = Stream(*order.path, "words", order.level, order.grammar)
    author = Author(
        stream,
        Findings(study),
        _levels(stream, system, order.shares),
    )
    doubts = Doubts(author, order.distractors)
    lures = doubts.lures()
    author.divide(lures, {link: _times(stream, often) for link in (*system.arrows, *lures)})
    topics = {topic: f"the {topic}" for topic in scenery("the", system.field.name)}
    setting = Setting(_phrases(stream, system, topics), topics, order.source == "short")
    sections = planned(author, doubts, setting)
    described = _described(stream, system, order.shares)
    composer = Composer(
        stream, system, _speaker(stream, system, described), setting.phrases,
        frozenset(GRAMMARS[order.grammar]),
    )  # fmt: skip
    return Draft(composer.document(sections), author, doubts, composer, described)


def _world(order: Order, system: System, draft: Draft) -> World:
    """Return the document with its graph, and where the text gives it."""
    author, composer = draft.author, draft.composer
    spans, frames, denied = evidence(composer.page)
    held = {one.id for _, _, one in composer.page.sentences if one.held_out}
    edges = tuple(
        Edge(
            *link, author.level[link], tuple(spans[link]), tuple(frames[link]),
            bool(held.intersection(frames[link])), system.sign(link), system.plausible(link),
        )
        for link in system.arrows
    )  # fmt: skip
    n = system.n
    return World(
        View("".join(composer.page.pieces), n),
        tuple(_node(system, v, draft.described, composer.speaker.shortened) for v in range(n)),
        edges,
        f"{order.source}-{order.graph}",
        title=draft.title,
        domains=(system.field.title,),
        level=order.level,
        denied=frozenset(link for link in denied if max(link) < n),
        correlations=tuple(one for _, one in sorted(draft.doubts.reported.items())),
        outsiders=tuple(concept.name for concept in system.concepts[n:]),
    )


def _node(system: System, v: int, described: frozenset[int], shortened: frozenset[int]) -> Node:
    concept = system.concepts[v]
    known = margins(system.field.name)
    forms = [concept.name]
    forms += [concept.short] if v in shortened else []
    forms += [str(getattr(concept, form)) for form in FORMS if known[concept.key, form].safe]
    return Node(
        concept.name, "implicit" if v in described else "explicit", tuple(dict.fromkeys(forms)),
        concept.cluster, concept.key,
    )  # fmt: skip


def _levels(stream: Stream, system: System, shares: Shares) -> dict[Link, Status]:
    """Draw how explicitly each arrow is told."""
    links = stream.shuffled(system.arrows)
    stated = round(shares.stated * len(links))
    implied = round(shares.implied * len(links))
    names: list[Status] = [
        "stated" if k < stated else "implied" if k < stated + implied else "derivable"
        for k in range(len(links))
    ]
    return dict(zip(links, names, strict=True))


def _often(order: Order, length: float) -> float:
    """Return how often arrows are told, from the characters that there are for each."""
    least, most = OFTEN[order.source]
    return max(least, min(4.0 if order.length else most, length / PER_MENTION))


def _times(stream: Stream, often: float) -> int:
    """Draw how often an arrow is told: one to four times, with a given mean."""
    return max(1, min(4, int(often - 0.75 + 2.0 * stream.uniform() + 0.25)))


def _described(stream: Stream, system: System, shares: Shares) -> frozenset[int]:
    """Choose the nodes that are never named: ones that have few arrows."""
    count = round((1 - shares.explicit) * system.n)
    ends = [v for link in system.arrows for v in link]
    known = margins(system.field.name)
    able = [
        v for v in range(system.n)
        if system.concepts[v].described.startswith("the ")
        and known[system.concepts[v].key, "described"].safe
    ]  # fmt: skip
    return frozenset(sorted(stream.shuffled(able), key=ends.count)[:count])


def _speaker(stream: Stream, system: System, described: frozenset[int]) -> Speaker:
    shortened = frozenset(
        v for v, concept in enumerate(system.concepts)
        if v not in described and concept.short != "-" and stream.uniform() < SHORTENED
    )  # fmt: skip
    known = margins(system.field.name)
    referred = frozenset(
        v for v, concept in enumerate(system.concepts) if known[concept.key, "reference"].safe
    )
    return Speaker(stream, system.concepts, described, shortened, referred)


def _phrases(stream: Stream, system: System, articles: Mapping[str, str]) -> dict[str, str]:
    field = system.field.name
    topics = [system.concepts[b].cluster for _, b in system.arrows]
    topic = max(sorted(set(topics)), key=topics.count)
    kinds = ("place", "other", "units", "periods")
    return {
        **{kind: stream.choice(scenery(kind, field)) for kind in kinds},
        "topic": articles.get(topic, topic),
        "#count": str(system.n),
        "#T": str(PERIODS[field]),
        "#units": str(2 * PAIRS + 20 + stream.below(200)),
        "#missing": f"{1 + stream.below(4)}.{stream.below(10)}",
    }
