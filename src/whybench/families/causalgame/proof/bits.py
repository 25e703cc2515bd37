"""What the evidence leaves open, in bits: the information in knowing every lever's value.

Flights are random, so no deployment rules anything out, but each one makes the value of levers less
uncertain. The log-odds of returning are a level plus a value for every lever, each with a normal
prior. Every drone whose fate is shown counts as a coin near one half, which gives the most
information. The bits left are the mutual information between these values and a look at each of
them with a given error: ½ log2 det(I + Σ / error²), where Σ is their covariance after the
deployments (Lindley, *On a measure of the information provided by an experiment*, 1956).

The result depends on which designs were flown and how often. It is never below 0, and it never
rises, because a deployment cannot increase Σ in any direction. The history does not count, because
its designs were not assigned at random.
"""

from __future__ import annotations

from functools import lru_cache
from math import log

import numpy as np

from whybench.families.causalgame.agents.design_space import Floats, Space
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Design
from whybench.families.causalgame.world.equipment import MOST_DEF
from whybench.families.causalgame.world.records import SAMPLE

SPREAD = 2.0
"""Prior standard deviation of the level and of every lever's value, in log-odds."""
ERROR = 1.0
"""Error of the look at each value: a value that is known better than this hardly counts."""
PER_DRONE = 0.25
"""Information of one fate about its log-odds: p (1 − p), at most a quarter."""
DECIMALS = 9
"""Number of decimals; rounding keeps numerical error from making a figure rise."""


def bits_left(episode: DroneEpisode) -> float:
    """Return the bits that an episode's deployments leave open."""
    view = episode.view
    flown = tuple(
        (batch.designs[0], len(batch) if view.counts else SAMPLE) for batch in episode.batches
    )
    return _bits(view, flown)


@lru_cache(maxsize=2048)
def _bits(view: View, flown: tuple[tuple[Design, int], ...]) -> float:
    """Return the bits left after flights of designs, each with its count; cached."""
    x = levers(view, [design for design, _ in flown])
    weight = PER_DRONE * np.array([count for _, count in flown], dtype=np.float64)
    own = np.eye(x.shape[1])
    precision = own / SPREAD**2 + (x.T * weight) @ x
    less, more = (np.linalg.slogdet(m)[1] for m in (precision, precision + own / ERROR**2))
    return round(float(more - less) / log(4), DECIMALS) + 0.0


def levers(view: View, designs: list[Design]) -> Floats:
    """Return one row for each design: 1 for the level, then the setting of each lever.

    A component's DEF goes from −½ (none) over 0 (an even share of the budget) towards ½. Each
    option of a slot that is not its default, and each switch, is 0 or 1.
    """
    space = Space(view)
    encoded = space.encode([_bounded(design) for design in designs])
    ordinary = {slot: default for slot, default, _ in view.slots}
    mounted = [
        encoded.options[:, place] == number
        for place, (slot, choices) in enumerate(space.levers)
        for number, choice in enumerate(choices, 1)
        if choice != ordinary.get(slot)
    ]
    defs = encoded.defs / (encoded.defs + space.share) - 0.5
    return np.column_stack((np.ones(len(designs)), defs, *mounted)).astype(np.float64)


def _bounded(design: Design) -> Design:
    """Return a design with its DEF capped where more has no effect; the release allows any."""
    return Design(tuple(min(value, MOST_DEF) for value in design.defs), design.equipment)
