"""Fits of the frequency's equation, and Bayes without an experiment: what guessers compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np

from whybench.causal.graph import Graph
from whybench.causal.seeds import Stream
from whybench.families.causalab.agents.strategies import AgentState
from whybench.families.causalab.hypothesis import Edge
from whybench.families.causalab.proof.equations import Array
from whybench.families.causalab.world.crystals import HIGHEST
from whybench.families.causalab.world.generate import (
    CAUSES,
    REAL_FREQUENCY_BASES,
    REAL_FREQUENCY_WEIGHTS,
    REAL_WEIGHTS,
)
from whybench.families.causalab.world.topology import draw
from whybench.families.causalab.world.world import FREQUENCY, View

Answer = tuple[float, frozenset[Edge]]
"""A frequency and a graph."""
Think = Callable[[AgentState], Answer]

GRAPHS = 1000
"""Graphs over which `bayes0` averages."""
DRAWS = 300
"""Draws of the weights of one equation."""
GRID = 40_000
"""Most combinations of weights that `grid_fit` tries."""


def shown(state: AgentState) -> Array:
    """Return the readings of the reactor's crystal, or zeros before it is open."""
    return np.array(state.shown or (0.0,) * state.view.k)


def window(values: Array, weights: Array, width: float) -> float:
    """Return the middle of the window of this width that holds the most weight."""
    if not len(values):
        return 0.0
    order = np.argsort(values)
    values, total = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    ends = np.searchsorted(values, values + width, side="left")
    best = int(np.argmax(total[ends] - total[: len(values)]))
    return float((values[best] + values[ends[best] - 1]) / 2)


def width(view: View) -> float:
    """Return the width of the window in which a prediction counts as right."""
    return 2 * (view.tolerance or 0.01)


def along(order: Sequence[int], edges: int | None = None) -> frozenset[Edge]:
    """Return the edges into the frequency, then those along an order, nearest ranks first."""
    found = [(v, FREQUENCY) for v in order]
    near = sorted(combinations(range(len(order)), 2), key=lambda ij: (ij[1] - ij[0], ij))
    found += [(order[i], order[j]) for i, j in near]
    return frozenset(found[:edges])


def f1(truth: frozenset[Edge], said: frozenset[Edge]) -> float:
    """Return the F1 of the edges said."""
    return 2 * len(truth & said) / max(1, len(truth) + len(said))


def visible(state: AgentState) -> tuple[Array, Array]:
    """Return readings as rows, the reactor's last, and the frequencies that were read."""
    rows = np.array([r.values for r in state.readings])
    return np.vstack([rows[:, 1:], shown(state)[1:]]), rows[:, 0]


def greedy(k: int, worth: dict[Edge, float], cut: float) -> frozenset[Edge]:
    """Return edges of high worth, the best first, without cycles."""
    kept: list[Edge] = []
    for edge in sorted(worth, key=lambda e: (-worth[e], e)):
        if worth[edge] >= cut and Graph.from_edges(k, [*kept, edge]).is_acyclic():
            kept.append(edge)
    return frozenset(kept)


def least_squares(state: AgentState) -> Answer:
    """Return the shortest solution of the frequency's equation."""
    rows, frequencies = visible(state)
    left = rows[:-1] - rows[0]
    weights = np.linalg.pinv(left) @ (frequencies - frequencies[0])
    value = frequencies[0] + float((rows[-1] - rows[0]) @ weights)
    solid = [v for v in range(1, state.view.k) if abs(weights[v - 1]) > 1e-3]
    return value, frozenset((v, FREQUENCY) for v in solid)


def grid_fit(state: AgentState) -> Answer:
    """Return the commonest prediction of all weights on the coarsest grid that fits."""
    rows, frequencies = visible(state)
    n = rows.shape[1]
    order = [v + 1 for v in np.argsort(np.abs(rows).sum(axis=0))]
    for grid in _grids(n):
        table = _combinations(grid, n)
        base = frequencies[None, :] - table @ rows[:-1].T
        slack = 0.011 * (1 + np.abs(table).sum(axis=1))
        fits = np.abs(base - base[:, :1]).max(axis=1) <= slack
        if fits.any():
            said = base[fits, 0] + table[fits] @ rows[-1]
            prior = 0.5 ** np.count_nonzero(table[fits], axis=1)
            value = window(said, prior, width(state.view))
            near = np.abs(said - value) <= width(state.view) / 2
            used = (table[fits][near] != 0).mean(axis=0) >= 0.5
            into = {(v + 1, FREQUENCY) for v in np.flatnonzero(used).tolist()}
            return value, frozenset(into | {e for e in along(order) if e[1]})
    return float(frequencies.mean()), along(order)


@cache
def _grids(n: int) -> tuple[tuple[float, ...], ...]:
    """Return grids from coarse to fine, as far as all combinations can be tried."""
    grids = [
        tuple(float(x) for x in range(4)),
        *(
            tuple(
                sorted(
                    {round(s * i * step, 4) for i in range(round(3 / step) + 1) for s in (1, -1)}
                )
            )
            for step in (1.0, 0.5, 0.25, 0.1)
        ),
    ]
    return tuple(grid for grid in grids if len(grid) ** n <= GRID)


@lru_cache(maxsize=16)
def _combinations(grid: tuple[float, ...], n: int) -> Array:
    return np.array(list(product(grid, repeat=n)))


def sparse(state: AgentState) -> Answer:
    """Return the commonest prediction of the fewest causes that fit with weights in range."""
    rows, frequencies = visible(state)
    left, right = rows[1:-1] - rows[0], frequencies[1:] - frequencies[0]
    low, high = REAL_FREQUENCY_WEIGHTS
    n = rows.shape[1]
    said: list[float] = []
    found: list[tuple[int, ...]] = []
    for causes in (c for q in range(1, len(right) + 1) for c in combinations(range(n), q)):
        part = left[:, causes]
        weights = np.linalg.pinv(part) @ right
        slack = 0.01 * (1 + np.abs(weights).sum())
        sized = ((np.abs(weights) >= low - 0.01) & (np.abs(weights) <= high + 0.01)).all()
        if sized and (np.abs(part @ weights - right) <= slack).all():
            said.append(frequencies[0] + float((rows[-1] - rows[0])[list(causes)] @ weights))
            found.append(causes)
    value = window(np.array(said), np.ones(len(said)), width(state.view))
    order = [v + 1 for v in np.argsort(np.abs(rows).sum(axis=0))]
    into = {(v + 1, FREQUENCY) for v in range(n)}
    if found:
        into = {
            (v + 1, FREQUENCY)
            for v in min(zip(said, found, strict=True), key=lambda p: abs(p[0] - value))[1]
        }
    return value, frozenset(into | {e for e in along(order) if e[1]})


# Bayes without an experiment.


@lru_cache(maxsize=16)
def _prior(k: int) -> tuple[tuple[int, ...], ...]:
    """Return the parents of every node in graphs of the generator, names permuted."""
    stream = Stream("causalab", "bayes0", k)
    found = []
    for _ in range(GRAPHS):
        names = [FREQUENCY, *stream.shuffled(range(1, k))]
        parents = [0] * k
        for a, b in draw(k, stream, CAUSES).edges:
            parents[names[b]] |= 1 << names[a]
        found.append(tuple(parents))
    return tuple(found)


@lru_cache(maxsize=16)
def _prior_edges(k: int) -> tuple[frozenset[Edge], ...]:
    return tuple(
        frozenset((p, v) for v, parents in enumerate(each) for p in _members(parents))
        for each in _prior(k)
    )


@cache
def _uniform(count: int, bounds: tuple[float, float]) -> Array:
    """Return draws of weights of both signs, the same in every process."""
    draws = np.random.default_rng(7).uniform(-1, 1, (DRAWS, count))
    low, high = bounds
    found: Array = np.sign(draws) * (low + (high - low) * np.abs(draws))
    return found


def bayes0(state: AgentState) -> Answer:
    """Average over graphs and weights of the generator, given the readings."""
    view = state.view
    rows, frequencies = visible(state)
    k = view.k
    own: dict[tuple[int, int], float] = {}
    beyond: dict[int, tuple[float, Array, Array]] = {}
    weights = np.zeros(GRAPHS)
    graphs = _prior(k)
    for i, parents in enumerate(graphs):
        total = 1.0
        for v in range(1, k):
            key = v, parents[v]
            if key not in own:
                own[key] = _property(rows, v, parents[v])
            total *= own[key]
        if total and parents[0] not in beyond:
            beyond[parents[0]] = _frequency(rows, frequencies, parents[0])
        weights[i] = total * beyond[parents[0]][0] if total else 0.0
    if not weights.sum():
        weights[:] = 1.0
    weights /= weights.sum()
    causes: dict[int, float] = {}
    for parents, weight in zip(graphs, weights, strict=True):
        if weight:
            causes[parents[0]] = causes.get(parents[0], 0.0) + float(weight)
    said = [(beyond[c][1], beyond[c][2] * w) for c, w in causes.items() if c in beyond]
    values = np.concatenate([np.zeros(0), *(a for a, _ in said)])
    masses = np.concatenate([np.zeros(0), *(b for _, b in said)])
    value = window(values, masses, width(view)) if len(values) else float(frequencies.mean())
    return value, _best_graph(k, weights)


def _members(parents: int) -> list[int]:
    return [v for v in range(parents.bit_length()) if parents >> v & 1]


def _property(rows: Array, v: int, parents: int) -> float:
    """Return the chance of v's readings: its bases are uniform."""
    causes = _members(parents)
    base = (
        rows[:, v - 1][None, :]
        - _uniform(len(causes), REAL_WEIGHTS) @ rows[:, [p - 1 for p in causes]].T
    )
    inside = float(((base >= 0) & (base <= HIGHEST)).all(axis=1).mean())
    return inside / float(HIGHEST) ** len(rows)


def _frequency(rows: Array, frequencies: Array, parents: int) -> tuple[float, Array, Array]:
    """Return the chance of the frequencies, and predictions with their weights.

    With two readings, one weight follows from the others.
    """
    causes = [p - 1 for p in _members(parents)]
    here, reactor = rows[:-1][:, causes], rows[-1][causes]
    table = _uniform(len(causes), REAL_FREQUENCY_WEIGHTS).copy()
    density = np.ones(len(table))
    if len(frequencies) > 1:
        step = here[1] - here[0]
        last = int(np.abs(step).argmax())
        rest = table @ step - table[:, last] * step[last]
        table[:, last] = (frequencies[1] - frequencies[0] - rest) / (step[last] or 1e-9)
        size = np.abs(table[:, last])
        low, high = REAL_FREQUENCY_WEIGHTS
        density = ((size >= low) & (size <= high)) / (2 * (high - low) * abs(step[last] or 1e-9))
    base = frequencies[0] - table @ here[0]
    low, high = REAL_FREQUENCY_BASES
    density = density * ((base >= low) & (base <= high)) / (high - low)
    kept = density > 0
    total = float(density.mean())
    said = (base + table @ reactor)[kept]
    return total, said, density[kept] / max(density[kept].sum(), 1e-300)


def _best_graph(k: int, weights: Array) -> frozenset[Edge]:
    """Return edges in the order of their probability, as many as give the greatest expected F1."""
    graphs = _prior_edges(k)
    worth: dict[Edge, float] = {}
    for edges, weight in zip(graphs, weights, strict=True):
        for edge in edges if weight else ():
            worth[edge] = worth.get(edge, 0.0) + float(weight)
    best, value = frozenset[Edge](), -1.0
    heavy = [(e, float(w)) for e, w in zip(graphs, weights, strict=True) if w > 1e-5]
    for cut in sorted(set(worth.values()), reverse=True):
        said = greedy(k, worth, cut)
        expected = sum(w * f1(edges, said) for edges, w in heavy)
        if expected > value:
            best, value = said, expected
    return best
