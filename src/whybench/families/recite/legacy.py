"""Scores of the released code, for comparison with Table 4; their names are misleading.

The release compares adjacency matrices over the union of both graphs' node names, with self loops
on the diagonal. Its "precision" is the area under the precision–recall curve of the predicted
matrix, read as a score for each cell. Its "recall" is the mean of all numbers in the lists of that
curve's points. For a prediction of noughts and ones the curve has three points: everything is an
edge (precision b, the share of cells that are gold edges; recall 1), just the predicted ones are
(p, r), and nothing is (1, 0). Hence

    precision = r (1 + p) / 2 + (1 - r) (p + b) / 2,    recall = (2 + b + p + r) / 6.

If all cells are equal, the middle point is not there: (1 + b) / 2 and (2 + b) / 4. An answer
without an edge so gets an F1 above one half, and a perfect one less than 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Legacy:
    """The scores under the release's names."""

    precision: float
    """Area under the precision–recall curve."""
    recall: float
    """Mean of all numbers in the curve's points."""
    f1: float
    """Harmonic mean of these two."""
    shd: int
    """Cells that differ: a reversal counts twice, a self loop counts."""
    nshd: float
    """`shd` divided by n (n - 1), n nodes of both graphs together; 0 for fewer than two."""


def legacy_scores(
    gold_named: Iterable[tuple[str, str]], predicted_named: Iterable[tuple[str, str]]
) -> Legacy:
    """Score edges between names as the release does; names must be equal letter by letter.

    >>> found = legacy_scores([("a", "b"), ("b", "c")], [("a", "b"), ("b", "c")])
    >>> round(found.precision, 3), round(found.recall, 3), round(found.f1, 3)
    (1.0, 0.704, 0.826)
    """
    gold, predicted = frozenset(gold_named), frozenset(predicted_named)
    if not gold:
        raise ValueError("The gold graph has no edge, but the release's curve needs one.")
    n = len({name for edge in gold | predicted for name in edge})
    b = len(gold) / n**2
    if not predicted or len(predicted) == n**2:
        precision, recall = (1 + b) / 2, (2 + b) / 4
    else:
        hits = len(gold & predicted)
        p, r = hits / len(predicted), hits / len(gold)
        precision = r * (1 + p) / 2 + (1 - r) * (p + b) / 2
        recall = (2 + b + p + r) / 6
    shd = len(gold ^ predicted)
    return Legacy(
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall),
        shd=shd,
        nshd=shd / (n * (n - 1)) if n > 1 else 0.0,
    )
