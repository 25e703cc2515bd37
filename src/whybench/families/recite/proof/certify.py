"""Certify that the text of a generated document determines its graph, or where it does not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from whybench.causal.canonical import Json, Record
from whybench.families.recite.proof.document_parser import NO_NAME, read
from whybench.families.recite.world.topology import topology
from whybench.families.recite.world.vocabulary import field_named
from whybench.families.recite.world.world import Node, World

HYPOTHESES = (
    "graphs on the concepts of a field, all of whose edges a made document gives in sentences of "
    "our frames"
)


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of the exact reader for a document."""

    right: bool
    """Whether it understands every sentence and finds exactly the gold graph."""
    unnamed: tuple[Node, ...]
    """Nodes that the text leaves unnamed and whose names are not given."""
    alternatives: tuple[tuple[str, ...], ...]
    """For each of them, the other names that the text allows equally well."""

    @property
    def bits(self) -> float:
        """Logarithm (base 2) of the number of names that the text leaves open."""
        return sum(math.log2(1 + len(names)) for names in self.alternatives)

    @property
    def witness(self) -> Json:
        """Two hidden systems with one text: a node's name, and another that it could have."""
        if not self.unnamed:
            return None
        for node, names in zip(self.unnamed, self.alternatives, strict=True):
            if names:
                return [node.name, names[0]]
        first = self.unnamed[0]  # anyone who knows the vocabulary finds all names by elimination
        return [first.name, f"another name for {NO_NAME}{first.kind}"]


def proof(world: World) -> Proof:
    """Parse a document and compare the result with the gold graph."""
    found = read(world.view.text)
    shown = {
        node.name: NO_NAME + node.kind if node.mention == "absent" else node.name
        for node in world.nodes
    }
    gold = {(shown[cause], shown[effect]) for cause, effect in world.named()}
    right = not found.unread and set(found.edges) == gold
    unnamed = tuple(n for n in world.nodes if n.mention == "absent")
    if world.view.names == "told":
        kinds = [node.kind for node in unnamed]
        return Proof(right and len(set(kinds)) == len(kinds), (), ())
    spoken = {node.name for node in world.nodes} | set(found.forms)
    silent = [c for c in field_named(found.field).concepts if c.name not in spoken]
    alternatives = [tuple(c.name for c in silent if c.kind == node.kind) for node in unnamed]
    return Proof(right, unnamed, tuple(alternatives))


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
