"""How far two annotations of the same diagram agree.

The first annotation counts as the truth. Cohen's kappa is over all ordered pairs of different nodes
that either annotation has. These definitions give Table 20 of the paper to its last digit from the
rows of its Table 21 (whose printed total of spurious edges, 5, is not the sum of its rows, 6).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, permutations
from statistics import fmean

from whybench.causal.structure import edge_f1, edge_precision, edge_recall, shd
from whybench.stats.agreement import cohen_kappa

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Diagram:
    """One person's reading of a diagram: its nodes and its edges, without self loops."""

    nodes: frozenset[str]
    edges: frozenset[Edge]

    @classmethod
    def of(cls, edges: Iterable[Edge], nodes: Iterable[str] = ()) -> Diagram:
        """Build a diagram; the ends of edges are nodes.

        >>> sorted(Diagram.of([("rain", "mud")]).nodes)
        ['mud', 'rain']
        """
        pairs = frozenset(edges)
        return cls(frozenset(chain(nodes, *pairs)), pairs)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Precision, recall and F1 of the second annotation against the first."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two annotations compared."""

    nodes: Overlap
    edges: Overlap
    shd: float
    """Edges to add, remove or reverse."""
    shd_double: float
    """Edges to add or remove, as in the paper: a reversal counts twice."""
    shd_share: float
    """`shd_double` by the number of edges of the first, as in the paper; nan if it has none."""
    nshd: float
    """`shd` by the ordered pairs of nodes."""
    kappa: float
    """nan where nothing varies."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Many diagrams: `micro` pools their nodes, edges and pairs, `macro` is the mean over them."""

    diagrams: int
    micro: Agreement
    macro: Agreement


def agreement(first: Diagram, second: Diagram) -> Agreement:
    """Compare two annotations of one diagram.

    >>> one = Diagram.of([("rain", "mud"), ("mud", "delay")])
    >>> other = Diagram.of([("rain", "mud"), ("delay", "mud")])
    >>> found = agreement(one, other)
    >>> found.edges.f1, found.shd, found.shd_double, round(found.kappa, 3)
    (0.5, 1, 2, 0.25)
    """
    return _pooled([(first, second)])


def summary(pairs: Sequence[tuple[Diagram, Diagram]]) -> Summary:
    """Compare many diagrams, each with its two annotations."""
    if not pairs:
        raise ValueError("There are no diagrams to compare. Give at least one pair.")
    each = [agreement(first, second) for first, second in pairs]
    macro = Agreement(
        nodes=_mean_overlap([found.nodes for found in each]),
        edges=_mean_overlap([found.edges for found in each]),
        shd=fmean(found.shd for found in each),
        shd_double=fmean(found.shd_double for found in each),
        shd_share=_mean([found.shd_share for found in each]),
        nshd=fmean(found.nshd for found in each),
        kappa=_mean([found.kappa for found in each]),
    )
    return Summary(len(pairs), _pooled(pairs), macro)


def _pooled(pairs: Sequence[tuple[Diagram, Diagram]]) -> Agreement:
    """Compare diagrams as one: nodes of different diagrams are different."""
    truth, seen = (
        frozenset(((n, a), (n, b)) for n, pair in enumerate(pairs) for a, b in pair[side].edges)
        for side in (0, 1)
    )
    places = [
        ((n, a), (n, b))
        for n, (one, other) in enumerate(pairs)
        for a, b in permutations(sorted(one.nodes | other.nodes), 2)
    ]
    return Agreement(
        nodes=_node_overlap(pairs),
        edges=Overlap(edge_precision(truth, seen), edge_recall(truth, seen), edge_f1(truth, seen)),
        shd=(once := shd(truth, seen)),
        shd_double=(twice := len(truth ^ seen)),
        shd_share=twice / len(truth) if truth else math.nan,
        nshd=once / max(1, len(places)),
        kappa=cohen_kappa([e in truth for e in places], [e in seen for e in places]),
    )


def _node_overlap(pairs: Iterable[tuple[Diagram, Diagram]]) -> Overlap:
    """Compare nodes; two empty sets agree, as two empty graphs do."""
    sizes = [(len(a.nodes & b.nodes), len(b.nodes), len(a.nodes)) for a, b in pairs]
    both, given, gold = (sum(column) for column in zip(*sizes, strict=True))
    return Overlap(
        both / given if given else float(not gold),
        both / gold if gold else float(not given),
        2 * both / (given + gold) if given + gold else 1.0,
    )


def _mean_overlap(found: Sequence[Overlap]) -> Overlap:
    return Overlap(
        fmean(one.precision for one in found),
        fmean(one.recall for one in found),
        fmean(one.f1 for one in found),
    )


def _mean(values: Sequence[float]) -> float:
    """Return the mean of what has a value."""
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else math.nan
