"""Which labels a judge gives to an answer's edges (Table 23, appendix O), and how often each label.

Shares are pooled over all edges, as Table 23 must be: its graph match lies below the mean of
per-document precisions that Table 10 prints. Edges of one document are one cluster.

The caption of Table 23 says that correct and reversed directions are "among matched edges", yet in
every row they add up to the graph match, but for rounding and a few matches without a direction.
So the printed shares are of all edges; both are given here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from whybench.families.recite.extras.analyses.table import Row, between, number
from whybench.families.recite.extras.judge.labels import MATCHES, REVERSED
from whybench.stats.interval import Interval, rate_interval

Entry = Mapping[str, str]
"""What a judge says of one element: a label for each field."""

CORRECT = "DIRECTION_CORRECT"
ALIGNED = "ABSTRACTION_ALIGNED"
SUPPORTED = frozenset({"PRESENCE_EXPLICIT", "PRESENCE_IMPLIED", "PRESENCE_GRAPH_ONLY"})
"""What counts as support by the text. GRAPH_ONLY is no support in any plain sense, but the paper
counts it."""


@dataclass(frozen=True, slots=True)
class LabelShares(Row):
    """Shares of an answer's edges, pooled over documents."""

    HEAD: ClassVar = (
        "system", "documents", "edges", "graph match", "95 %", "direction correct",
        "direction reversed", "reversed of matched", "aligned of matched", "text support", "95 %",
    )  # fmt: skip
    system: str
    documents: int
    """Documents whose edges were judged; those without an edge among them."""
    incomplete: int
    """Documents left out because the pass stayed unreadable."""
    match: Interval
    """Edges that match the gold graph, strongly or weakly."""
    correct: Interval
    reversed: Interval
    """Matching edges of either direction, as shares of all edges."""
    reversed_of_matched: Interval
    aligned_of_matched: Interval
    support: Interval
    """Edges with support by the text."""

    def cells(self) -> tuple[str, ...]:
        """Return the row in percent."""
        counts = (self.system, str(self.documents), str(self.match.n))
        matched = (self.correct, self.reversed, self.reversed_of_matched, self.aligned_of_matched)
        return (
            *counts,
            *_with_bounds(self.match),
            *(_percent(one.estimate) for one in matched),
            *_with_bounds(self.support),
        )


@dataclass(frozen=True, slots=True)
class LabelCount(Row):
    """How often a label was given where it could be."""

    HEAD: ClassVar = ("field", "label", "count", "share")
    field: str
    """`pass.field`, such as `edge_precision.graph_presence`."""
    label: str
    count: int
    of: int
    """Labels of this field in all."""

    def cells(self) -> tuple[str, ...]:
        """Return the row, the share in percent."""
        share = self.count / self.of if self.of else float("nan")
        return (self.field, self.label, str(self.count), _percent(share))


def label_shares(judged: Mapping[str, Sequence[Entry] | None], system: str = "") -> LabelShares:
    """Return the shares of Table 23 from document → entries of the pass `edge_precision`.

    Take entries with those by rule (`complete` in `extras.judge.verdict`): an edge whose name
    cannot be shown to a judge is an edge of the answer. None stands for a pass that stayed
    unreadable.
    """
    edges = [(name, entry) for name, entries in judged.items() for entry in entries or ()]
    matched = [(name, entry) for name, entry in edges if _matches(entry)]
    missing = sum(entries is None for entries in judged.values())

    return LabelShares(
        system=system,
        documents=len(judged) - missing,
        incomplete=missing,
        match=_share(edges, _matches),
        correct=_share(edges, lambda e: _matches(e) and e.get("graph_direction") == CORRECT),
        reversed=_share(edges, lambda e: _matches(e) and e.get("graph_direction") == REVERSED),
        reversed_of_matched=_share(matched, lambda e: e.get("graph_direction") == REVERSED),
        aligned_of_matched=_share(matched, lambda e: e.get("graph_abstraction") == ALIGNED),
        support=_share(edges, lambda e: e.get("text_presence") in SUPPORTED),
    )


def label_counts(histograms: Iterable[Mapping[str, Mapping[str, int]]]) -> list[LabelCount]:
    """Add up histograms of labels (`extras.judge.score.histogram`, or a verdict's own).

    >>> for row in label_counts([{"p.x": {"A": 1, "B": 0}}, {"p.x": {"A": 2, "B": 1}}]):
    ...     print(row)
    | p.x | A | 3 | 75.0 |
    | p.x | B | 1 | 25.0 |
    """
    found: dict[str, Counter[str]] = {}
    for histogram in histograms:
        for field, counts in histogram.items():
            found.setdefault(field, Counter()).update(counts)
    return [
        LabelCount(field, label, count, counts.total())
        for field, counts in found.items()
        for label, count in counts.items()
    ]


def _matches(entry: Entry) -> bool:
    return entry.get("graph_presence") in MATCHES


def _share(edges: Sequence[tuple[str, Entry]], holds: Callable[[Entry], bool]) -> Interval:
    return rate_interval([float(holds(entry)) for _, entry in edges], [name for name, _ in edges])


def _percent(share: float) -> str:
    return number(100 * share, 1)


def _with_bounds(share: Interval) -> tuple[str, str]:
    return _percent(share.estimate), between(100 * share.low, 100 * share.high, 1)
