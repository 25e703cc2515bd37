"""Labels: whether the agent's own flights establish that its design wins, or that it loses.

In the class of systems that the instructions state, nothing is known of a design that did not fly:
only flights of the submitted design count. They are a binomial sample of its survival, if the fleet
flies in the same conditions and every return is counted. An exact one-sided test decides whether
survival is at least the bar, or below it. Its level is `LEVEL` divided by the number of designs
flown, because an agent may submit the one that looked best (Bonferroni).
"""

from __future__ import annotations

from whybench.families.causalgame.covariates import challenges_of
from whybench.families.causalgame.episode import DroneEpisode

LABELS = ("understood", "lucky", "premature", "contradicted")
UNKNOWN = "unknown"
"""The label if flights in exploration say nothing certain of the fleet."""
LEVEL = 0.05
BLURRED = {"noise", "shift"}
"""Challenges under which flights are no sample of the fleet: misread returns, other conditions."""


def label(episode: DroneEpisode) -> str | None:
    """Return the label of an episode; None if no fleet flew."""
    if episode.survival_rate is None:
        return None
    if BLURRED & {*challenges_of(episode.instance, episode.world)} or not episode.view.counts:
        return UNKNOWN
    own = [batch for batch in episode.batches if batch.designs[0] == episode.submitted]
    flown, returned = sum(map(len, own)), sum(int(b.flights.returned.sum()) for b in own)
    designs = len({batch.designs[0] for batch in episode.batches})
    wins, loses = established(flown, returned, episode.view.threshold, LEVEL / max(designs, 1))
    if episode.won:
        return "understood" if wins else "lucky"
    return "contradicted" if loses else "premature"


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
