"""Searchers: they deploy corners, and compare how many drones returned.

A corner gives DEF to some components and none to the rest. If a forecast is told, strata are
weighted by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from whybench.causal.seeds import Stream
from whybench.episode.family import Suite
from whybench.episode.guesser import Player
from whybench.families.causalgame.agents.agent_state import Acting, AgentState, Trial
from whybench.families.causalgame.agents.design_space import Encoded, Floats, Space
from whybench.families.causalgame.agents.records_model import RETURNED, reading
from whybench.families.causalgame.agents.strategies import Strategy, moves
from whybench.families.causalgame.view import View, view
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.drawn.draw import stories

SHARE_OF_NEW = 0.6
"""Share of deployments in which `retest` flies new corners."""
RIDGE = 1.0

Setting: TypeAlias = tuple[int, ...]
"""For each component 1 if it gets DEF, else 0; then for each slot or switch the place of its option
from 1, or 0 for none."""


def plays(strategy: Strategy) -> Callable[[Suite], Player]:
    """Return the `fit` of a strategy that learns nothing."""
    return lambda suite: player(suite, strategy)


def player(suite: Suite, strategy: Strategy) -> Player:
    """Return the player of a strategy."""
    family = suite.family
    return lambda instance: moves(
        AgentState(view(family.world(instance))), Stream("guess", instance.id), strategy
    )


def ridge(pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Return the weights of a ridge regression."""
    if not pairs:
        return np.zeros(0)
    x, y = (np.concatenate(side) for side in zip(*pairs, strict=True))
    found: Floats = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y)
    return found


Worth: TypeAlias = dict[Setting, float]
"""Share of drones that returned, for each setting that was flown, in the order of first flights."""


def built(space: Space, setting: Sequence[float]) -> Design:
    """Return the design that spends the budget on components in proportion to their numbers."""
    k = len(space.view.components)
    places = [*setting[k:], *[0] * (k + len(space.levers) - len(setting))]
    defs = space.allotted(np.array([setting[:k]], dtype=np.float64))
    return space.decode(Encoded(defs, np.array([places], dtype=np.int64)), 0)


def _settings(space: Space) -> list[range]:
    """Return the settings of every lever; in drawn systems an empty slot is not worth a try."""
    first = 1 if space.view.law else 0
    options = [range(first, 1 + len(choices)) for _, choices in space.levers]
    return [range(2)] * len(space.view.components) + options


def _corner(space: Space, rng: Stream) -> Setting:
    """Draw a corner whose components get their maximum, or an even share of the budget."""
    most = space.view.total_def_budget // space.view.def_range[1]
    while True:
        found = tuple(rng.choice(those) for those in _settings(space))
        if not space.view.law or sum(found[: len(space.view.components)]) <= most:
            return found


def _turned(space: Space, setting: Setting, lever: int, rng: Stream) -> Setting:
    """Return a setting with one lever turned."""
    other = rng.choice([one for one in _settings(space)[lever] if one != setting[lever]])
    return (*setting[:lever], other, *setting[lever + 1 :])


def _worth(space: Space, tried: Sequence[Setting], trials: Sequence[Trial]) -> Worth:
    if not trials:
        return {}
    if space.view.law:
        return _means(tried, [_forecast(space.view, trial) for trial in trials])
    seen = reading(space, trials, (0.0, 0.0))
    chance = 1 / (1 + np.exp(-seen.evidence.log_odds))
    if space.view.storms is not None and len(chance) == 2 * len(trials):
        rates = chance.reshape(-1, 2) @ np.array(seen.shares)
    else:
        rates = chance[: len(trials)]
    return _means(tried, rates.tolist())


def _means(tried: Sequence[Setting], rates: Sequence[float]) -> Worth:
    return {
        setting: float(np.mean([r for s, r in zip(tried, rates, strict=True) if s == setting]))
        for setting in tried
    }


def _forecast(told: View, trial: Trial) -> float:
    """Return the share of drones that returned; with a forecast, weighted by its strata."""
    story = stories()[told.law]
    if trial.survived is None or told.storms is None or not story.shown:
        return (float(trial.survived or 0) + 0.5) / (trial.count + 1)
    rates = []
    for stratum in story.strata:
        fates = [row["status"] == RETURNED for row in trial.records if row[story.column] == stratum]
        lost = fates.count(False) / max(told.keep_failed, 1e-9)
        rates.append((fates.count(True) + 0.5) / (fates.count(True) + lost + 1))
    return told.storms[1] * rates[0] + (1 - told.storms[1]) * rates[1]


def _leader(worth: Worth) -> Setting:
    return max(worth, key=lambda setting: worth[setting])


def new(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:  # noqa: ARG001
    """Propose a random corner."""
    return _corner(space, rng)


def retest(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:
    """Propose random corners first, then the leader again."""
    early = made < SHARE_OF_NEW * space.view.deploys
    return _corner(space, rng) if early else _leader(worth)


def coordinate(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:
    """Propose the leader with the next lever turned."""
    if not worth:
        return _corner(space, rng)
    return _turned(space, _leader(worth), (made - 1) % len(_settings(space)), rng)


def evolve(space: Space, worth: Worth, made: int, rng: Stream) -> Setting:  # noqa: ARG001
    """Propose the leader with two random levers turned."""
    if not worth:
        return _corner(space, rng)
    found = _leader(worth)
    for lever in rng.sample(range(len(found)), 2):
        found = _turned(space, found, lever, rng)
    return found


def _additive(space: Space, worth: Worth) -> Setting:
    """Return the best setting if every lever adds its own share to the log-odds."""
    sizes = [those.stop for those in _settings(space)]
    flown = [np.concatenate([np.eye(n)[v] for n, v in zip(sizes, s, strict=True)]) for s in worth]
    rates = np.array([*worth.values()])
    odds = np.log(rates / (1 - rates))
    weights = ridge([(np.array(flown), odds - odds.mean())])
    parts = np.split(weights, np.cumsum(sizes)[:-1])
    return tuple(
        those.start + int(part[those.start :].argmax())
        for those, part in zip(_settings(space), parts, strict=True)
    )


Propose: TypeAlias = Callable[[Space, Worth, int, Stream], Setting]


def searches(propose: Propose, *, additive: bool = False) -> Callable[[Suite], Player]:
    """Return the `fit` of a search that spends all drones."""

    def strategy(state: AgentState, rng: Stream) -> Acting[Design]:
        space, tried = Space(state.view), list[Setting]()
        while state.deploys and state.drones:
            worth = _worth(space, tried, state.trials)
            tried.append(propose(space, worth, len(tried), rng))
            count = min(state.view.most_per_deploy, -(-state.drones // state.deploys))
            yield from state.deploy(built(space, tried[-1]), count)
        worth = _worth(space, tried, state.trials)
        return built(space, _additive(space, worth) if additive else _leader(worth))

    return plays(strategy)
