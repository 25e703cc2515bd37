"""Labels: whether the agent's own flights establish that its design wins, or that it loses.

For drawn systems, the instructions state a class. A win is established if its probability by the
exact agent's arithmetic, from the agent's deployments alone, is at least 1 − `LEVEL`; a loss, if
the probability of a win is at most `LEVEL`.

For published scenarios, nothing is known of a design that did not fly: only flights of the
submitted design count. They are a binomial sample of its survival, if the fleet flies in the same
conditions and every return is counted. An exact one-sided test decides whether survival is at least
the bar, or below it. Its level is `LEVEL` divided by the number of designs flown, because an agent
may submit the one that looked best (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence

from whybench.families.causalgame.agents.agent_state import Trial
from whybench.families.causalgame.agents.particles import Belief
from whybench.families.causalgame.covariates import challenges_of
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.proof.failure_attribution import deployments
from whybench.families.causalgame.view import View
from whybench.families.causalgame.world.design import Design

LABELS = ("understood", "lucky", "premature", "contradicted")
UNKNOWN = "unknown"
"""The label if flights in exploration say nothing certain of the fleet, or are not counted."""
LEVEL = 0.05
FEWEST = 8
"""Fewer flights establish nothing in a drawn system: the bound of every certificate is higher."""
BLURRED = {"noise", "shift"}
"""Challenges under which flights are no sample of the fleet: misread returns, other conditions."""


def label(episode: DroneEpisode) -> str | None:
    """Return the label of an episode; None if no fleet flew."""
    if episode.survival_rate is None:
        return None
    if not episode.view.counts:
        return UNKNOWN
    if episode.world.drawn:
        wins, loses = _by_law(episode)
    elif BLURRED & {*challenges_of(episode.world)}:
        return UNKNOWN
    else:
        own = [batch for batch in episode.batches if batch.designs[0] == episode.submitted]
        flown, returned = sum(map(len, own)), sum(int(b.flights.returned.sum()) for b in own)
        designs = len({batch.designs[0] for batch in episode.batches})
        wins, loses = established(flown, returned, episode.view.threshold, LEVEL / max(designs, 1))
    if episode.won:
        return "understood" if wins else "lucky"
    return "contradicted" if loses else "premature"


def _by_law(episode: DroneEpisode) -> tuple[bool, bool]:
    """Tell whether the deployments establish a win, and a loss, by the law that is told."""
    trials = [trial for _, trial in deployments(episode.world, episode.trace.steps)]
    if episode.submitted is None or sum(trial.count for trial in trials) < FEWEST:
        return False, False
    chance = _chance(episode.view, tuple(trials), episode.submitted)
    return chance >= 1 - LEVEL, chance <= LEVEL


def _chance(told: View, trials: Sequence[Trial], submitted: Design) -> float:
    """Return the probability of a win; hypotheses that are left get more strengths twice."""
    belief = Belief(told, trials=trials)
    belief.see()
    belief.see()
    return belief.wins(submitted)


def established(flown: int, returned: int, bar: float, level: float = LEVEL) -> tuple[bool, bool]:
    """Tell whether flights establish a survival of at least the bar, and one below it.

    >>> established(60, 57, 0.85), established(30, 28, 0.85), established(20, 13, 0.85)
    ((True, False), (False, False), (False, True))
    """
    from scipy.special import bdtr, bdtrc  # heavy, and only labels need it

    if not flown:
        return False, False
    at_least = 1.0 if not returned else bdtrc(returned - 1, flown, bar)
    return bool(at_least <= level), bool(bdtr(returned, flown, bar) <= level)
