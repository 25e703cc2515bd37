"""The hidden system: a document, and the causal graph that it describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Names = Literal["free", "told"]
"""Whether the agent finds its own names for the nodes, or is told theirs with an id each."""

Mention = Literal["explicit", "implicit", "absent"]
"""How a text speaks of a node: by its name or a synonym, indirectly, or not at all."""

Status = Literal["stated", "implied", "derivable", "unknown"]
"""How a text gives an edge: in one sentence, across sentences, or only to who puts things
together; unknown for published texts."""

Span = tuple[int, int]
"""Where a passage stands in a text: from its first character to behind its last."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the gold graph."""

    name: str
    mention: Mention
    aliases: tuple[str, ...] = ()
    """Other names that mean just the same."""
    kind: str = ""
    """What sort of thing it is: "a matter of …"."""
    broader: str = ""
    """A more general thing."""
    narrower: str = ""
    """A more special thing."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A gold edge, and where the text gives it."""

    cause: int
    effect: int
    status: Status = "unknown"
    spans: tuple[Span, ...] = ()
    """The passages that give it, together."""
    frames: tuple[str, ...] = ()
    """The sentence frames of those passages."""
    held_out: bool = False
    """Whether one of those frames never occurs in the short suites."""


@dataclass(frozen=True, slots=True)
class View:
    """All that an agent is shown."""

    text: str
    count: int
    """How many nodes the graph has."""
    names: Names = "free"
    nodes: tuple[str, ...] = ()
    """The nodes' names if they are told, in alphabetical order: ids count from 1."""
    released: bool = False
    """Whether answers are taken and scored just as the release does."""


@dataclass(frozen=True, slots=True)
class World:
    """A document with its gold graph."""

    view: View
    nodes: tuple[Node, ...]
    """In alphabetical order of their names."""
    edges: tuple[Edge, ...]
    """Sorted, none twice."""
    cluster: str
    """What is the same for documents on one graph."""
    title: str = ""
    domains: tuple[str, ...] = ()
    """Fields of knowledge."""
    date: str = ""
    """Day of publication, if known."""
    level: int = 0
    """On the ladder of explicitness, from 1; 0: not on it."""

    @property
    def pairs(self) -> frozenset[tuple[int, int]]:
        """The edges as pairs of node indices."""
        return frozenset((edge.cause, edge.effect) for edge in self.edges)

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the edges as pairs of names."""
        for edge in self.edges:
            yield self.nodes[edge.cause].name, self.nodes[edge.effect].name
