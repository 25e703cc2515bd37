"""The battery: guessers without causal reasoning about the system in front of them.

Guessers without an experiment deploy the one batch that the rules require and ignore its result.
They submit a fixed design, a design remembered from a training seed, or what the records seem to
recommend. The others search: see `searchers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from whybench.causal.seeds import Stream
from whybench.episode.episode import Episode
from whybench.episode.family import Suite
from whybench.episode.guesser import Guesser, Player, unlearned
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Past, Row
from whybench.families.causalgame.agents.correlational import trend
from whybench.families.causalgame.agents.design_space import Encoded, Floats, Ints, Space
from whybench.families.causalgame.agents.records_model import NOT_MEASURED, RETURNED
from whybench.families.causalgame.agents.searchers import (
    built,
    coordinate,
    evolve,
    new,
    player,
    plays,
    retest,
    ridge,
    searches,
)
from whybench.families.causalgame.agents.strategies import Strategy
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.world import World

TRAINED = 200
"""Instances of the training seed that are learned from."""
REMEMBERED = 80
"""Those of them whose best designs are compared by `memory`."""
BINS = 4
"""Strata of a measured circumstance."""


def _submits(choose: Callable[[AgentState], Design]) -> Strategy:
    """Return the strategy that submits a design that it knows before it looks."""

    def strategy(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001
        design = choose(state)
        yield from state.deploy(design, 1)
        return design

    return strategy


def _evenly(state: AgentState) -> Design:
    """Give the same DEF to every component that a drone needs, and none to the others."""
    return built(Space(state.view), [*map(int, state.view.critical)])


# Learned from a training seed.


@lru_cache(maxsize=2)
def _trained(suite: Suite) -> tuple[tuple[World, Episode, Design], ...]:
    """Return worlds of the training seed, each with an open episode and its best design."""
    family, found = suite.family, []
    for instance in map(suite.row, range(TRAINED)):
        world: World = family.world(instance)
        best = family.truth(instance)["best_known"]
        design = AgentState(view(world)).read(best["design"], best["equipment"])
        found.append((world, family.open(instance), design))
    return tuple(found)


def _shape(told: View) -> tuple[object, ...]:
    """Return what must be equal for a design to be allowed in another system, by place."""
    sizes = tuple(len(choices) for _, choices in Space(told).levers)
    return len(told.components), told.def_range, told.total_def_budget, sizes


def _memory(suite: Suite) -> Player:
    """Remember, for each shape of system, the design that won the most fleets in training."""
    groups: dict[object, list[tuple[World, Encoded]]] = {}
    for world, _, design in _trained(suite)[:REMEMBERED]:
        space = Space(view(world))
        groups.setdefault(_shape(space.view), []).append((world, space.encode([design])))

    def worth(known: Encoded, group: Sequence[tuple[World, Encoded]]) -> tuple[int, float]:
        flown = [(w, w.final(Space(view(w)).decode(known, 0)).survival_rate) for w, _ in group]
        return sum(rate >= w.rules.threshold for w, rate in flown), sum(rate for _, rate in flown)

    best = {
        shape: max((known for _, known in group), key=lambda known: worth(known, group))
        for shape, group in groups.items()
    }

    def remembered(state: AgentState) -> Design:
        known = best.get(_shape(state.view))
        return state.default if known is None else Space(state.view).decode(known, 0)

    return player(suite, _submits(remembered))


# Readers of the records.

Marks: TypeAlias = tuple[Floats, list[Floats]]
"""A number for each component, and for each slot one number for each option, 0 (none) first."""
Judge: TypeAlias = Callable[[View, Past], Marks]


def _reads(judge: Judge) -> Strategy:
    """Return the strategy that reads the records and submits what a judge likes best."""

    def strategy(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001
        past = yield from state.history()
        defs, options = judge(state.view, past)
        space = Space(state.view)
        first = 1 if state.view.law else 0
        places = [first + int(worth[first:].argmax()) for worth in options]
        design = built(space, [*np.maximum(defs, 0.0), *places])
        yield from state.deploy(design, 1)
        return design

    return strategy


def _associations(told: View, past: Past, *, adjusted: bool) -> Marks:
    """Return z of each lever's association with survival, adjusted for circumstances or not."""
    flown = Space(told).encode([past.designs[str(row["design"])] for row in past.records])
    returned = np.array([row["status"] == RETURNED for row in past.records], dtype=np.float64)
    stratum = _strata(past.records, returned) if adjusted else np.zeros(len(returned), np.int64)

    def z(column: Ints) -> float:
        return trend(_within(column, stratum), _within(returned, stratum))

    sizes = [1 + len(choices) for _, choices in Space(told).levers]
    return np.array([z(column) for column in flown.defs.T]), [
        np.array([z(column == place) for place in range(size)])
        for column, size in zip(flown.options.T, sizes, strict=True)
    ]


def _within(values: Floats | Ints, stratum: Ints) -> NDArray[np.float64]:
    """Return differences from the mean of the stratum."""
    if not len(values):
        return np.zeros(0)
    size = np.maximum(np.bincount(stratum), 1)
    found: NDArray[np.float64] = values - (np.bincount(stratum, values) / size)[stratum]
    return found


def _strata(rows: Sequence[Row], returned: Floats) -> Ints:
    """Return the strata of the circumstance that tells most about survival."""
    best, found = -1.0, np.zeros(len(rows), dtype=np.int64)
    for name in sorted(set(rows[0]) - NOT_MEASURED) if rows else ():
        values = [row[name] for row in rows]
        if isinstance(values[0], str | bool):
            stratum = np.unique([str(value) for value in values], return_inverse=True)[1]
        else:
            cuts = np.quantile(np.array(values, dtype=np.float64), np.arange(1, BINS) / BINS)
            stratum = np.searchsorted(cuts, np.array(values, dtype=np.float64))
        explained = float(((returned - _within(returned, stratum)) ** 2).sum())
        if explained > best:
            best, found = explained, stratum
    return found


def _liked(*, adjusted: bool, sign: int = 1) -> Judge:
    """Return the judge that follows associations: DEF where they are positive, none elsewhere."""

    def judge(told: View, past: Past) -> Marks:
        defs, options = _associations(told, past, adjusted=adjusted)
        return (sign * defs > 0).astype(np.float64), [sign * worth for worth in options]

    return judge


def _best_on_record(told: View, past: Past) -> Design:
    """Return the design with the highest share of survivors among its records."""
    rates = {
        design: (sum(s == RETURNED for s in own) + 1) / (len(own) + 2)
        for name, design in past.designs.items()
        for own in [[row["status"] for row in past.records if row["design"] == name]]
    }
    return max(rates, key=lambda design: rates[design], default=Design(told.defaults))


def _past_best(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001
    design = _best_on_record(state.view, (yield from state.history()))
    yield from state.deploy(design, 1)
    return design


def _features(told: View, past: Past) -> tuple[Floats, list[Floats]]:
    """Return what the learned reader knows of each component, and of each option."""
    raw, adjusted = (_associations(told, past, adjusted=flag) for flag in (False, True))
    own = np.array(told.defaults) / told.def_range[1]
    defs = np.column_stack((np.ones(len(own)), told.critical, own, raw[0], adjusted[0]))
    options = [
        np.column_stack((np.ones(len(a)), np.arange(len(a)) == 0, np.arange(len(a)) == 1, a, b))
        for a, b in zip(raw[1], adjusted[1], strict=True)
    ]
    return defs, options


def _learned_reader(suite: Suite) -> Player:
    """Fit by ridge regression, over training worlds, from records to the best design."""
    pairs: list[list[tuple[Floats, Floats]]] = [[], []]
    for world, episode, best in _trained(suite):
        space = Space(view(world))
        defs, options = _features(space.view, _past(episode, space.view))
        design = space.encode([best])
        pairs[0].append((defs, design.defs[0] / space.view.def_range[1]))
        for known, place in zip(options, design.options[0], strict=True):
            pairs[1].append((known, (np.arange(len(known)) == place).astype(np.float64)))
    weights = [ridge(found) for found in pairs]

    def judge(told: View, past: Past) -> Marks:
        defs, options = _features(told, past)
        marks, usual = defs @ weights[0], float(np.mean([y.mean() for _, y in pairs[0]]))
        if told.law:
            marks = (marks > usual).astype(np.float64)
        return marks, [known @ weights[1] for known in options]

    return player(suite, _reads(judge))


def _past(episode: Episode, told: View) -> Past:
    """Read the records of a training episode."""
    acting = AgentState(told).history()
    observation = episode.step(next(acting))
    try:
        acting.send(observation)
    except StopIteration as end:
        found: Past = end.value
        return found
    raise RuntimeError("one look shows all records")


BATTERY: tuple[Guesser, ...] = (
    Guesser("constant", "submits the default design", 0, unlearned("null")),
    Guesser("random", "submits a random design", 0, unlearned("random")),
    Guesser(
        "prior_only",
        "spreads DEF evenly over the components that a drone needs",
        0,
        plays(_submits(_evenly)),
    ),
    Guesser("memory", "the design that won most fleets of the training seed", 0, _memory),
    Guesser("past_best", "the design with the best records", 0, plays(_past_best)),
    Guesser("correlational", "what the records recommend", 0, unlearned("correlational")),
    Guesser(
        "contrarian",
        "the opposite of what the records recommend",
        0,
        plays(_reads(_liked(adjusted=False, sign=-1))),
    ),
    Guesser(
        "adjusted",
        "what the records recommend within strata of one circumstance",
        0,
        plays(_reads(_liked(adjusted=True))),
    ),
    Guesser("learned_reader", "ridge regression from records to designs", 0, _learned_reader),
    Guesser("best_of_ten", "the best of ten random designs", None, unlearned("best_of_ten")),
    Guesser("best_of_corners", "the best of random corners", None, searches(new)),
    Guesser("retest", "random corners, then the leader again", None, searches(retest)),
    Guesser("one_factor", "one change at a time, default first", None, unlearned("one_factor")),
    Guesser(
        "coordinate", "turns one lever of the leader after another", None, searches(coordinate)
    ),
    Guesser("evolve", "turns two random levers of the leader", None, searches(evolve)),
    Guesser("screen", "random corners, additive fit", None, searches(new, additive=True)),
)
"""All guessers; all of them count, because none needs to know why a design does better."""
