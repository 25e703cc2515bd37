"""Scores from a judge's labels: precision, recall, F1, SHD; weighted, unweighted, as released.

Composites and passes follow appendix Q of the paper. Overall precision counts every element alike;
overall recall weighs every element by its importance, as the appendix says, while the released code
averages the two recalls by counts (`legacy_recall`). The unweighted variant is appendix D.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from whybench.families.recite.extras.judge.labels import (
    MATCHES,
    MISSING,
    NO_MATCH,
    PASSES,
    REVERSED,
    fields,
    worth,
)
from whybench.judge.credit import f1
from whybench.judge.labels import Entry

Judged = Mapping[str, Sequence[Entry] | None]
"""The entries of each pass, those by rule included; None: the pass is incomplete."""

Credit = Callable[[str, Entry], float]
"""Pass and entry → the credit of the element."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A share under construction: credit received, and maximum credit."""

    got: float
    of: float

    @property
    def share(self) -> float:
        """The share; 0 if the maximum is 0, NaN if it is unknown."""
        return self.got / self.of if self.of else 0.0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.got + other.got, self.of + other.of)


UNKNOWN = Sum(math.nan, math.nan)
"""The share of a pass that is incomplete: never a zero."""


def composite(pass_name: str, entry: Entry, block: str = "") -> float:
    """Return the mean value of a block's labels, without importance."""
    own = [f.name for f in fields(pass_name) if f.block == block and f.family != "importance"]
    return sum(worth(entry, name) for name in own) / len(own)


def credited(pass_name: str, entry: Entry) -> float:
    """Return the credit of an element of the answer: the better of graph and text, else 0."""
    if entry.get("graph_presence") == entry.get("text_presence") == NO_MATCH:
        return 0.0
    return max(composite(pass_name, entry, "graph"), composite(pass_name, entry, "text"))


def in_graph(pass_name: str, entry: Entry) -> float:
    """Return the credit of an element of the answer against the gold graph alone."""
    if entry.get("graph_presence") == NO_MATCH:
        return 0.0
    return composite(pass_name, entry, "graph")


def captured(pass_name: str, entry: Entry) -> float:
    """Return how well the answer captures a gold element."""
    return 0.0 if entry.get("presence") == NO_MATCH else composite(pass_name, entry)


PRECISION, RECALL = ("node_precision", "edge_precision"), ("node_recall", "edge_recall")


def matched(field: str) -> Credit:
    """Return a credit: 1 if a field says that there is a match, else 0."""
    return lambda name, entry: float(entry.get(field) in MATCHES)  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class Scored:
    """A score over nodes and edges together, with the same over nodes and over edges alone."""

    names: tuple[str, str, str]
    """All, nodes, edges."""
    passes: tuple[str, str]
    credit: Credit
    needs: str = ""
    """Prefix of the fields on which it depends."""
    weighted: bool = False
    """Whether elements count by their importance."""


SCORES = (
    Scored(("precision", "node_precision", "judged_edge_precision"), PRECISION, credited),
    Scored(("recall", "node_recall", "judged_edge_recall"), RECALL, captured, weighted=True),
    Scored(
        ("graph_precision", "graph_node_precision", "graph_edge_precision"),
        PRECISION, in_graph, "graph_",
    ),
    Scored(
        ("unweighted_precision", "unweighted_node_precision", "unweighted_edge_precision"),
        PRECISION, matched("graph_presence"), "graph_presence",
    ),
    Scored(
        ("unweighted_recall", "unweighted_node_recall", "unweighted_edge_recall"),
        RECALL, matched("presence"), "presence",
    ),
)  # fmt: skip

KINDS = ("", "node_", "judged_edge_", "unweighted_node_", "unweighted_edge_", "unweighted_")

F1 = {f"{kind}f1": (f"{kind}precision", f"{kind}recall") for kind in KINDS}
"""Each F1 → its precision and its recall."""

ORDER = (
    *("f1", "precision", "recall"),
    *(f"{kind}{name}" for kind in KINDS[1:3] for name in ("precision", "recall", "f1")),
    *SCORES[2].names,
    *(f"{kind}{name}" for kind in KINDS[3:] for name in ("precision", "recall", "f1")),
)
"""The order in which shares are shown."""


def figures(judged: Judged, gold_nodes: int) -> dict[str, float]:
    """Return every figure; those that depend on an incomplete pass are NaN."""
    shares: dict[str, float] = {}
    for score in SCORES:
        nodes, edges = (_sum(judged[name], name, score) for name in score.passes)
        sums = (nodes + edges, nodes, edges)
        shares |= {name: own.share for name, own in zip(score.names, sums, strict=True)}
    shares |= {name: f1(shares[p], shares[r]) for name, (p, r) in F1.items()}
    counted = Sum(0.0, 0.0)
    for name, share in (("node_recall", "node_recall"), ("edge_recall", "judged_edge_recall")):
        count = len(judged[name] or ())
        counted += Sum(shares[share] * count, count)
    shd = distance(judged)
    pairs = gold_nodes * (gold_nodes - 1)
    return {name: shares[name] for name in ORDER} | {
        "legacy_recall": counted.share,
        "legacy_judge_f1": f1(shares["precision"], counted.share),
        "judged_shd": shd,
        "judged_nshd": shd / pairs if pairs else 0.0 * shd,
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


def histogram(judged: Mapping[str, Iterable[Entry] | None]) -> dict[str, dict[str, int]]:
    """Count the labels of each field, under `pass.field`; labels never given are there with 0."""
    found: dict[str, dict[str, int]] = {}
    for name in PASSES:
        entries = list(judged.get(name) or ())
        for field in fields(name):
            seen = Counter(entry.get(field.name, "") for entry in entries)
            found[f"{name}.{field.name}"] = {label: seen[label] for label in field.labels}
    return found


def _sum(entries: Sequence[Entry] | None, name: str, score: Scored) -> Sum:
    if entries is None:
        return UNKNOWN
    weights = [worth(entry, "importance") if score.weighted else 1.0 for entry in entries]
    got = sum(w * score.credit(name, entry) for w, entry in zip(weights, entries, strict=True))
    return Sum(got, sum(weights))
