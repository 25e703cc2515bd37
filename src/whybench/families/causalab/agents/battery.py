"""Guessers for audits: they predict without the experiments that force the law.

They know how systems are drawn, or learn it from a suite of a training seed. Guessers without an
experiment see the given readings and the reactor's crystal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np

from whybench.causal.graph import Graph
from whybench.causal.seeds import Stream
from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.episode.instance import Instance
from whybench.families.causalab.agents.strategies import AgentState
from whybench.families.causalab.hypothesis import Edge, Guess
from whybench.families.causalab.proof.equations import Array
from whybench.families.causalab.world.generate import (
    CAUSES,
    HIGHEST,
    REAL_FREQUENCY_BASES,
    REAL_FREQUENCY_WEIGHTS,
    REAL_WEIGHTS,
)
from whybench.families.causalab.world.topology import draw
from whybench.families.causalab.world.world import FREQUENCY, View, World

Answer = tuple[float, frozenset[Edge]]
"""A frequency and a graph."""
Think = Callable[[AgentState], Answer]

GRAPHS = 1000
"""Graphs over which `bayes0` averages."""
DRAWS = 300
"""Draws of the weights of one equation."""
GRID = 40_000
"""Most combinations of weights that `grid_fit` tries."""


def _world(instance: Instance) -> World:
    from whybench.families.causalab import FAMILY  # the family imports its agents

    return FAMILY.world(instance)


def _player(think: Think, settings: int = 0) -> Player:
    """Return a player that sets some properties to the far end, opens the reactor and answers."""

    def moves(instance: Instance) -> Moves:
        state = AgentState(_world(instance).view)
        for v in state.view.targets()[: min(settings, state.left)]:
            now = state.readings[-1].values[v]
            yield from state.intervene(v, max(0.0, _top(state.view), key=lambda x: abs(x - now)))
        yield from state.open()
        frequency, edges = think(state)
        causes = sorted(a for a, b in edges if b == FREQUENCY)
        terms = tuple((p, 1.0) for p in causes)
        square = terms if state.view.quadratic else ()
        yield from state.submit(float(frequency), Guess(edges, 0.0, terms, square))

    return moves


def _top(view: View) -> float:
    return min(view.limit or 100.0, 100.0)


def _shown(state: AgentState) -> Array:
    return np.array(state.shown or (0.0,) * state.view.k)


def _window(values: Array, weights: Array, width: float) -> float:
    """Return the middle of the window of this width that holds the most weight."""
    if not len(values):
        return 0.0
    order = np.argsort(values)
    values, total = values[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    ends = np.searchsorted(values, values + width, side="left")
    best = int(np.argmax(total[ends] - total[: len(values)]))
    return float((values[best] + values[ends[best] - 1]) / 2)


def _width(view: View) -> float:
    return 2 * (view.tolerance or 0.01)


def _along(order: Sequence[int], edges: int | None = None) -> frozenset[Edge]:
    """Return the edges into the frequency, then those along an order, nearest ranks first."""
    found = [(v, FREQUENCY) for v in order]
    near = sorted(combinations(range(len(order)), 2), key=lambda ij: (ij[1] - ij[0], ij))
    found += [(order[i], order[j]) for i, j in near]
    return frozenset(found[:edges])


# Without a reading.


def _constant(suite: Suite, *, graph: bool) -> Player:
    """Return the frequency that is right most often in training, with or without a graph."""
    worlds = [_world(suite[i]) for i in range(len(suite))]
    targets = np.array([world.target for world in worlds])
    value = _window(targets, np.ones(len(targets)), _width(worlds[0].view))
    sizes = range(worlds[0].view.k ** 2)
    truths = [frozenset(world.law.graph.edges()) for world in worlds]

    def worth(size: int) -> float:
        said = [_along(range(1, w.view.k), size) for w in worlds]
        return sum(_f1(a, b) for a, b in zip(truths, said, strict=True))

    most = max(sizes, key=worth) if graph else 0
    return _player(lambda state: (value, _along(range(1, state.view.k), most)))


def _f1(truth: frozenset[Edge], said: frozenset[Edge]) -> float:
    return 2 * len(truth & said) / max(1, len(truth) + len(said))


# Learned from what is visible.


def _visible(state: AgentState) -> tuple[Array, Array]:
    """Return readings as rows, the reactor's last, and the frequencies that were read."""
    rows = np.array([r.values for r in state.readings])
    return np.vstack([rows[:, 1:], _shown(state)[1:]]), rows[:, 0]


def _features(state: AgentState) -> Array:
    """Return figures that do not depend on names."""
    rows, frequencies = _visible(state)
    order = np.argsort(np.abs(rows).sum(axis=0))
    return np.concatenate([[1.0], frequencies, rows[:, order].ravel()])


def _pair_features(state: AgentState, a: int, b: int) -> Array:
    rows, frequencies = _visible(state)
    x, y = rows[:, a - 1], (rows[:-1, b - 1] if b else frequencies)
    size = np.abs(rows).mean(axis=0)
    outside = ((y < 0) | (y > HIGHEST)).mean()
    own = ((x < 0) | (x > HIGHEST)).mean()
    rank = (size < size[a - 1]).mean(), (size < size[b - 1]).mean() if b else 1.0
    moved = np.sign((x[1] - x[0]) * (y[1] - y[0])) if len(y) > 1 else 0.0
    return np.array([1.0, not b, outside, own, *rank, *(np.tanh([x.mean() / 100])), moved])


def _opened(world: World) -> AgentState:
    return AgentState(world.view, shown=world.shown())


def _ridge(left: Array, right: Array, strength: float = 1.0) -> Array:
    scale = np.abs(left).max(axis=0) + 1e-9
    part = left / scale
    found: Array = np.linalg.solve(part.T @ part + strength * np.eye(part.shape[1]), part.T @ right)
    scaled: Array = found / scale
    return scaled


def lookup0(suite: Suite) -> Player:
    """Fit the frequency, and each edge, to everything visible before the first action."""
    worlds = [_world(suite[i]) for i in range(len(suite))]
    states = [_opened(world) for world in worlds]
    widths = {len(_features(state)) for state in states}
    same = len(widths) == 1
    weights = _ridge(
        np.array([_features(state) if same else [1.0] for state in states]),
        np.array([world.target for world in worlds]),
    )
    pairs = [
        (_pair_features(s, a, b), (a, b) in w.law.graph.edges())
        for s, w in zip(states, worlds, strict=True)
        for a in range(1, s.view.k)
        for b in range(s.view.k)
        if a != b
    ]
    edge = _ridge(np.array([x for x, _ in pairs]), np.array([float(y) for _, y in pairs]))

    def graph(state: AgentState, cut: float) -> frozenset[Edge]:
        k = state.view.k
        worth = {
            (a, b): float(_pair_features(state, a, b) @ edge)
            for a in range(1, k)
            for b in range(k)
            if a != b
        }
        return _greedy(k, worth, cut)

    cuts = [c / 20 for c in range(2, 16)]
    truths = [frozenset(world.law.graph.edges()) for world in worlds]
    cut = max(
        cuts, key=lambda c: sum(_f1(t, graph(s, c)) for t, s in zip(truths, states, strict=True))
    )

    def think(state: AgentState) -> Answer:
        own = _features(state) if same else np.ones(1)
        fits = len(own) == len(weights)
        return (float(own @ weights) if fits else 0.0), graph(state, cut)

    return _player(think)


def _greedy(k: int, worth: dict[Edge, float], cut: float) -> frozenset[Edge]:
    """Return edges of high worth, the best first, without cycles."""
    kept: list[Edge] = []
    for edge in sorted(worth, key=lambda e: (-worth[e], e)):
        if worth[edge] >= cut and Graph.from_edges(k, [*kept, edge]).is_acyclic():
            kept.append(edge)
    return frozenset(kept)


def memory(suite: Suite) -> Player:
    """Answer as in the training system whose readings are nearest, properties sorted by size."""
    known = []
    for i in range(len(suite)):
        world = _world(suite[i])
        known.append((_features(_opened(world)), _ranked(_opened(world)), world))

    def think(state: AgentState) -> Answer:
        own, order = _features(state), _ranked(state)
        alike = [item for item in known if item[0].shape == own.shape]
        if not alike:
            return 0.0, frozenset()
        _, theirs, world = min(alike, key=lambda item: float(np.abs(item[0] - own).sum()))
        named = dict(zip(theirs, order, strict=True))
        return world.target, frozenset((named[a], named[b]) for a, b in world.law.graph.edges())

    return _player(think)


def _ranked(state: AgentState) -> list[int]:
    rows, _ = _visible(state)
    return [FREQUENCY, *(1 + int(v) for v in np.argsort(np.abs(rows).sum(axis=0)))]


# Fits of the frequency.


def least_squares(state: AgentState) -> Answer:
    """Return the shortest solution of the frequency's equation."""
    rows, frequencies = _visible(state)
    left = np.hstack([rows[:-1] - rows[0], np.zeros((len(frequencies), 0))])
    weights = np.linalg.pinv(left) @ (frequencies - frequencies[0])
    value = frequencies[0] + float((rows[-1] - rows[0]) @ weights)
    solid = [v for v in range(1, state.view.k) if abs(weights[v - 1]) > 1e-3]
    return value, frozenset((v, FREQUENCY) for v in solid)


def grid_fit(state: AgentState) -> Answer:
    """Return the commonest prediction of all weights on the coarsest grid that fits."""
    rows, frequencies = _visible(state)
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
            value = _window(said, prior, _width(state.view))
            near = np.abs(said - value) <= _width(state.view) / 2
            used = (table[fits][near] != 0).mean(axis=0) >= 0.5
            into = {(v + 1, FREQUENCY) for v in np.flatnonzero(used).tolist()}
            return value, frozenset(into | {e for e in _along(order) if e[1]})
    return float(frequencies.mean()), _along(order)


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
    rows, frequencies = _visible(state)
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
    value = _window(np.array(said), np.ones(len(said)), _width(state.view))
    order = [v + 1 for v in np.argsort(np.abs(rows).sum(axis=0))]
    into = {(v + 1, FREQUENCY) for v in range(n)}
    if found:
        into = {
            (v + 1, FREQUENCY)
            for v in min(zip(said, found, strict=True), key=lambda p: abs(p[0] - value))[1]
        }
    return value, frozenset(into | {e for e in _along(order) if e[1]})


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
    rows, frequencies = _visible(state)
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
    value = _window(values, masses, _width(view)) if len(values) else float(frequencies.mean())
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
        said = _greedy(k, worth, cut)
        expected = sum(w * _f1(edges, said) for edges, w in heavy)
        if expected > value:
            best, value = said, expected
    return best


def _fixed(think: Think, settings: int = 0) -> Callable[[Suite], Player]:
    """Return the `fit` of a guesser that learns nothing."""
    return lambda _: _player(think, settings)


BATTERY = (
    Guesser(
        "null", "predicts the mean of the given frequencies; claims no edges", 0, unlearned("null")
    ),
    Guesser(
        "constant",
        "predicts the commonest frequency of training",
        0,
        lambda suite: _constant(suite, graph=False),
    ),
    Guesser(
        "prior_only",
        "predicts the commonest frequency and claims the best fixed graph",
        0,
        lambda suite: _constant(suite, graph=True),
    ),
    Guesser(
        "lookup0", "learned regression on all that is visible before the first action", 0, lookup0
    ),
    Guesser("memory", "answers as in the most similar training system", 0, memory),
    Guesser(
        "by_size", "claims every edge along the order of mean readings", 0, unlearned("by_size")
    ),
    Guesser(
        "regression0",
        "shortest solution of the frequency's equation, without experiments",
        0,
        _fixed(least_squares),
    ),
    Guesser(
        "grid_fit", "weights on the coarsest grid that fits the given readings", 0, _fixed(grid_fit)
    ),
    Guesser("sparse0", "fewest causes that fit the given readings", 0, _fixed(sparse)),
    Guesser(
        "bayes0",
        "Bayes over the generator's graphs and weights, without experiments",
        0,
        _fixed(bayes0),
    ),
    Guesser(
        "regression1",
        "shortest solution of the frequency's equation after one setting",
        1,
        _fixed(least_squares, 1),
    ),
    Guesser("sparse1", "fewest causes that fit after one setting", 1, _fixed(sparse, 1)),
    Guesser(
        "sparse2",
        "fewest causes that fit after two settings",
        2,
        _fixed(sparse, 2),
        counts=False,
        reason="an experimenter: it makes two of the three or more settings that the law needs, "
        "and bets on few causes for the rest. It predicts up to half of `main_5`; none of these "
        "predictions is understood",
    ),
    Guesser(
        "regression",
        "sets properties until the frequency is forced",
        None,
        unlearned("regression"),
        counts=False,
        reason="it experiments until its prediction is forced, so its predictions are understood",
    ),
)
"""The guessers of CausaLab."""
