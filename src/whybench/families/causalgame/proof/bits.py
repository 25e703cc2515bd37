"""What the evidence leaves open, in bits: what it would still tell to know every lever's worth.

Flights are luck, so no deployment rules anything out; but each makes the worth of levers less
uncertain. The log-odds of coming back are taken as a level and a worth for every lever, each
normal beforehand, and every drone whose fate is told as a coin near one half, which tells most. The
bits left are the mutual information between these worths and a look at each of them with a given
error: ½ log2 det(I + Σ / error²), with Σ their covariance after the deployments (Lindley, *On a
measure of the information provided by an experiment*, 1956). It hangs on what was flown and how
often, never falls short of 0, and never rises: a deployment takes from Σ in no direction less than
nothing. The history counts for nothing: nobody chose at random who flew what there.
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
"""Standard deviation, beforehand, of the level and of every lever's worth, in log-odds."""
ERROR = 1.0
"""The error of the look at each of them: worths that are known better than this hardly count."""
PER_DRONE = 0.25
"""What one fate tells of its log-odds: p (1 − p), at most a quarter."""
DECIMALS = 9
"""Figures are rounded to so many, so that rounding on the way never makes one rise."""


def bits_left(episode: DroneEpisode) -> float:
    """Return the bits that an episode's deployments leave open."""
    view = episode.view
    flown = tuple(
        (batch.designs[0], len(batch) if view.counts else SAMPLE) for batch in episode.batches
    )
    return _bits(view, flown)


@lru_cache(maxsize=2048)
def _bits(view: View, flown: tuple[tuple[Design, int], ...]) -> float:
    """Return the bits left after designs were flown, each so many times; the latest are kept."""
    x = levers(view, [design for design, _ in flown])
    weight = PER_DRONE * np.array([count for _, count in flown], dtype=np.float64)
    own = np.eye(x.shape[1])
    precision = own / SPREAD**2 + (x.T * weight) @ x
    less, more = (np.linalg.slogdet(m)[1] for m in (precision, precision + own / ERROR**2))
    return round(float(more - less) / log(4), DECIMALS) + 0.0


def levers(view: View, designs: list[Design]) -> Floats:
    """Return one row for each design: 1 for the level, then where each lever stands.

    A component's DEF goes from −½ (none) over 0 (an even share of the budget) towards ½; each
    option of a slot that is not its default, and each switch, is there or not.
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
    """Return a design with no more DEF than has an effect: the released rules allow any."""
    return Design(tuple(min(value, MOST_DEF) for value in design.defs), design.equipment)
