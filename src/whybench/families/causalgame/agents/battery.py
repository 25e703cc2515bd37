"""The battery: guessers without causal reasoning about the system in front of them.

Guessers without an experiment deploy the one batch that the rules require and ignore its result.
They submit a fixed design, a design remembered from a training seed, or what the records seem to
recommend. The others search: they deploy corners, which give DEF to some components and none to the
rest, and compare how many drones returned. If a forecast is told, they weight storms by it.
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
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Past, Row, Trial
from whybench.families.causalgame.agents.correlational import trend
from whybench.families.causalgame.agents.design_space import Encoded, Floats, Ints, Space
from whybench.families.causalgame.agents.records_model import NOT_MEASURED, RETURNED, reading
from whybench.families.causalgame.agents.strategies import Strategy, moves
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.world import World

TRAINED = 24
"""Instances of the training seed that are learned from."""
BINS = 4
"""Strata of a measured circumstance."""
SHARE_OF_NEW = 0.6
"""Share of deployments in which `retest` flies new corners."""
RIDGE = 1.0

Setting: TypeAlias = tuple[int, ...]
"""For each component 1 if it gets DEF, else 0; then for each slot or switch the place of its option
from 1, or 0 for none."""


def _plays(strategy: Strategy) -> Callable[[Suite], Player]:
    """Return the `fit` of a strategy that learns nothing."""
    return lambda suite: _player(suite, strategy)


def _player(suite: Suite, strategy: Strategy) -> Player:
    family = suite.family
    return lambda instance: moves(
        AgentState(view(family.world(instance))), Stream("guess", instance.id), strategy
    )


def _submits(choose: Callable[[AgentState], Design]) -> Strategy:
    """Return the strategy that submits a design that it knows before it looks."""

    def strategy(state: AgentState, rng: Stream) -> Acting[Design]:  # noqa: ARG001
        design = choose(state)
        yield from state.deploy(design, 1)
        return design

    return strategy


def _evenly(state: AgentState) -> Design:
    """Give the same DEF to every component that a drone needs, and none to the others."""
    return _design(Space(state.view), [*map(int, state.view.critical)])


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
    for world, _, design in _trained(suite):
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

    return _player(suite, _submits(remembered))


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
        places = [int(worth.argmax()) for worth in options]
        design = _design(space, [*np.maximum(defs, 0.0), *places])
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
    weights = [_ridge(found) for found in pairs]

    def judge(told: View, past: Past) -> Marks:
        defs, options = _features(told, past)
        return defs @ weights[0], [known @ weights[1] for known in options]

    return _player(suite, _reads(judge))


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


def _ridge(pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
    if not pairs:
        return np.zeros(0)
    x, y = (np.concatenate(side) for side in zip(*pairs, strict=True))
    found: Floats = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y)
    return found


# Searchers.

Worth: TypeAlias = dict[Setting, float]
"""Share of drones that returned, for each setting that was flown, in the order of first flights."""


def _design(space: Space, setting: Sequence[float]) -> Design:
    """Return the design that spends the budget on components in proportion to their numbers."""
    k = len(space.view.components)
    places = [*setting[k:], *[0] * (k + len(space.levers) - len(setting))]
    defs = space.allotted(np.array([setting[:k]], dtype=np.float64))
    return space.decode(Encoded(defs, np.array([places], dtype=np.int64)), 0)


def _sizes(space: Space) -> list[int]:
    options = [1 + len(choices) for _, choices in space.levers]
    return [2] * len(space.view.components) + options


def _corner(space: Space, rng: Stream) -> Setting:
    return tuple(rng.below(size) for size in _sizes(space))


def _turned(space: Space, setting: Setting, lever: int, rng: Stream) -> Setting:
    """Return a setting with one lever turned."""
    size = _sizes(space)[lever]
    other = (setting[lever] + 1 + rng.below(size - 1)) % size
    return (*setting[:lever], other, *setting[lever + 1 :])


def _worth(space: Space, tried: Sequence[Setting], trials: Sequence[Trial]) -> Worth:
    if not trials:
        return {}
    seen = reading(space, trials, (0.0, 0.0))
    chance = 1 / (1 + np.exp(-seen.evidence.log_odds))
    if space.view.storms is not None and len(chance) == 2 * len(trials):
        rates = chance.reshape(-1, 2) @ np.array(seen.shares)
    else:
        rates = chance[: len(trials)]
    return {
        setting: float(np.mean([r for s, r in zip(tried, rates, strict=True) if s == setting]))
        for setting in tried
    }


def _leader(worth: Worth) -> Setting:
    return max(worth, key=lambda setting: worth[setting])


def _new(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:  # noqa: ARG001
    return _corner(space, rng)


def _retest(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:
    new = made < SHARE_OF_NEW * space.view.deploys
    return _corner(space, rng) if new else _leader(worth)


def _coordinate(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:
    if not worth:
        return _corner(space, rng)
    return _turned(space, _leader(worth), (made - 1) % len(_sizes(space)), rng)


def _evolve(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:  # noqa: ARG001
    if not worth:
        return _corner(space, rng)
    found = _leader(worth)
    for lever in rng.sample(range(len(found)), 2):
        found = _turned(space, found, lever, rng)
    return found


def _additive(space: Space, worth: Worth) -> Setting:
    """Return the best setting if every lever adds its own share to the log-odds."""
    sizes = _sizes(space)
    flown = [np.concatenate([np.eye(n)[v] for n, v in zip(sizes, s, strict=True)]) for s in worth]
    rates = np.array([*worth.values()])
    odds = np.log(rates / (1 - rates))
    weights = _ridge([(np.array(flown), odds - odds.mean())])
    parts = np.split(weights, np.cumsum(sizes)[:-1])
    return tuple(int(part.argmax()) for part in parts)


Propose: TypeAlias = Callable[[Space, Worth, int, Stream], Setting]


def _searches(propose: Propose, *, additive: bool = False) -> Callable[[Suite], Player]:
    """Return the `fit` of a search that spends all drones."""

    def strategy(state: AgentState, rng: Stream) -> Acting[Design]:
        space, tried = Space(state.view), list[Setting]()
        while state.deploys and state.drones:
            worth = _worth(space, tried, state.trials)
            tried.append(propose(space, worth, len(tried), rng))
            count = min(state.view.most_per_deploy, -(-state.drones // state.deploys))
            yield from state.deploy(_design(space, tried[-1]), count)
        worth = _worth(space, tried, state.trials)
        return _design(space, _additive(space, worth) if additive else _leader(worth))

    return _plays(strategy)


BATTERY: tuple[Guesser, ...] = (
    Guesser("constant", "submits the default design", 0, unlearned("null")),
    Guesser("random", "submits a random design", 0, unlearned("random")),
    Guesser(
        "prior_only",
        "spreads DEF evenly over the components that a drone needs",
        0,
        _plays(_submits(_evenly)),
    ),
    Guesser("memory", "the design that won most fleets of the training seed", 0, _memory),
    Guesser("past_best", "the design with the best records", 0, _plays(_past_best)),
    Guesser("correlational", "what the records recommend", 0, unlearned("correlational")),
    Guesser(
        "contrarian",
        "the opposite of what the records recommend",
        0,
        _plays(_reads(_liked(adjusted=False, sign=-1))),
    ),
    Guesser(
        "adjusted",
        "what the records recommend within strata of one circumstance",
        0,
        _plays(_reads(_liked(adjusted=True))),
    ),
    Guesser("learned_reader", "ridge regression from records to designs", 0, _learned_reader),
    Guesser("best_of_ten", "the best of ten random designs", None, unlearned("best_of_ten")),
    Guesser("best_of_corners", "the best of random corners", None, _searches(_new)),
    Guesser("retest", "random corners, then the leader again", None, _searches(_retest)),
    Guesser("one_factor", "one change at a time, default first", None, unlearned("one_factor")),
    Guesser(
        "coordinate", "turns one lever of the leader after another", None, _searches(_coordinate)
    ),
    Guesser("evolve", "turns two random levers of the leader", None, _searches(_evolve)),
    Guesser("screen", "random corners, additive fit", None, _searches(_new, additive=True)),
)
"""All guessers; all of them count, because none needs to know why a design does better."""
