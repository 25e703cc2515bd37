"""The classical baseline: a structure learner proposes parents, exact fitting finds formulas."""

from __future__ import annotations

from itertools import combinations

from whybench.causal.graph import members
from whybench.causal.seeds import Stream
from whybench.families.replayscm.agents.structure import LocalScores, proposals, root_hypotheses
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.fit import fitted
from whybench.families.replayscm.world.world import Scm, ordered

ROOT_SETS = 12
"""Root sets that are tried when the roots are hidden."""

PRIORS = (1.0, 10.0)
"""Equivalent sample sizes. The larger gives denser graphs; it is tried if the first one fails."""


def structured(evidence: Evidence, stream: Stream | None, replicates: int = 4) -> Scm | None:
    """Return the first SCM that fits with the proposed parents, or almost; None if none does.

    It first tries whole graphs, in the order in which the learner proposes them. Then, for
    variables whose proposed parents do not fit, it tries any set of parents from the same graphs.
    """
    told = evidence.told
    hypotheses = (
        [told.roots]
        if told.roots is not None
        else root_hypotheses(evidence.rows, told.n, told.root_count, k=told.k)[:ROOT_SETS]
    )
    for size in PRIORS:
        scores = LocalScores(evidence.rows, size)
        pooled: dict[int, list[dict[int, None]]] = {}
        for roots in hypotheses:
            pooled[roots] = [{} for _ in range(told.n)]
            for graph in proposals(
                evidence.rows,
                told.admissible,
                roots,
                told.k,
                stream,
                replicates=replicates,
                scores=scores,
            ):
                for v, parents in enumerate(graph):
                    pooled[roots][v][parents] = None
                scm = _fit(evidence, roots, graph)
                if scm is not None:
                    return scm
        for roots in hypotheses:
            scm = _mended(evidence, roots, pooled[roots])
            if scm is not None:
                return scm
    return None


def audited(evidence: Evidence, stream: Stream, seeds: int) -> list[Scm]:
    """Return every SCM that fits with parents as proposed on the rows and on `seeds` resamples."""
    told = evidence.told
    if told.roots is None:
        raise ValueError("the roots must be known")
    found: dict[Scm, None] = {}
    for graph in proposals(
        evidence.rows, told.admissible, told.roots, told.k, stream, replicates=seeds
    ):
        scm = _fit(evidence, told.roots, graph)
        if scm is not None:
            found[scm] = None
    return list(found)


def _fit(evidence: Evidence, roots: int, graph: tuple[int, ...]) -> Scm | None:
    """Fit the smallest formulas to a graph's parents."""
    told = evidence.told
    tables = [0] * told.n
    for v in members(told.every & ~roots):
        patterns = evidence.patterns[v]
        if patterns is None or graph[v] not in patterns.seen:
            return None
        tables[v] = fitted(patterns, graph[v])[0]
    return Scm(told.n, roots, tuple(tables))


def _mended(evidence: Evidence, roots: int, pooled: list[dict[int, None]]) -> Scm | None:
    """Place variables one by one, each with its first fitting parents among those placed.

    The candidates are the proposed sets, then all sets of k variables from their unions.
    """
    told = evidence.told
    tables, there = [0] * told.n, roots
    waiting = told.every & ~roots
    candidates = [_candidates(sets, told.k) for sets in pooled]
    moved = True
    while waiting and moved:
        moved = False
        for v in members(waiting):
            patterns = evidence.patterns[v]
            fits = (
                q
                for q in candidates[v]
                if patterns is not None and q in patterns.seen and not q & ~there
            )
            chosen = next(fits, None)
            if chosen is not None and patterns is not None:
                tables[v] = fitted(patterns, chosen)[0]
                there |= 1 << v
                waiting &= ~(1 << v)
                moved = True
    parents = Scm(told.n, roots, tuple(tables)).parents
    if waiting or ordered(parents, told.every & ~roots) is None:
        return None
    return Scm(told.n, roots, tuple(tables))


def _candidates(sets: dict[int, None], k: int) -> list[int]:
    union = 0
    for q in sets:
        union |= q
    wide = [
        sum(1 << v for v in chosen)
        for chosen in combinations(members(union), min(k, union.bit_count()))
    ]
    return [*sets, *wide]
