"""Match free names with gold nodes, one to one, by the similarity of names.

Names are compared in a normal form. The assignment is the best one as a whole (Kuhn 1955; scipy's
`linear_sum_assignment`), because a greedy one depends on the order of the names and a many-to-one
one inflates recall. Pairs below a threshold are dropped afterwards, so all thresholds of a band use
the same assignment.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import token_sort_ratio
from rapidfuzz.process import cdist

from whybench.families.recite.embedding import cosines

Similarity = Literal["lexical", "both"]
"""The similarity measure: letters, or the larger of letters and cosine of embeddings."""

THRESHOLD = 0.7
"""Names that are less similar are different nodes. Of different nodes in one graph 2.9 % have a
cosine above it, most true paraphrases too."""
BAND = (0.6, 0.7, 0.8)
"""Thresholds at which scores are reported, to show how much they depend on it."""

_LONGEST = 200
"""Characters of a normal form that are compared: no name is longer."""
_EMBEDDED = 40_000
"""Characters of an answer's names that are embedded, shortest names first, the rest being compared
by letters alone: 2,000 usual names, some ten seconds."""
_ROWS = 1_000
"""Names compared together, to bound memory."""
_DIGITS = 6
"""Decimals of a similarity: batches move a cosine's later ones."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A predicted name and the gold node that it matches."""

    name: str
    """In normal form."""
    gold: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Matching:
    """Predicted names and the gold nodes that they match, one to one."""

    names: tuple[str, ...]
    """All predicted nodes: the different normal forms, sorted."""
    size: int
    """How many gold nodes there are."""
    pairs: tuple[Pair, ...]
    """Sorted by name."""
    clashing: frozenset[str] = frozenset()
    """Normal forms that different gold nodes share; names like that count as they are written."""
    _nodes: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_nodes", {pair.name: pair.gold for pair in self.pairs})

    def node(self, name: str) -> int | None:
        """Return the gold node that a predicted name matches in any spelling, or None."""
        return self._nodes.get(self.form(name))

    def form(self, name: str) -> str:
        """Return the form under which a name is stored here."""
        return form(name, self.clashing)

    def above(self, threshold: float) -> Matching:
        """Keep the pairs with at least this similarity."""
        kept = tuple(pair for pair in self.pairs if pair.similarity >= threshold)
        return replace(self, pairs=kept)

    @property
    def precision(self) -> float:
        """Share of the predicted nodes that match a gold node; 0 if there are none."""
        return len(self.pairs) / len(self.names) if self.names else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold nodes that a predicted node matches; 0 if there are none."""
        return len(self.pairs) / self.size if self.size else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        of = len(self.names) + self.size
        return 2 * len(self.pairs) / of if of else 0.0

    @property
    def soft_precision(self) -> float:
        """Precision with each pair counted by its similarity."""
        return self._total / len(self.names) if self.names else 0.0

    @property
    def soft_recall(self) -> float:
        """Recall with each pair counted by its similarity."""
        return self._total / self.size if self.size else 0.0

    @property
    def _total(self) -> float:
        return sum(pair.similarity for pair in self.pairs)


class _Letters(dict[int, str | None]):
    """What a character becomes in a normal form; fills itself as characters come up."""

    def __missing__(self, code: int) -> str | None:
        kind = unicodedata.category(chr(code))
        self[code] = None if kind == "Cf" else chr(code) if kind[0] in "LMN" else " "
        return self[code]


_LETTERS = _Letters()


@lru_cache(maxsize=16_384)
def normal(name: str) -> str:
    """Give a name's normal form: compatible characters, small letters, blanks for punctuation.

    Signs and underscores are punctuation too; soft hyphens and other unseen characters go. A name
    of nothing else keeps its signs.

    >>> normal("  CO₂-emissions_(per capita) ")
    'co2 emissions per capita'
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).lower())
    return " ".join(text.translate(_LETTERS).split()) or " ".join(text.split())


def similarities(
    predicted: Sequence[str], gold: Sequence[Sequence[str]], kind: Similarity = "both"
) -> NDArray[np.float64]:
    """Compare each predicted name (rows) with each gold node (columns), between 0 and 1.

    A gold node is the names that mean the same, and the most similar one counts: by rapidfuzz's
    token-sort ratio, which is 1 for equal normal forms, and with "both" by the cosine if that is
    larger.

    >>> similarities(["Prices of land", "costs"], [("land price", "rent")], "lexical").round(2)
    array([[0.83],
           [0.22]])
    """
    if not all(gold):
        raise ValueError(
            "A gold node has no name. Give each node its name first, then its aliases."
        )
    rows = [normal(name) for name in predicted]
    forms = [normal(name) for names in gold for name in names]
    starts = np.cumsum([0, *(len(names) for names in gold)])[:-1]
    found = np.zeros((len(rows), len(gold)))
    if not found.size:
        return found
    read = _within_bound(rows) if kind == "both" else frozenset()
    for first in range(0, len(rows), _ROWS):
        part = rows[first : first + _ROWS]
        alike = _lexical(part, forms)
        chosen = [row for row, form in enumerate(part) if form in read]
        if chosen:
            meaning = cosines([_cut(part[row]) for row in chosen], [_cut(form) for form in forms])
            alike[chosen] = np.maximum(alike[chosen], meaning)
        found[first : first + _ROWS] = np.maximum.reduceat(alike, starts, axis=1)
    return np.clip(found.round(_DIGITS), 0.0, 1.0)


def matched(
    predicted: Iterable[str],
    gold: Sequence[Sequence[str]],
    kind: Similarity = "both",
    threshold: float = THRESHOLD,
) -> Matching:
    """Match predicted names to gold nodes one to one; neither's order matters.

    Names that are equal in normal form are one node. A name that is equal to a gold one stands for
    that node and no other; the rest is assigned among pairs that are at least as alike as the
    threshold. `above` gives the matching for a higher one, such as those of `BAND`, without another
    comparison.

    >>> found = matched(["Land Prices", "costs"], [("land price",), ("harvest",)], "lexical")
    >>> found.node("land prices"), found.node("costs"), found.precision
    (0, None, 0.5)
    """
    # Takes two seconds to import the first time: only who matches names shall wait for it.
    from scipy.optimize import linear_sum_assignment

    clashing = _clashing(gold)
    names = tuple(sorted({form(name, clashing) for name in predicted}))
    order = sorted(range(len(gold)), key=lambda node: (tuple(gold[node]), node))
    alike = similarities(names, [gold[node] for node in order], kind)
    forms = [frozenset(form(name, clashing) for name in gold[node]) for node in order]
    equal = np.zeros(alike.shape, dtype=bool)
    for row, name in enumerate(names):
        equal[row] = [name in own for own in forms]
        if equal[row].any():
            alike[row, ~equal[row]] = 0.0
    worth = np.where(alike >= threshold, alike, 0.0) + (1 + len(names)) * equal
    pairs = (
        Pair(names[row], order[column], float(alike[row, column]))
        for row, column in zip(*linear_sum_assignment(-worth), strict=True)
    )
    return Matching(names, len(gold), tuple(pairs), clashing).above(threshold)


def _clashing(gold: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return normal forms that different gold nodes share: `<Population>` and `Population`."""
    owners: dict[str, set[int]] = {}
    for node, names in enumerate(gold):
        for name in names:
            owners.setdefault(normal(name), set()).add(node)
    return frozenset(shared for shared, nodes in owners.items() if len(nodes) > 1)


def form(name: str, clashing: frozenset[str]) -> str:
    """Return a name's normal form, or the name as it stands where its normal form says too little.

    >>> form("<Rain>", frozenset()), form("<Rain>", frozenset({"rain"}))
    ('rain', '<Rain>')
    """
    found = normal(name)
    return name if found in clashing else found


def _lexical(rows: Sequence[str], forms: Sequence[str]) -> NDArray[np.float64]:
    short, other = [_cut(row) for row in rows], [_cut(form) for form in forms]
    found = cdist(short, other, scorer=token_sort_ratio, dtype=np.float64, workers=1)
    return np.asarray(found / 100)


def _within_bound(rows: Iterable[str]) -> frozenset[str]:
    """Choose the names to embed, shortest first."""
    ordered = sorted(set(rows), key=lambda row: (len(row), row))
    ends = accumulate(len(_cut(row)) for row in ordered)
    return frozenset(row for row, end in zip(ordered, ends, strict=True) if end <= _EMBEDDED)


def _cut(form: str) -> str:
    return form[:_LONGEST]
