"""The statements of a document: each edge is in one, and some give no edge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whybench.causal.seeds import Stream
from whybench.families.recite.world.diagram import Pair
from whybench.families.recite.world.frames import Sign
from whybench.families.recite.world.world import Mention, Status

MOST_GROUPS = 40
"""Maximum number of labels that a document defines."""

MOST_CONTRASTS = 60
"""Maximum number of edges that a document gives by counterfactuals."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of explicitness of a document."""

    explicit: float
    implicit: float
    """Shares of the nodes; the rest is absent."""
    stated: float
    implied: float
    """Shares of the edges between mentioned nodes; the rest is only derivable."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a document, before it is put into words."""

    role: str
    fills: Mapping[str, tuple[int, ...]]
    """Slot → the concepts named there, by their index."""
    edges: tuple[Pair, ...] = ()
    """The gold edges that it gives."""
    sign: Sign = "0"
    group: int | None = None
    """Statements with the same group use one label, which one of them defines."""

    @property
    def anchor(self) -> int:
        """The concept that determines its part of the document."""
        return next(iter(self.fills.values()))[-1]


@dataclass(frozen=True, slots=True)
class Graph:
    """A diagram with what the wording depends on; nodes are 0 … n−1."""

    n: int
    edges: frozenset[Pair]
    signs: Mapping[Pair, Sign]
    kinds: Sequence[str]
    """The kind of every concept; those from n on are not in the graph."""
    node_order: tuple[int, ...]
    """Nodes in the order in which they become absent; the same at every level."""
    edge_order: tuple[Pair, ...]

    def reached(self, start: int, without: int | None = None) -> set[int]:
        """Return what a node affects, directly or indirectly."""
        children: dict[int, list[int]] = {}
        for cause, effect in self.edges:
            children.setdefault(cause, []).append(effect)
        found: set[int] = set()
        frontier = [start]
        while frontier:
            for child in children.get(frontier.pop(), ()):
                if child not in found and child != without:
                    found.add(child)
                    frontier.append(child)
        return found


def may_be_absent(graph: Graph) -> list[int]:
    """Return nodes that a text may leave unnamed together: no two adjacent, no two of one kind."""
    neighbours: dict[int, set[int]] = {}
    for cause, effect in graph.edges:
        neighbours.setdefault(cause, set()).add(effect)
        neighbours.setdefault(effect, set()).add(cause)
    chosen: list[int] = []
    barred: set[int] = set()
    kinds: set[str] = set()
    for node in graph.node_order:
        if node not in barred and graph.kinds[node] not in kinds:
            chosen.append(node)
            barred |= neighbours[node]
            kinds.add(graph.kinds[node])
    return chosen


def mentions(graph: Graph, shares: Shares) -> tuple[Mention, ...]:
    """Return how the text mentions each node; an absent node is also absent at lower shares.

    If a graph has too few nodes that can be absent together, the others are implicit.
    """
    silent = may_be_absent(graph)
    asked = round((1 - shares.explicit - shares.implicit) * graph.n)
    absent = silent[:asked]
    rest = [node for node in (*silent, *graph.node_order) if node not in absent]
    rest = list(dict.fromkeys(rest))
    hinted = set(rest[: round(shares.implicit * graph.n) + asked - len(absent)])
    found: dict[int, Mention] = dict.fromkeys(rest, "explicit")
    found |= dict.fromkeys(hinted, "implicit")
    return tuple(found.get(node, "absent") for node in range(graph.n))


def statuses(graph: Graph, spoken: Sequence[Mention], shares: Shares) -> dict[Status, list[Pair]]:
    """Return how the text gives each edge; edges of absent nodes are only derivable."""
    open_edges = [e for e in graph.edge_order if "absent" not in (spoken[e[0]], spoken[e[1]])]
    derivable = round((1 - shares.stated - shares.implied) * len(open_edges))
    implied = derivable + round(shares.implied * len(open_edges))
    return {
        "derivable": open_edges[:derivable],
        "implied": open_edges[derivable:implied],
        "stated": open_edges[implied:],
    }


def unnamed(graph: Graph, spoken: Sequence[Mention]) -> list[Statement]:
    """Return statements about absent nodes, which the text mentions only by their kind."""
    made = []
    for node in (v for v in range(graph.n) if spoken[v] == "absent"):
        causes = [a for a, b in graph.edge_order if b == node]
        effects = [b for a, b in graph.edge_order if a == node]
        for cause, effect in list(zip(causes, effects, strict=False)):
            if cause != effect:  # "through it, A acts on A" would be an odd thing to say
                fills = {"cause": (cause,), "kind": (node,), "effect": (effect,)}
                made.append(Statement("between", fills, ((cause, node), (node, effect))))
                causes.remove(cause)
                effects.remove(effect)
        made += [
            Statement("from", {"kind": (node,), "cause": (cause,)}, ((cause, node),))
            for cause in causes
        ]
        made += [
            Statement("to", {"kind": (node,), "effect": (effect,)}, ((node, effect),))
            for effect in effects
        ]
    return made


def stated(stream: Stream, graph: Graph, edges: Sequence[Pair]) -> list[Statement]:
    """Return statements that give edges in one sentence; some give several edges."""
    left = list(edges)
    made: list[Statement] = []
    for pair in [e for e in left if e[0] < e[1] and (e[1], e[0]) in left]:
        if stream.uniform() < 0.5:
            made.append(Statement("mutual", {"a": pair[:1], "b": pair[1:]}, (pair, pair[::-1])))
            left = [e for e in left if e not in (pair, pair[::-1])]
    for end, role in ((1, "causes"), (0, "effects")):
        for group in _sharing(stream, left, end, chance=0.25):
            shared = (group[0][end],)
            others = tuple(edge[1 - end] for edge in group)
            one = "effect" if end else "cause"
            made.append(Statement(role, {role: others, one: shared}, tuple(group)))
            left = [edge for edge in left if edge not in group]
    return made + [_single("stated", graph, edge) for edge in left]


def implied(graph: Graph, edges: Iterable[Pair]) -> list[Statement]:
    """Return statements that give each edge in several sentences."""
    return [_single("implied", graph, edge) for edge in edges]


def derivable(
    stream: Stream, graph: Graph, edges: Sequence[Pair], cast: Collection[int]
) -> list[Statement]:
    """Return statements from which edges follow: labels, exceptions, chains, counterfactuals.

    If these are not enough, the rest of the edges is implied.
    """
    left = list(edges)
    made: list[Statement] = []
    groups = 0
    for end in (1, 0):
        for group in _sharing(stream, left, end, chance=0.8):
            shared = (group[0][end],)
            others = tuple(edge[1 - end] for edge in group)
            outside = _idle(stream, graph, cast, shared[0]) if end and len(others) < 4 else None
            if outside is not None and stream.uniform() < 0.4:
                members = tuple(stream.shuffled((*others, outside)))
                fills = {"members": members, "exception": (outside,), "effect": shared}
                made.append(Statement("except", fills, tuple(group)))
            elif groups < MOST_GROUPS:
                made.append(Statement("define", {"members": others}, tuple(group), group=groups))
                act = {"effect": shared} if end else {"cause": shared}
                role = "acts" if end else "receives"
                made.append(Statement(role, act, tuple(group), group=groups))
                groups += 1
            else:
                continue
            left = [edge for edge in left if edge not in group]
    for first, middle, last in _chains(graph, left):
        pair = ((first, middle), (middle, last))
        if pair[0] in left and pair[1] in left:
            fills = {"first": (first,), "middle": (middle,), "last": (last,)}
            made.append(Statement("through", fills, pair))
            left = [edge for edge in left if edge not in pair]
    contrasts = left[:MOST_CONTRASTS]
    made += [_single("counterfactual", graph, edge) for edge in contrasts]
    return made + implied(graph, left[MOST_CONTRASTS:])


def _single(role: str, graph: Graph, edge: Pair) -> Statement:
    fills = {"cause": edge[:1], "effect": edge[1:]}
    return Statement(role, fills, (edge,), graph.signs[edge])


def _sharing(stream: Stream, edges: Sequence[Pair], end: int, chance: float) -> list[list[Pair]]:
    """Return groups of two to four edges that share one end."""
    by_end: dict[int, list[Pair]] = {}
    for edge in edges:
        by_end.setdefault(edge[end], []).append(edge)
    return [
        group[: 2 + stream.below(3)]
        for group in by_end.values()
        if len(group) > 1 and stream.uniform() < chance
    ]


def _idle(stream: Stream, graph: Graph, cast: Collection[int], effect: int) -> int | None:
    """Return a mentioned concept that does not affect an effect, not even indirectly."""
    for _ in range(6):
        found = stream.choice(list(cast))
        if found != effect and (found >= graph.n or effect not in graph.reached(found)):
            return found
    return None


def _chains(graph: Graph, edges: Sequence[Pair]) -> list[tuple[int, int, int]]:
    """Return chains of two edges whose first node reaches the last by no other path."""
    return [
        (first, middle, last)
        for first, middle in edges
        for also, last in edges
        if also == middle and last != first and last not in graph.reached(first, without=middle)
    ]
