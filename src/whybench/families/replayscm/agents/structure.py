"""Propose parent sets with a structure learner, before any formula is fitted.

We use pgmpy (extra `structure`) where the paper uses bnlearn (Appendix H). It runs tabu search and
hill climbing over acyclic graphs, first on the rows themselves and then on bootstrap resamples. The
score is bnlearn's `mbde`: BDeu, where rows that clamp a variable do not count for its parents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import combinations
from math import inf, lgamma
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whybench.causal.graph import Graph, members, transpose
from whybench.causal.seeds import Stream
from whybench.families.replayscm.world.world import Rows

Search = Literal["tabu", "hill_climbing"]
Parents = tuple[int, ...]
"""A graph: for each variable, the set of its parents."""
Edge = tuple[str, str]
Step = tuple[str, Edge]
"""A step of pgmpy's search: "+", "-" or "flip", and the edge that is added, removed or turned."""

EQUIVALENT_SAMPLE_SIZE = 1.0
"""bnlearn's default `iss`. With 10, pgmpy's, graphs are denser and fewer parent sets true."""
TABU_LENGTH = 20
"""Steps that may not be undone. bnlearn's `tabu`, by default 10, counts graphs instead."""
PATIENCE = 50
"""Steps that tabu search takes without a new best graph. bnlearn's default for `max.tabu` is 10. It
stops more often before the search finds the parents of an exclusive or, where scores first fall."""
ITERATIONS = {"tabu": 4_000, "hill_climbing": 5_000}
"""Most steps of a search: the paper's last stage (Table H.1). `PATIENCE` ends most much earlier."""
REPLICATES = 96
"""Bootstrap resamples: the paper's last stage (Table H.1)."""

_PLACES = 9
"""Decimals of a score that count, so that rounding errors break no ties."""


class LocalScores:
    """How well a set of parents explains a variable: log BDeu, each computed once.

    A row counts for a variable only where the variable was free: Cooper and Yoo, *Causal discovery
    from a mixture of experimental and observational data*, UAI 1999.

    >>> scores = LocalScores(Rows(4, (0b0101, 0b0101), (0b1111, 0b1111)))
    >>> scores.of(1, parents=0b01) > scores.of(1, parents=0)
    True
    """

    __slots__ = ("_known", "_terms", "rows", "size")

    def __init__(self, rows: Rows, size: float = EQUIVALENT_SAMPLE_SIZE) -> None:
        if not size > 0:
            raise ValueError(f"the equivalent sample size is {size}: give a positive number")
        self.rows = rows
        self.size = size
        self._known: dict[tuple[int, int], float] = {}
        self._terms: dict[int, tuple[list[float], list[float]]] = {}

    def of(self, v: int, parents: int) -> float:
        """Return the score of variable v with a set of parents."""
        score = self._known.get((v, parents))
        if score is None:
            score = self._known[v, parents] = self._computed(v, parents)
        return score

    def total(self, parents: Sequence[int]) -> float:
        """Return the score of a graph."""
        return sum(self.of(v, mask) for v, mask in enumerate(parents))

    def _computed(self, v: int, parents: int) -> float:
        cells = [self.rows.free[v]]
        for p in members(parents):
            column = self.rows.columns[p]
            cells = [part for cell in cells for part in (cell & column, cell & ~column) if part]
        column = self.rows.columns[v]
        by_value, by_cell = self._log_gammas(parents.bit_count())
        score = 0.0
        for cell in cells:
            count, ones = cell.bit_count(), (cell & column).bit_count()
            score += by_value[ones] + by_value[count - ones] - by_cell[count]
        return score

    def _log_gammas(self, parent_count: int) -> tuple[list[float], list[float]]:
        """Return log Γ(N + a) − log Γ(a) by N, with the prior a of a value and that of a cell."""
        terms = self._terms.get(parent_count)
        if terms is None:
            a = self.size / 2**parent_count
            counts = range(self.rows.size + 1)
            terms = self._terms[parent_count] = (
                [lgamma(count + a / 2) - lgamma(a / 2) for count in counts],
                [lgamma(count + a) - lgamma(a) for count in counts],
            )
        return terms


def proposals(
    rows: Rows,
    admissible: Sequence[int],
    roots: int,
    k: int,
    stream: Stream | None = None,
    *,
    replicates: int = REPLICATES,
    scores: LocalScores | None = None,
) -> Iterator[Parents]:
    """Yield acyclic graphs of at most k parents each, the best guess first and none twice.

    It runs tabu search and then hill climbing on the rows themselves. With a stream it runs both
    on each of `replicates` bootstrap resamples too. Parents of v are in `admissible[v]`; roots have
    none. Pass the `scores` of the same rows to share them between calls. A variable that is not a
    root may have no parents, if no parent improves the score.
    """
    n = len(rows.columns)
    if len(admissible) != n:
        raise ValueError(f"{len(admissible)} admissible sets for {n} variables: give one for each")
    if k < 1:
        raise ValueError(f"no graph has {k} parents at most: give k ≥ 1")
    scores = _scores_of(rows, scores)
    allowed = [0 if roots >> v & 1 else admissible[v] & ~(1 << v) for v in range(n)]
    seen: set[Parents] = set()
    for sample in _samples(scores, stream, replicates):
        for search in ("tabu", "hill_climbing"):
            found = searched(sample, allowed, k, search)
            if found not in seen:
                seen.add(found)
                yield found


def _scores_of(rows: Rows, scores: LocalScores | None) -> LocalScores:
    if scores is not None and scores.rows != rows:
        raise ValueError("the scores are of other rows: make them with LocalScores(rows)")
    return scores or LocalScores(rows)


def _samples(scores: LocalScores, stream: Stream | None, replicates: int) -> Iterator[LocalScores]:
    yield scores
    if stream is not None:
        for _ in range(replicates):
            yield LocalScores(resampled(scores.rows, stream), scores.size)


def resampled(rows: Rows, stream: Stream) -> Rows:
    """Draw as many rows as there are, with replacement; each keeps what was clamped in it."""
    drawn = [stream.below(rows.size) for _ in range(rows.size)]
    n, width = len(rows.columns), -(-rows.size // 8)
    taken = []
    for column in (*rows.columns, *rows.free):
        packed = np.frombuffer(column.to_bytes(width, "little"), dtype=np.uint8)
        bits = np.unpackbits(packed, bitorder="little")[drawn]
        taken.append(int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little"))
    return Rows(rows.size, tuple(taken[:n]), tuple(taken[n:]))


def root_hypotheses(
    rows: Rows,
    n: int,
    root_count: int,
    *,
    k: int = 5,
    scores: LocalScores | None = None,
) -> list[int]:
    """Return every set of `root_count` variables, the likeliest roots first.

    The score of a set is the best score of all graphs in which exactly its variables have no
    parents and the others have 1 … k. One dynamic program finds the optimum for all sets: if the
    variables S are placed, the next takes its best parents within S (Silander and Myllymäki, *A
    simple approach for finding the globally optimal Bayesian network structure*, UAI 2006).
    """
    if n != len(rows.columns):
        raise ValueError(f"rows of {len(rows.columns)} variables, not {n}")
    if not 0 < root_count <= n:
        raise ValueError(f"{root_count} roots of {n} variables: give 1 … {n}")
    scores = _scores_of(rows, scores)
    best = [_best_within(scores, v, n, k) for v in range(n)]
    rest = [0.0] * (1 << n)  # what the variables outside S add at best, once S is placed
    for placed in range((1 << n) - 2, 0, -1):
        rest[placed] = max(
            best[v][placed] + rest[placed | 1 << v] for v in range(n) if not placed >> v & 1
        )
    ranked = []
    for chosen in combinations(range(n), root_count):
        roots = sum(1 << v for v in chosen)
        total = rest[roots] + sum(scores.of(v, 0) for v in chosen)
        ranked.append((-round(total, _PLACES), roots))
    return [roots for _, roots in sorted(ranked)]


def _best_within(scores: LocalScores, v: int, n: int, k: int) -> list[float]:
    """Return for each set S the best score of v with 1 … k parents in S."""
    best: NDArray[np.float64] = np.full(1 << n, -inf)
    others = [u for u in range(n) if u != v]
    for count in range(1, min(k, n - 1) + 1):
        for chosen in combinations(others, count):
            parents = sum(1 << u for u in chosen)
            best[parents] = scores.of(v, parents)
    for u in range(n):
        halves = best.reshape(-1, 2, 1 << u)
        np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
    values: list[float] = best.tolist()
    return values


def searched(scores: LocalScores, allowed: Sequence[int], k: int, search: Search) -> Parents:
    """Return the best graph that a search finds from the empty one, parents being allowed ones.

    With or without a tabu list, pgmpy stops at the first step that improves nothing. Tabu search
    (Glover, 1989) must continue downhill, so for it we remove that threshold and keep the best
    graph. Its tabu list may block the last steps to the optimum; hill climbing then takes them.
    """
    empty = (0,) * len(allowed)
    start = _climbed(scores, allowed, k, empty, "tabu") if search == "tabu" else empty
    return _climbed(scores, allowed, k, start, "hill_climbing")


def _climbed(
    scores: LocalScores, allowed: Sequence[int], k: int, start: Parents, search: Search
) -> Parents:
    library = _library()
    n = len(allowed)
    names = [f"x{v}" for v in range(n)]
    dag = library.DAG()
    dag.add_nodes_from(names)
    dag.add_edges_from((names[u], names[v]) for v in range(n) for u in members(start[v]))
    others = [(1 << n) - 1 & ~mask for mask in allowed]
    forbidden = {(names[u], names[v]) for v in range(n) for u in members(others[v])}
    climb = library.Climb(
        scoring_method=library.InterventionalBDeu(scores),
        start_dag=dag,
        expert_knowledge=library.ExpertKnowledge(forbidden_edges=forbidden),
        max_indegree=k,
        tabu_length=TABU_LENGTH if search == "tabu" else 0,
        epsilon=-inf if search == "tabu" else 1e-4,
        max_iter=ITERATIONS[search],
        return_type="dag",
        show_progress=False,
    )
    # The score holds the rows; of the table, pgmpy needs no more than its width.
    climb.fit(np.zeros((2, n), dtype=np.int8))
    best: Parents = climb.best
    return best


@cache
def _library() -> Any:
    """Load pgmpy, which takes seconds, and fit our score and our list of steps into it."""
    try:
        from pgmpy.base import DAG
        from pgmpy.causal_discovery import ExpertKnowledge, HillClimbSearch
        from pgmpy.structure_score import BaseStructureScore
    except ImportError as missing:
        raise RuntimeError(
            "structure learning needs pgmpy: pip install 'whybench[structure]'"
        ) from missing

    class InterventionalBDeu(BaseStructureScore):  # type: ignore[misc]  # pgmpy has no types
        """`LocalScores` behind pgmpy's interface; variable v is called xv, as pgmpy does."""

        def __init__(self, scores: LocalScores) -> None:
            self.scores = scores

        def local_score(self, variable: str, parents: tuple[str, ...]) -> float:
            return self.scores.of(int(variable[1:]), sum(1 << int(p[1:]) for p in parents))

    class Climb(HillClimbSearch):  # type: ignore[misc]  # pgmpy has no types
        """pgmpy's search; the legal steps are listed from bitmasks, and in a fixed order.

        pgmpy itself asks networkx for a path between every two variables at every step. It also
        iterates over a set of strings, so Python's hash seed would decide between equal steps.
        """

        best: Parents = ()
        best_total: float = -inf
        stale: int = 0

        def _legal_operations_dag(
            self,
            model: Any,
            scoring_method: InterventionalBDeu,
            tabu_list: Collection[Step],
            max_indegree: int,
            forbidden_edges: Collection[Edge],
            required_edges: Collection[Edge],
        ) -> Iterator[tuple[Step, float]]:
            names: list[str] = self.variables_
            at = {name: v for v, name in enumerate(names)}
            parents = tuple(sum(1 << at[p] for p in model.pred[name]) for name in names)
            if not self._goes_on(parents, scoring_method.scores.total(parents)):
                return
            allowed = [(1 << len(names)) - 1] * len(names)
            for a, b in forbidden_edges:
                allowed[at[b]] &= ~(1 << at[a])
            tabu = {*tabu_list, *(("flip", (b, a)) for kind, (a, b) in tabu_list if kind == "flip")}
            for kind, u, v, gain in _steps(scoring_method.scores, parents, allowed, max_indegree):
                edge = names[u], names[v]
                if (kind, edge) not in tabu and (kind == "+" or edge not in required_edges):
                    yield (kind, edge), gain

        def _goes_on(self, parents: Parents, total: float) -> bool:
            if total > self.best_total + 10.0**-_PLACES:
                self.best, self.best_total, self.stale = parents, total, 0
            else:
                self.stale += 1
            return self.stale < PATIENCE

    return SimpleNamespace(
        DAG=DAG,
        ExpertKnowledge=ExpertKnowledge,
        InterventionalBDeu=InterventionalBDeu,
        Climb=Climb,
    )


def _steps(
    scores: LocalScores, parents: Parents, allowed: Sequence[int], k: int
) -> Iterator[tuple[str, int, int, float]]:
    """Yield each way to add, remove or turn one edge u → v without a cycle, and the gain."""
    n, of = len(parents), scores.of
    children = transpose(parents)
    below = Graph(children).reach()
    now = [of(v, mask) for v, mask in enumerate(parents)]
    room = [mask.bit_count() < k for mask in parents]
    edges = [(u, v) for u in range(n) for v in members(children[u])]
    for u in range(n):
        for v in range(n):
            joined = u == v or (parents[v] >> u | below[v] >> u) & 1
            if not joined and room[v] and allowed[v] >> u & 1:
                yield "+", u, v, round(of(v, parents[v] | 1 << u) - now[v], _PLACES)
    for u, v in edges:
        yield "-", u, v, round(of(v, parents[v] ^ 1 << u) - now[v], _PLACES)
    for u, v in edges:
        detour = any(below[c] >> v & 1 for c in members(children[u] & ~(1 << v)))
        if not detour and room[u] and allowed[u] >> v & 1:
            gain = of(u, parents[u] | 1 << v) - now[u] + of(v, parents[v] ^ 1 << u) - now[v]
            yield "flip", u, v, round(gain, _PLACES)
