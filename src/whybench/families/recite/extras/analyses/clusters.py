"""Whether the score depends on the topic of a text (Table 18, appendix F).

Texts are embedded and split by k-means, with the number of clusters that has the best silhouette
score. Scores are then compared between clusters. k-means always finds clusters; HDBSCAN shows
whether there are any. Needs the extra `embeddings`.

The paper embeds abstracts with another model. Ours reads the first 256 tokens of a text, so give it
abstracts too.

References:
    P. J. Rousseeuw (1987), Silhouettes, Journal of Computational and Applied Mathematics 20.
    R. J. G. B. Campello, D. Moulavi and J. Sander (2013), Density-based clustering based on
        hierarchical density estimates, PAKDD: HDBSCAN.

"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream
from whybench.families.recite.embedding import embed
from whybench.families.recite.extras.analyses.bins import Bin
from whybench.families.recite.extras.analyses.compare import OneWay, one_way
from whybench.families.recite.extras.analyses.scores import Scores, known
from whybench.families.recite.extras.analyses.table import Row, number, p_value

Points = NDArray[np.floating]
"""One embedding per row."""

KS = tuple(range(2, 9))
"""Numbers of clusters that are tried."""

STARTS = 10
"""Random beginnings of k-means, of which the best end counts."""

SMALLEST = 5
"""Fewest texts that HDBSCAN calls a cluster."""


@dataclass(frozen=True, slots=True)
class Clustering(Row):
    """Texts split by topic."""

    HEAD: ClassVar = ("k", "silhouette", "sizes", "HDBSCAN clusters", "noise")
    labels: Mapping[str, int]
    """Instance → cluster; 0 is the largest."""
    silhouettes: Mapping[int, float]
    """Number of clusters → mean silhouette, from -1 to 1; near 0 clusters overlap."""
    dense: int
    """Clusters that HDBSCAN finds."""
    noise: float
    """Share of texts that HDBSCAN puts into none."""

    @property
    def k(self) -> int:
        """Number of clusters with the best silhouette."""
        return max(self.silhouettes, key=lambda k: (self.silhouettes[k], -k))

    def cells(self) -> tuple[str, ...]:
        """Return the row."""
        counts = np.bincount(list(self.labels.values()))
        sizes = ", ".join(str(count) for count in counts)
        best = number(self.silhouettes[self.k])
        return (str(self.k), best, sizes, str(self.dense), number(self.noise))


@dataclass(frozen=True, slots=True)
class ClusterEffect(Row):
    """Whether scores differ between clusters."""

    HEAD: ClassVar = ("clusters", "n", "F", "p", "η²", "H", "p", "best − worst")
    bins: tuple[Bin, ...]
    """The scores of each cluster: the rows of Table 18."""
    test: OneWay

    @property
    def gap(self) -> float:
        """Mean score of the best cluster minus that of the worst."""
        means = [one.found.estimate for one in self.bins if one.scores]
        return max(means) - min(means) if means else math.nan

    def cells(self) -> tuple[str, ...]:
        """Return the row."""
        test = self.test
        variance = (number(test.f, 2), p_value(test.f_p), number(test.eta_squared))
        ranks = (number(test.h, 2), p_value(test.h_p))
        return (str(test.groups), str(test.n), *variance, *ranks, number(self.gap))


def embedded(texts: Mapping[str, str]) -> dict[str, Points]:
    """Embed a text of each instance, its abstract at best."""
    return dict(zip(texts, embed(list(texts.values())), strict=True))


def clustering(
    points: Mapping[str, Points], ks: Sequence[int] = KS, seed: int = 0, smallest: int = SMALLEST
) -> Clustering:
    """Split instances by their embeddings, with the k of the best silhouette; ties: smallest k.

    A k that leaves no two texts together is not tried.
    """
    _require()
    from sklearn.cluster import HDBSCAN, KMeans
    from sklearn.metrics import silhouette_score

    table = np.array([points[one] for one in points], dtype=np.float64)
    tried = [k for k in ks if 2 <= k < len(table)]
    if not tried:
        raise ValueError(
            f"{len(table)} texts cannot be split into {list(ks)} clusters. Give more texts."
        )
    silhouettes, labels = {}, {}
    for k in tried:
        start = Stream("recite", "clusters", seed, k).below(2**32)
        labels[k] = KMeans(k, n_init=STARTS, random_state=start).fit_predict(table)
        parted = len(set(labels[k].tolist())) > 1
        silhouettes[k] = float(silhouette_score(table, labels[k])) if parted else -1.0
    found = HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(table)
    dense = len(set(found[found >= 0].tolist()))
    parting = Clustering({}, silhouettes, dense, float((found < 0).mean()))
    return Clustering(
        dict(zip(points, _largest_first(labels[parting.k]), strict=True)),
        silhouettes,
        parting.dense,
        parting.noise,
    )


def cluster_effect(scores: Scores, labels: Mapping[str, int]) -> ClusterEffect:
    """Compare scores between clusters (Table 18): analysis of variance, η², Kruskal and Wallis."""
    given = known(scores)
    bins = tuple(
        Bin(
            str(label), tuple(given[one] for one in labels if one in given and labels[one] == label)
        )
        for label in sorted(set(labels.values()))
    )
    return ClusterEffect(bins, one_way([one.scores for one in bins]))


def _largest_first(labels: NDArray[np.integer]) -> list[int]:
    """Number clusters by size, equal ones by who comes first, so that numbers do not change."""
    listed = labels.tolist()
    order = sorted(set(listed), key=lambda label: (-listed.count(label), listed.index(label)))
    return [order.index(label) for label in listed]


def _require() -> None:
    if find_spec("sklearn") is None:
        raise RuntimeError(
            "Clusters need scikit-learn; install it: uv pip install 'whybench[embeddings]'"
        )
