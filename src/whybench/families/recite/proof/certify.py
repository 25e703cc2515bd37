"""Certify that the text of a generated document determines its graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whybench.causal.canonical import Record
from whybench.causal.graph import Graph
from whybench.families.recite.proof.document_parser import Reading, read, verdict_rows
from whybench.families.recite.proof.scanner import CONCEPT
from whybench.families.recite.world.knowledge import field_named
from whybench.families.recite.world.nearness import FORMS, margins
from whybench.families.recite.world.say import LEVEL
from whybench.families.recite.world.topology import topology
from whybench.families.recite.world.world import World

HYPOTHESES = (
    "graphs on the concepts of a field, all of whose edges a generated document gives in sentences "
    "of our grammar"
)

BEST = 1.0
"""No answer has a higher `edge_f1`: an answer and the gold graph share at most all edges of either.
The exact agent reaches it."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of the exact reader for a document."""

    reading: Reading
    defects: tuple[str, ...]
    """Sentences that it does not understand, and edges that it finds differently."""

    @property
    def right(self) -> bool:
        """Whether it understands every sentence and finds exactly the gold graph."""
        return not self.defects


def proof(world: World) -> Proof:
    """Parse a document and compare the result with the gold graph."""
    found = read(world.view.text)
    names = [node.name for node in world.nodes]
    defects = [f"not understood: {text[:80]}" for text in found.unread]
    gold = {(names[edge.cause], names[edge.effect]): edge for edge in world.edges}
    defects += [f"not given: {a} → {b}" for a, b in sorted(gold.keys() - set(found.edges))]
    defects += [f"not gold: {a} → {b}" for a, b in sorted(set(found.edges) - gold.keys())]
    for pair in found.edges:
        if pair in gold and found.signs.get(pair, gold[pair].sign) != gold[pair].sign:
            defects.append(f"sign: {pair[0]} → {pair[1]}")
        if pair in gold and set(found.passages[pair]) != set(gold[pair].spans):
            defects.append(f"passages: {pair[0]} → {pair[1]}")
    defects += _unexplained(world, found)
    return Proof(found, tuple(defects))


def _unexplained(world: World, found: Reading) -> Iterator[str]:
    """Yield correlations in the text that have neither arrow nor explanation."""
    place = {node.name: v for v, node in enumerate(world.nodes)}
    reach = Graph.from_edges(len(place), world.pairs).reach()
    known = {(one.first, one.second): one for one in world.correlations}
    for pair in found.related.get("corr", ()):
        ends = place[pair[0]], place[pair[1]]
        if ends not in known and ends[::-1] not in known:
            yield f"correlation without explanation: {pair[0]}, {pair[1]}"
    for (a, b), one in known.items():
        if one.reason == "confounder":
            right = all(reach[one.through[0]] >> v & 1 for v in (a, b))
        else:
            right = bool(reach[a] >> b & 1 or reach[b] >> a & 1)
        if not right:
            yield f"correlation with a wrong explanation: {world.nodes[a].name}"


GIVING = {*LEVEL, "trial", "lead", "aspect", "pair", "define", "supported"}
"""Roles of sentences that give an arrow, alone or with others, unless the text rejects them."""
BEARING = GIVING | {
    "null", "rejected", "retracted", "replicated", "unreplicated", "route", "hedged", "elsewhere",
    "doubted",
}  # fmt: skip
"""Roles of sentences that give, deny or leave open an arrow; rows with verdicts count, too."""


def document_facts(world: World, reading: Reading) -> Record:
    """Return figures of a generated document: what bears on the graph, and its mentions."""
    size = len(world.view.text)
    lengths = [
        (
            "rejected" if sentence.span in reading.rejected else sentence.parse.production.role,
            sentence.span[1] - sentence.span[0],
        )
        for sentence in reading.sentences
        if sentence.parse
    ]
    decided = sum(len(row) for row in verdict_rows(world.view.text))
    known = field_named(reading.field)
    margin = margins(reading.field)
    forms = {
        str(getattr(concept, form)).lower(): margin[concept.key, form]
        for concept in known.concepts
        for form in FORMS
    }
    mentions = [
        token.text.lower()
        for sentence in reading.sentences
        for token in sentence.tokens
        if token.kind == CONCEPT
    ]
    used = [forms[text] for text in mentions if text in forms]
    edges = world.edges
    return Record.of(
        told=sum(len(edge.frames) for edge in edges) / len(edges),
        implausible=sum(edge.plausible is False for edge in edges) / len(edges),
        giving=sum(length for role, length in lengths if role in GIVING) / size,
        bearing=(sum(length for role, length in lengths if role in BEARING) + decided) / size,
        correlations=len(world.correlations),
        mentions=len(mentions),
        letters_margin=min((one.letters for one in used), default=1.0),
        meaning_margin=min((one.meaning for one in used), default=1.0),
    )


def facts(world: World) -> Record:
    """Return figures of a document: length, shares, and the shape of its graph."""
    n, m = len(world.nodes), len(world.edges)
    mention = [node.mention for node in world.nodes]
    status = [edge.status for edge in world.edges]
    shape = topology(n, world.pairs)
    return Record.of(
        characters=len(world.view.text),
        lenient=1 - mention.count("absent") / n,
        strict=mention.count("explicit") / n,
        stated=status.count("stated") / m,
        implied=status.count("implied") / m,
        derivable=status.count("derivable") / m,
        held_out=sum(edge.held_out for edge in world.edges),
        topology=tuple((name, float(value)) for name, value in shape.items()),
    )
