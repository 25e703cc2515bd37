"""What guessers share: features of pairs of variables, a regression, and answers from parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from whybench.causal.boolean import lifted, relabelled, render
from whybench.causal.graph import members
from whybench.episode.action import Action
from whybench.families.replayscm.agents.strategies import separated, submission
from whybench.families.replayscm.proof.fit import INPUTS
from whybench.families.replayscm.score import compared
from whybench.families.replayscm.world.generation.best_rules import Parents, acyclic, majority
from whybench.families.replayscm.world.minimal_formulas import tree
from whybench.families.replayscm.world.world import Rows, Table, View

THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
"""Chances from which a reader takes a variable for a parent; the best is chosen in training."""

Floats = NDArray[np.float64]


# From parents to an answer.


def answered(view: View, texts: Sequence[str], roots: int) -> Action:
    """Return an answer; to a question for an alternative with experiment and witness."""
    if view.task == "alternative":
        return separated(view, tuple("" if roots >> v & 1 else t for v, t in enumerate(texts)))
    return submission(view, texts, roots)


def parity(view: View, parents: Parents, roots: int) -> Action:
    """Answer without a look at the rows: each variable is the `xor` of its parents."""
    called = [[view.names[u] for u in members(mask)] for mask in parents]
    texts = [f"(xor {' '.join(names)})" if len(names) > 1 else "".join(names) for names in called]
    return answered(view, texts, roots)


def most_frequent(view: View, parents: Parents, roots: int) -> Action:
    """Answer with the value that each pattern of the parents shows most often."""
    rows = Rows.of(view.n, view.train)
    texts = [
        "" if roots >> v & 1 else rule(view, rows, v, tuple(members(parents[v])))
        for v in range(view.n)
    ]
    return answered(view, texts, roots)


def rule(view: View, rows: Rows, v: int, parents: Sequence[int]) -> str:
    """Return the formula that depends on all of the parents and errs least."""
    table, _ = majority(rows, v, parents)
    made = tree(lifted(table, range(len(parents)), INPUTS))
    return render(relabelled(made, [*parents, *[0] * INPUTS]), view.names)


# Learned readers.


def prior_features(view: View) -> Floats:
    """Return for each pair (variable, possible parent) what the disclosed structure says."""
    n, known = view.n, view.told.roots or 0
    at = {v: i for i, v in enumerate(view.order)}
    block = {v: i for i, members_of in enumerate(view.blocks) for v in members_of}
    found = np.zeros((n, n, 6))
    for v, u in product(range(n), repeat=2):
        gap = at.get(v, 0) - at.get(u, 0)
        found[v, u] = (
            known >> u & 1,
            gap,
            0 < gap <= view.told.k,
            block.get(v, 0) - block.get(u, 0),
            n,
            view.told.k,
        )
    return found


def target_features(view: View) -> Floats:
    """Add which variables are targets, how often together, and places; no value of any row."""
    n = view.n
    shown = {v: i for i, v in enumerate(view.display)}
    hit = np.array([[t.targets >> v & 1 for v in range(n)] for t in view.train], dtype=float)
    both, times, free = hit.T @ hit, hit.sum(axis=0), (1 - hit).sum(axis=0)
    found = np.zeros((n, n, 6))
    for v, u in product(range(n), repeat=2):
        alone = times[u] - both[u, v]
        found[v, u] = (alone / max(free[v], 1), times[u], times[v], both[u, v], shown[u], shown[v])
    return np.concatenate([prior_features(view), found], axis=2)


def all_features(view: View) -> Floats:
    """Add correlations: where the variable is free, where the parent is set, in the first world."""
    n = view.n
    parts = [_values(table) for table in view.train]
    found = np.zeros((n, n, 4))
    for v in range(n):
        free = [(t, a) for t, a in zip(view.train, parts, strict=True) if not t.targets >> v & 1]
        whole = np.concatenate([a for _, a in free])
        for u in range(n):
            put = [a for t, a in free if t.targets >> u & 1]
            set_to = np.concatenate(put) if put else whole[:0]
            within = [_correlation(a, u, v) for _, a in free]
            found[v, u] = (
                _correlation(whole, u, v),
                _correlation(set_to, u, v),
                within[0],
                max(within),
            )
    return np.concatenate([target_features(view), found], axis=2)


def _values(table: Table) -> Floats:
    return np.array(
        [[row >> v & 1 for v in range(len(table.columns))] for row in table.rows()], float
    )


def _correlation(values: Floats, u: int, v: int) -> float:
    if len(values) < 3:
        return 0.0
    a, b = values[:, u] - values[:, u].mean(), values[:, v] - values[:, v].mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return abs(float(a @ b)) / scale if scale else 0.0


@dataclass(frozen=True, slots=True)
class Reader:
    """A logistic regression from features of a pair to whether one is a parent of the other."""

    centre: Floats
    scale: Floats
    weights: Floats
    threshold: float

    @classmethod
    def fitted(cls, seen: Sequence[tuple[View, Floats, Sequence[int]]]) -> Reader:
        """Fit it to views with their features and true parents; the threshold suits F1 best."""
        rows, right = [], []
        for view, features, parents in seen:
            for v, u in _pairs(view):
                rows.append(features[v, u])
                right.append(parents[v] >> u & 1)
        values, wanted = np.array(rows), np.array(right, dtype=float)
        centre, scale = values.mean(axis=0), values.std(axis=0) + 1e-9
        inputs = np.column_stack([(values - centre) / scale, np.ones(len(values))])
        weights = np.zeros(inputs.shape[1])
        for _ in range(25):
            chance = 1 / (1 + np.exp(-inputs @ weights))
            slope = inputs.T @ (wanted - chance) - weights
            bend = (inputs * (chance * (1 - chance))[:, None]).T @ inputs + np.eye(len(weights))
            weights += np.linalg.solve(bend, slope)

        def quality(threshold: float) -> float:
            reader = cls(centre, scale, weights, threshold)
            return float(
                np.mean([compared(p, reader.read(v, f)[0])["parent_f1"] for v, f, p in seen])
            )

        return cls(centre, scale, weights, max(THRESHOLDS, key=quality))

    def read(self, view: View, features: Floats) -> tuple[Parents, int]:
        """Return likely parents without a cycle, and the roots."""
        inputs = (features - self.centre) / self.scale
        chance = 1 / (1 + np.exp(-(inputs @ self.weights[:-1] + self.weights[-1])))
        pairs = _pairs(view)
        roots = view.told.roots
        if roots is None:
            total = [sum(float(chance[v, u]) for w, u in pairs if w == v) for v in range(view.n)]
            least = sorted(range(view.n), key=lambda v: (total[v], v))[: view.told.root_count]
            roots = sum(1 << v for v in least)
        parents, most = [0] * view.n, min(view.told.k, INPUTS)
        for v, u in sorted(pairs, key=lambda pair: (-chance[pair], pair)):
            likely = chance[v, u] >= self.threshold and parents[v].bit_count() < most
            chosen = parents[v] | 1 << u
            if not roots >> v & 1 and (likely or not parents[v]) and acyclic(parents, v, chosen):
                parents[v] = chosen
        return parents, roots


def _pairs(view: View) -> list[tuple[int, int]]:
    """Return each variable that may have a mechanism, with each admissible parent."""
    own = members(view.told.every & ~(view.told.roots or 0))
    return [(v, u) for v in own for u in members(view.told.admissible[v])]
