"""Guessers for audits: they predict without the experiments that force the law.

They know how systems are drawn, or learn it from a suite of a training seed. Guessers without an
experiment see the given readings and the reactor's crystal.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whybench.episode.episode import Moves
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.episode.instance import Instance
from whybench.families.causalab.agents.fits import (
    Answer,
    Think,
    along,
    bayes0,
    f1,
    greedy,
    grid_fit,
    least_squares,
    sparse,
    visible,
    width,
    window,
)
from whybench.families.causalab.agents.strategies import AgentState
from whybench.families.causalab.hypothesis import Edge, Guess
from whybench.families.causalab.proof.equations import Array
from whybench.families.causalab.world.crystals import HIGHEST
from whybench.families.causalab.world.world import FREQUENCY, View, World


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


def _constant(suite: Suite, *, graph: bool) -> Player:
    """Return the frequency that is right most often in training, with or without a graph."""
    worlds = [_world(suite[i]) for i in range(len(suite))]
    targets = np.array([world.target for world in worlds])
    value = window(targets, np.ones(len(targets)), width(worlds[0].view))
    sizes = range(worlds[0].view.k ** 2)
    truths = [frozenset(world.law.graph.edges()) for world in worlds]

    def worth(size: int) -> float:
        said = [along(range(1, w.view.k), size) for w in worlds]
        return sum(f1(a, b) for a, b in zip(truths, said, strict=True))

    most = max(sizes, key=worth) if graph else 0
    return _player(lambda state: (value, along(range(1, state.view.k), most)))


def _features(state: AgentState) -> Array:
    """Return figures that do not depend on names."""
    rows, frequencies = visible(state)
    order = np.argsort(np.abs(rows).sum(axis=0))
    return np.concatenate([[1.0], frequencies, rows[:, order].ravel()])


def _pair_features(state: AgentState, a: int, b: int) -> Array:
    rows, frequencies = visible(state)
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
        return greedy(k, worth, cut)

    cuts = [c / 20 for c in range(2, 16)]
    truths = [frozenset(world.law.graph.edges()) for world in worlds]
    cut = max(
        cuts, key=lambda c: sum(f1(t, graph(s, c)) for t, s in zip(truths, states, strict=True))
    )

    def think(state: AgentState) -> Answer:
        own = _features(state) if same else np.ones(1)
        fits = len(own) == len(weights)
        return (float(own @ weights) if fits else 0.0), graph(state, cut)

    return _player(think)


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
    rows, _ = visible(state)
    return [FREQUENCY, *(1 + int(v) for v in np.argsort(np.abs(rows).sum(axis=0)))]


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
        "undetermined",
        "predicts the mean frequency and marks every edge as undetermined",
        0,
        unlearned("undetermined"),
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
    Guesser(
        "glance",
        "fits the frequency to the given readings and judges other edges by what moved",
        0,
        unlearned("glance"),
        counts=False,
        reason="its prediction is that of `regression0`; it is a floor for `edge_verdicts`",
    ),
)
"""The guessers of CausaLab."""
