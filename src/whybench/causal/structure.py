"""Compare a predicted directed graph with the true one: edge precision, recall, F1, SHD.

A graph is given by its edges: any iterable of (cause, effect) pairs of hashable nodes. Indices and
names both work, and repeated edges count once. Cycles are allowed, self loops are not. Every
function takes the truth first.

Two empty graphs agree, so every ratio is 1.0. If only one graph is empty, every ratio is 0.0. So an
empty prediction has precision 0.0 against a true graph with edges, and saying nothing is never the
best answer. Any prediction has recall 0.0 against a true graph without edges.
"""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Edges = Iterable[tuple[Node, Node]]


def edge_precision(truth: Edges[Node], predicted: Edges[Node]) -> float:
    """Share of the predicted edges that are true, direction included.

    >>> edge_precision([("rain", "wet")], [("rain", "wet"), ("wet", "slip")])
    0.5
    >>> edge_precision([("rain", "wet")], [])
    0.0
    """
    true, guess = _graph(truth), _graph(predicted)
    return _share(len(true & guess), len(guess), empty=not true)


def edge_recall(truth: Edges[Node], predicted: Edges[Node]) -> float:
    """Share of the true edges that are predicted, direction included.

    >>> edge_recall([(0, 1), (1, 2)], [(0, 1), (2, 1)])
    0.5
    """
    true, guess = _graph(truth), _graph(predicted)
    return _share(len(true & guess), len(true), empty=not guess)


def edge_f1(truth: Edges[Node], predicted: Edges[Node]) -> float:
    """Harmonic mean of edge precision and recall: 2 hits / (true edges + predicted edges).

    >>> edge_f1([(0, 1), (1, 2)], [(0, 1)])
    0.6666666666666666
    >>> edge_f1([], [])
    1.0
    """
    return _f1(_graph(truth), _graph(predicted))


def shd(truth: Edges[Node], predicted: Edges[Node]) -> int:
    """Structural Hamming distance: fewest edges to add, remove or reverse to get the true graph.

    A reversed edge costs one step, not two. Between the same two nodes, a two-cycle is one step
    from either single edge and two from no edge. Tsamardinos, Brown and Aliferis (2006), Machine
    Learning 65, define the distance between equivalence classes; this function compares the
    directed graphs themselves.

    >>> shd([(0, 1), (1, 2)], [(1, 0), (0, 2)])
    3
    >>> shd([(0, 1), (1, 0)], [(1, 0)])
    1
    """
    true, guess = _graph(truth), _graph(predicted)
    missing, extra = true - guess, guess - true
    reversals = sum((effect, cause) in extra for cause, effect in missing)
    return len(missing) + len(extra) - reversals


def ancestor_f1(truth: Edges[Node], predicted: Edges[Node]) -> float:
    """Edge F1 between the transitive closures, which contain direct and indirect causes.

    In contrast to `edge_f1`, it does not penalise an added shortcut along a chain. On a cycle every
    node is an ancestor of every other node; a node does not count as its own ancestor.

    >>> ancestor_f1([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)])
    1.0
    >>> ancestor_f1([(0, 1), (1, 2)], [(0, 2)])
    0.5
    """
    return _f1(_closure(_graph(truth)), _closure(_graph(predicted)))


def _f1(true: frozenset[tuple[Node, Node]], guess: frozenset[tuple[Node, Node]]) -> float:
    return _share(2 * len(true & guess), len(true) + len(guess), empty=True)


def _share(hits: int, of: int, *, empty: bool) -> float:
    """Return hits / of; if `of` is 0, return 1.0 if the other graph is `empty` too, else 0.0."""
    return hits / of if of else float(empty)


def _closure(edges: frozenset[tuple[Node, Node]]) -> frozenset[tuple[Node, Node]]:
    """Every (ancestor, descendant) pair of two different nodes."""
    children: dict[Node, list[Node]] = {}
    for cause, effect in edges:
        children.setdefault(cause, []).append(effect)
    pairs: set[tuple[Node, Node]] = set()
    for source in children:
        reached, frontier = {source}, [source]
        while frontier:
            for child in children.get(frontier.pop(), ()):
                if child not in reached:
                    reached.add(child)
                    frontier.append(child)
        pairs.update((source, node) for node in reached if node != source)
    return frozenset(pairs)


def _graph(edges: Edges[Node]) -> frozenset[tuple[Node, Node]]:
    """Check the edges and give them as a set; JSON's two-element lists are pairs too."""
    pairs: set[tuple[Node, Node]] = set()
    for edge in edges:
        match edge:
            case (cause, effect):
                if cause == effect:
                    raise ValueError(f"self loop at {cause!r}; drop it before comparing graphs")
                pairs.add((cause, effect))
            case _:
                raise ValueError(f"an edge is a (cause, effect) pair; got {edge!r}")
    return frozenset(pairs)
