"""Compare predicted edges with gold edges, once the nodes are matched or given.

The scores are those of `core.structure`. Only the ancestors are found in another way: an answer may
be one cycle of thousands of nodes, and listing its millions of pairs would take all memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from whybench.causal.structure import edge_f1, edge_precision, edge_recall, shd
from whybench.families.recite.matching import Matching

Node = TypeVar("Node", bound=Hashable)

Outside = tuple[str, ...]
"""Represents a predicted node that is not a gold node."""
Mapped = frozenset[tuple[int | Outside, int | Outside]]
Edges = frozenset[tuple[Hashable, Hashable]]


@dataclass(frozen=True, slots=True)
class EdgeScores:
    """Predicted edges against gold ones. Distances count nodes outside of the gold graph too."""

    precision: float
    """Share of the predicted edges that are gold; 0 if there are none."""
    recall: float
    """Share of the gold edges that are predicted."""
    f1: float
    undirected_f1: float
    """F1 of the connected pairs, ignoring direction; two opposite edges are one pair."""
    shd: int
    """Edges to add, remove or reverse."""
    shd_double: int
    """Edges to add or remove: a reversal counts twice."""
    nshd: float
    """`shd` divided by n (n - 1), the possible edges between the n gold nodes; 0 if n < 2.
    Above 1 only for an answer with more wrong edges than places."""
    nshd_double: float
    ancestor_f1: float
    """F1 of direct and indirect effects."""


def edge_scores(gold: frozenset[tuple[int, int]], predicted: Edges, n: int) -> EdgeScores:
    """Compare predicted edges with the gold edges between n nodes; neither may have self loops.

    >>> found = edge_scores(frozenset({(0, 1), (1, 2)}), frozenset({(0, 1), (2, 1)}), 3)
    >>> found.f1, found.undirected_f1, found.shd, found.shd_double
    (0.5, 1.0, 1, 2)
    """
    once, twice = shd(gold, predicted), len(gold ^ predicted)
    places = max(1, n * (n - 1))
    return EdgeScores(
        precision=edge_precision(gold, predicted),
        recall=edge_recall(gold, predicted),
        f1=edge_f1(gold, predicted),
        undirected_f1=edge_f1(_both_ways(gold), _both_ways(predicted)),
        shd=once,
        shd_double=twice,
        nshd=once / places,
        nshd_double=twice / places,
        ancestor_f1=_ancestor_f1(gold, predicted),
    )


def mapped(edges: Iterable[tuple[str, str]], matching: Matching) -> Mapped:
    """Map predicted edges to the gold nodes with which their ends are matched.

    An end that is matched with no gold node becomes `(form,)`, its normal form: it equals no gold
    node, so its edges are false positives, each counted once, and different nodes stay different.
    An edge between two spellings of one node becomes `(form, "cause") → (form, "effect")`: a false
    positive that touches nothing else. Self loops, edges between names that are equal as they are
    written, are dropped and counted before, where an answer is read.

    >>> from whybench.families.recite.matching import matched
    >>> found = matched(["Rain", "harvest", "luck"], [("harvest",), ("rain",)], "lexical")
    >>> sorted(mapped([("Rain", "harvest"), ("luck", "harvest")], found), key=str)
    [(('luck',), 0), (1, 0)]
    """
    pairs: set[tuple[int | Outside, int | Outside]] = set()
    for cause, effect in edges:
        forms = matching.form(cause), matching.form(effect)
        if forms[0] == forms[1]:
            pairs.add(((forms[0], "cause"), (forms[1], "effect")))
        else:
            pairs.add((_end(forms[0], matching), _end(forms[1], matching)))
    return frozenset(pairs)


def _end(form: str, matching: Matching) -> int | Outside:
    node = matching.node(form)
    return (form,) if node is None else node


def _ancestor_f1(gold: Edges, predicted: Edges) -> float:
    """Give `core.structure.ancestor_f1` without listing pairs: sets of descendants are bits."""
    nodes = {end for edge in gold | predicted for end in edge}
    index = {node: bit for bit, node in enumerate(nodes)}
    true, guess = _descendants(gold, index), _descendants(predicted, index)
    hits = sum((mask & guess.get(node, 0)).bit_count() for node, mask in true.items())
    total = sum(mask.bit_count() for found in (true, guess) for mask in found.values())
    return 2 * hits / total if total else 1.0


def _descendants(edges: Edges, index: Mapping[Hashable, int]) -> dict[Hashable, int]:
    """Give each node's descendants without itself; those on a cycle share all of theirs."""
    # Takes most of a second to import the first time: only who scores edges shall wait for it.
    import networkx as nx

    components = nx.condensation(nx.DiGraph(list(edges)))
    reached: dict[int, int] = {}
    found: dict[Hashable, int] = {}
    for component in reversed(list(nx.topological_sort(components))):
        members = components.nodes[component]["members"]
        mask = sum(1 << index[node] for node in members)
        for below in components.successors(component):
            mask |= reached[below]
        reached[component] = mask
        found.update((node, mask & ~(1 << index[node])) for node in members)
    return found


def _both_ways(edges: Iterable[tuple[Node, Node]]) -> frozenset[tuple[Node, Node]]:
    """Put beside each edge its opposite: an F1 of such sets is that of the joined pairs."""
    return frozenset(pair for cause, effect in edges for pair in ((cause, effect), (effect, cause)))
