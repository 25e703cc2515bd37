"""Whether systems rank alike under other scores (appendix D; Tables 3, 4, 10 and 11).

The paper compares "overall" unweighted F1 with the weighted one and prints ρ = 0.915, τ = 0.778;
its tables have unweighted F1 for nodes and for edges apart. The mean of those two gives just these
figures from the printed values.

Few systems make coarse figures: with ten of them, two neighbours that change places move τ by
0.044.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import ClassVar

from whybench.families.recite.extras.analyses.scores import Scores, known
from whybench.families.recite.extras.analyses.scores import shared as shared_scores
from whybench.families.recite.extras.analyses.table import Row, number, p_value
from whybench.stats.association import Association, kendall, spearman


@dataclass(frozen=True, slots=True)
class Move:
    """A system's place under two scores; 1 is best, systems with equal scores share a place."""

    system: str
    before: int
    after: int

    def __str__(self) -> str:
        return f"{self.system} {self.before}→{self.after}"


@dataclass(frozen=True, slots=True)
class RankAgreement(Row):
    """How far two scores rank systems alike."""

    HEAD: ClassVar = ("score 1", "score 2", "systems", "ρ", "p", "τ", "p", "changes of place")
    first: str
    second: str
    rho: Association
    tau: Association
    moves: tuple[Move, ...]
    """The systems whose place differs, in order of their place under the first score."""

    def cells(self) -> tuple[str, ...]:
        """Return the row."""
        rho = (number(self.rho.value), p_value(self.rho.p))
        tau = (number(self.tau.value), p_value(self.tau.p))
        moved = ", ".join(map(str, self.moves)) or "none"
        return (self.first, self.second, str(self.rho.n), *rho, *tau, moved)


def means(scores: Mapping[str, Scores], shared: bool = False) -> dict[str, float]:
    """Return each system's mean, from system → instance → score; one without scores is left out.

    With `shared` only instances count that every system is scored on. The paper takes each system's
    own: one of its ten lacks 20 long texts.

    >>> means({"s": {"a": 1.0, "b": 0.0}, "t": {"a": 0.5, "b": None}})
    {'s': 0.5, 't': 0.5}
    >>> means({"s": {"a": 1.0, "b": 0.0}, "t": {"a": 0.5, "b": None}}, shared=True)
    {'s': 1.0, 't': 0.5}
    """
    kept = shared_scores(scores) if shared else {s: known(own) for s, own in scores.items()}
    return {system: fmean(own.values()) for system, own in kept.items() if own}


def places(by_system: Mapping[str, float]) -> dict[str, int]:
    """Return each system's place, 1 for the highest score; equal scores share the best place.

    >>> places({"s": 0.2, "t": 0.9, "u": 0.2})
    {'s': 2, 't': 1, 'u': 2}
    """
    return {
        system: 1 + sum(other > score for other in by_system.values())
        for system, score in by_system.items()
    }


def rank_agreement(
    first: Mapping[str, float],
    second: Mapping[str, float],
    names: tuple[str, str] = ("weighted", "unweighted"),
) -> RankAgreement:
    """Compare two rankings of the systems that both have, from system → mean score.

    Higher must be better in both: negate a distance such as SHD.

    >>> print(rank_agreement({"s": 3, "t": 2, "u": 1}, {"s": 2, "t": 3, "u": 1}))
    | weighted | unweighted | 3 | 0.500 | 1.000 | 0.333 | 1.000 | s 1→2, t 2→1 |
    """
    both = [system for system in first if system in second]
    one, two = {s: first[s] for s in both}, {s: second[s] for s in both}
    before, after = places(one), places(two)
    x, y = list(one.values()), list(two.values())
    moves = (Move(s, before[s], after[s]) for s in both if before[s] != after[s])
    return RankAgreement(
        *names, spearman(x, y), kendall(x, y), tuple(sorted(moves, key=lambda move: move.before))
    )


def rank_agreements(by_score: Mapping[str, Mapping[str, float]]) -> list[RankAgreement]:
    """Compare every two scores, from the score's name → system → mean.

    Names such as weighted, unweighted and deterministic.
    """
    return [rank_agreement(by_score[a], by_score[b], (a, b)) for a, b in combinations(by_score, 2)]
