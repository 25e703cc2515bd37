"""Count what the evidence leaves open, in bits: one for every weight that no reading fixes yet.

Weights are real numbers, so the laws that fit cannot be counted. Free weights can. For every
equation, count the directions in which its weights can move without changing any reading, with
every cause that is not excluded as an effect. If each weight had a grid of 2**b values, the
logarithm of the number of laws that fit would grow by at most b times this count.

An equation that is not forced counts at least one, because rounding or a disturbance can leave it
open without such a direction. A forced equation stays forced.
"""

from __future__ import annotations

from functools import lru_cache

from whybench.families.causalab.episode import LabEpisode
from whybench.families.causalab.proof.disturbance import options
from whybench.families.causalab.proof.evidence import Evidence, evidence_of, inferred
from whybench.families.causalab.proof.inference_timeline import InferenceTimeline
from whybench.families.causalab.world.world import Reading, View

STRIDE = 100
"""Readings are processed in steps of this size, to bound the recursion depth."""


def bits_left(episode: LabEpisode) -> float:
    """Return the bits that an episode's evidence leaves open."""
    view, timeline = episode.view, InferenceTimeline(episode.view, episode.trace)
    readings = tuple(timeline.readings)
    for end in range(timeline.start, len(readings), STRIDE):
        free_weights(view, readings[:end])
    return float(sum(free_weights(view, readings)))


@lru_cache(maxsize=2048)
def free_weights(view: View, readings: tuple[Reading, ...]) -> tuple[int, ...]:
    """Return the number of free weights of each node's equation; cached."""
    evidence = evidence_of(view, readings)
    given = len(view.records) + 1
    before = free_weights(view, readings[:-1]) if len(readings) > given else (2 * view.k,) * view.k
    look = _free_under_disturbance if view.disturbance else _free
    return tuple(min(most, look(evidence, v)) if most else 0 for v, most in enumerate(before))


def _free(evidence: Evidence, v: int) -> int:
    found = inferred(evidence)
    if found.parents[v] is not None:
        return 0
    return max(1, len(evidence.solved(v, found.causes[v]).free))


def _free_under_disturbance(evidence: Evidence, v: int) -> int:
    """Count free weights under a disturbance, which shifts readings but not unknowns."""
    free = len(evidence.solved(v, evidence.may_cause(v)).free)
    if free:
        return free
    return 0 if options(evidence, v, evidence.view.disturbance).settled else 1
