"""The hidden system: a document, and the causal graph that it describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Names = Literal["free", "told"]
"""Whether the agent chooses the node names, or the prompt lists them with ids."""

Mention = Literal["explicit", "implicit", "absent"]
"""How a text mentions a node: by its name or a synonym, indirectly, or not at all."""

Status = Literal["stated", "implied", "derivable", "unknown"]
"""How a text gives an edge: in one sentence, in several sentences, or only by inference; unknown
for published texts."""

Span = tuple[int, int]
"""Position of a passage in a text: first character, and the one after the last."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the gold graph."""

    name: str
    mention: Mention
    aliases: tuple[str, ...] = ()
    """The phrases by which the text mentions it: name, abbreviation, reference, description."""
    kind: str = ""
    """Its topic, such as "labour market"; generated documents only."""
    key: str = ""
    """Its key in the tables of the field; generated documents only."""


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
    """Whether one of those frames is held out of training documents."""
    sign: int = 0
    """1 if more of the cause gives more of the effect, -1 if less; 0 if unknown."""
    plausible: bool | None = None
    """Whether the tables of the field admit it; None for published texts."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation that the text reports between nodes without an edge."""

    first: int
    second: int
    value: float
    """As printed."""
    reason: Literal["path", "confounder"]
    through: tuple[int, ...]
    """The nodes of a directed path from one to the other, or one common cause."""


@dataclass(frozen=True, slots=True)
class View:
    """Everything that an agent sees."""

    text: str
    count: int
    """How many nodes the graph has."""
    names: Names = "free"
    nodes: tuple[str, ...] = ()
    """The names of the nodes if they are given, in alphabetical order; ids start at 1."""
    released: bool = False
    """Whether answers are parsed and scored as in the release."""


@dataclass(frozen=True, slots=True)
class World:
    """A document with its gold graph."""

    view: View
    nodes: tuple[Node, ...]
    """In alphabetical order of their names."""
    edges: tuple[Edge, ...]
    """Sorted, none twice."""
    cluster: str
    """A key that documents on one graph share."""
    title: str = ""
    domains: tuple[str, ...] = ()
    """Fields of knowledge."""
    date: str = ""
    """Day of publication, if known."""
    level: int = 0
    """Level in `ladder`, from 1; 0 in other suites."""
    denied: frozenset[tuple[int, int]] = frozenset()
    """Pairs of nodes of which the text says that the first does not affect the second directly."""
    correlations: tuple[Correlation, ...] = ()
    """Correlations without an edge that the text reports; generated documents only."""
    outsiders: tuple[str, ...] = ()
    """Names of quantities that the text mentions and that are not in the graph."""
    origin: str = ""
    """Repository and commit of a text from the hub."""

    @property
    def pairs(self) -> frozenset[tuple[int, int]]:
        """The edges as pairs of node indices."""
        return frozenset((edge.cause, edge.effect) for edge in self.edges)

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the edges as pairs of names."""
        for edge in self.edges:
            yield self.nodes[edge.cause].name, self.nodes[edge.effect].name
