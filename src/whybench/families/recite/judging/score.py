"""What a judge's labels come to: precision, recall, F1, SHD; weighted, unweighted and as released.

Composites and passes follow appendix Q of the paper. Overall precision counts every element alike;
overall recall weighs every element by its importance, as the appendix says, while the released code
averages the two recalls by counts (`legacy_recall`). The unweighted variant is appendix D.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whybench.families.recite.judging.labels import (
    MATCHES,
    MISSING,
    NO_MATCH,
    PASSES,
    REVERSED,
    Entry,
    PassName,
    fields,
    worth,
)

Judged = Mapping[PassName, Sequence[Entry] | None]
"""The entries of each pass, those by rule included; None: the pass is incomplete."""

Worth = Callable[[Entry], float]


@dataclass(frozen=True, slots=True)
class Sum:
    """A share in the making: what was got, of what there was to get, by so many elements."""

    got: float
    of: float
    count: int

    @property
    def share(self) -> float:
        """The share; 0 if there was nothing to get, NaN if it is not known."""
        return self.got / self.of if self.of else 0.0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.got + other.got, self.of + other.of, self.count + other.count)


UNKNOWN = Sum(math.nan, math.nan, 0)
"""The share of a pass that is incomplete: never a zero."""


def composite(pass_name: PassName, entry: Entry, block: str = "") -> float:
    """Return the mean worth of a block's labels, without importance."""
    own = [f.name for f in fields(pass_name) if f.block == block and f.family != "importance"]
    return sum(worth(entry, name) for name in own) / len(own)


def credited(pass_name: PassName, entry: Entry) -> float:
    """Return an answer's element's credit: the better of graph and text, 0 if in neither."""
    if entry.get("graph_presence") == entry.get("text_presence") == NO_MATCH:
        return 0.0
    return max(composite(pass_name, entry, "graph"), composite(pass_name, entry, "text"))


def in_graph(pass_name: PassName, entry: Entry) -> float:
    """Return an answer's element's credit against the gold graph alone."""
    if entry.get("graph_presence") == NO_MATCH:
        return 0.0
    return composite(pass_name, entry, "graph")


def captured(pass_name: PassName, entry: Entry) -> float:
    """Return how well the answer holds a gold element."""
    return 0.0 if entry.get("presence") == NO_MATCH else composite(pass_name, entry)


def figures(judged: Judged, gold_nodes: int) -> dict[str, float]:
    """Return every figure; those that rest on an incomplete pass are NaN."""
    node_p, edge_p = _precision(judged, "node_precision"), _precision(judged, "edge_precision")
    node_r, edge_r = _recall(judged, "node_recall"), _recall(judged, "edge_recall")
    precision, recall = (node_p + edge_p).share, (node_r + edge_r).share
    counted = Sum(node_r.share * node_r.count, node_r.count, 0) + Sum(
        edge_r.share * edge_r.count, edge_r.count, 0
    )
    found = {
        "f1": f1(precision, recall),
        "precision": precision,
        "recall": recall,
        **_scores("node", node_p, node_r),
        **_scores("judged_edge", edge_p, edge_r),
        **_in_graph(judged),
        **_unweighted(judged),
        "legacy_recall": counted.share,
        "legacy_judge_f1": f1(precision, counted.share),
    }
    shd = distance(judged)
    pairs = gold_nodes * (gold_nodes - 1)
    found |= {"judged_shd": shd, "judged_nshd": shd / pairs if pairs else 0.0 * shd}
    return found | {
        "incomplete": float(sum(judged[name] is None for name in PASSES)),
        "inconsistent": float(inconsistent(judged)),
    }


def distance(judged: Judged) -> float:
    """Return the SHD by the labels: wrong, missing and reversed edges.

    The paper does not say which pass counts what; here an edge of the answer is wrong if the gold
    graph has none like it, a gold edge missing if the answer lacks it, and a match reversed if the
    precision pass says so.
    """
    answer, gold = judged["edge_precision"], judged["edge_recall"]
    if answer is None or gold is None:
        return math.nan
    wrong = sum(entry.get("graph_presence") == NO_MATCH for entry in answer)
    turned = sum(
        entry.get("graph_presence") in MATCHES and entry.get("graph_direction") == REVERSED
        for entry in answer
    )
    missing = sum(
        entry.get("presence") == NO_MATCH or entry.get("direction") == MISSING for entry in gold
    )
    return float(wrong + turned + missing)


def inconsistent(judged: Judged) -> int:
    """Count the blocks that say that there is no counterpart and then compare with it.

    Such labels still count in a composite, as in the paper and the release.
    """
    return sum(
        entry.get(first.name) == NO_MATCH
        and any(entry.get(f.name, f.nothing) != f.nothing for f in of_block if f.nothing)
        for name in PASSES
        for first in fields(name)
        if first.family == "presence"
        for of_block in [[f for f in fields(name) if f.block == first.block]]
        for entry in judged[name] or ()
    )


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 if both are.

    >>> f1(0.5, 0.5), f1(0.0, 0.0)
    (0.5, 0.0)
    """
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def histogram(judged: Mapping[PassName, Iterable[Entry] | None]) -> dict[str, dict[str, int]]:
    """Count the labels of each field, under `pass.field`; labels never given are there with 0."""
    found: dict[str, dict[str, int]] = {}
    for name in PASSES:
        entries = list(judged.get(name) or ())
        for field in fields(name):
            seen = Counter(entry.get(field.name, "") for entry in entries)
            found[f"{name}.{field.name}"] = {label: seen[label] for label in field.labels}
    return found


def _scores(kind: str, precision: Sum, recall: Sum) -> dict[str, float]:
    return {
        f"{kind}_precision": precision.share,
        f"{kind}_recall": recall.share,
        f"{kind}_f1": f1(precision.share, recall.share),
    }


def _precision(judged: Judged, name: PassName) -> Sum:
    return _sum(judged[name], lambda entry: credited(name, entry))


def _recall(judged: Judged, name: PassName) -> Sum:
    return _sum(
        judged[name], lambda entry: captured(name, entry), lambda entry: worth(entry, "importance")
    )


def _in_graph(judged: Judged) -> dict[str, float]:
    nodes = _sum(judged["node_precision"], lambda entry: in_graph("node_precision", entry))
    edges = _sum(judged["edge_precision"], lambda entry: in_graph("edge_precision", entry))
    return {
        "graph_precision": (nodes + edges).share,
        "graph_node_precision": nodes.share,
        "graph_edge_precision": edges.share,
    }


def _unweighted(judged: Judged) -> dict[str, float]:
    def matched(name: PassName, field: str) -> Sum:
        return _sum(judged[name], lambda entry: float(entry.get(field) in MATCHES))

    node_p = matched("node_precision", "graph_presence")
    edge_p = matched("edge_precision", "graph_presence")
    node_r, edge_r = matched("node_recall", "presence"), matched("edge_recall", "presence")
    return {
        **_scores("unweighted_node", node_p, node_r),
        **_scores("unweighted_edge", edge_p, edge_r),
        **_scores("unweighted", node_p + edge_p, node_r + edge_r),
    }


def _sum(entries: Sequence[Entry] | None, credit: Worth, weight: Worth = lambda _: 1.0) -> Sum:
    if entries is None:
        return UNKNOWN
    weights = [weight(entry) for entry in entries]
    got = sum(w * credit(entry) for w, entry in zip(weights, entries, strict=True))
    return Sum(got, sum(weights), len(entries))
