"""What surfaces, rungs and modes cost a model; pure functions of scores by instance.

The members of a matched triple share a base, so every interval clusters by base.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from whybench.stats.interval import Interval, mean_interval, rate_interval
from whybench.stats.multiplicity import holm
from whybench.stats.paired import Paired, paired_bootstrap

SURFACES = ("table", "shapes", "board", "game", "prose")
"""The matched surfaces; the first is the one that the others are compared with."""

AGAIN = "table_again"
"""The second drawing of the first surface."""

LOADS = {"board_numbers": "board", "prose_long": "prose"}
"""Surface with a load → the same surface without it."""

CONFUSIONS = {"see_as_do": "see", "case_as_do": "case", "case_as_see": "case"}
"""Confused agent → the kind of question that it takes for another one."""

Scores = Mapping[str, float]
"""Instance → score, epochs averaged."""

Clusters = Mapping[str, Hashable]


@dataclass(frozen=True)
class Gap:
    """The difference of two conditions over the same instances."""

    first: str
    second: str
    found: Paired
    p_holm: float
    """The p-value, corrected for all gaps of its table."""


def gaps(
    by: Mapping[str, Scores],
    pairs: Iterable[tuple[str, str]],
    clusters: Clusters,
    resamples: int = 4000,
) -> list[Gap]:
    """Return paired differences first - second, with Holm's correction over all of them."""
    there = [(a, b) for a, b in pairs if a in by and b in by]
    found = [
        paired_bootstrap(by[a], by[b], clusters=clusters, resamples=resamples) for a, b in there
    ]
    corrected = holm([one.p_value for one in found])
    return [Gap(a, b, one, p) for (a, b), one, p in zip(there, found, corrected, strict=True)]


def surface_pairs() -> list[tuple[str, str]]:
    """Return each surface beside the first one."""
    return [(surface, SURFACES[0]) for surface in SURFACES[1:]]


# The loss, split.


@dataclass(frozen=True)
class Split:
    """A model's loss as a sum of three parts: loss = causal + surface + noise.

    Take an instance in two surfaces, drawn at random. `causal` is the chance that the model is
    wrong in both. The rest of the loss is half of the chance that it is right in one and wrong in
    the other. Of this, `noise` is what two drawings of one surface show as well, and `surface` is
    what goes beyond.
    """

    loss: Interval
    causal: Interval
    surface: Interval
    """Without a second drawing, this includes the noise."""
    noise: Interval
    always: float
    """Share of instances that are wrong in all surfaces."""
    never: float
    """Share of instances that are right in all surfaces."""


def split(by: Mapping[str, Scores], clusters: Clusters) -> Split | None:
    """Split the loss over the instances that were played in all surfaces that were run.

    None if fewer than two surfaces were run on common instances.
    """
    surfaces = [one for one in SURFACES if one in by]
    again = AGAIN in by and SURFACES[0] in by
    needed = [by[one] for one in (*surfaces, *([AGAIN] if again else []))]
    common = [one for one in by.get(SURFACES[0], {}) if all(one in scores for scores in needed)]
    if len(surfaces) < 2 or not common:
        return None
    wrong = {one: [1 - by[surface][one] for surface in surfaces] for one in common}

    def over(value: Callable[[str], float]) -> Interval:
        return mean_interval(map(value, common), [clusters[one] for one in common])

    def both(one: str) -> float:
        return fmean(a * b for a, b in combinations(wrong[one], 2))

    def apart(one: str) -> float:
        return fmean(a * (1 - b) + b * (1 - a) for a, b in combinations(wrong[one], 2)) / 2

    def within(one: str) -> float:
        if not again:
            return 0.0
        a, b = by[SURFACES[0]][one], by[AGAIN][one]
        return (a * (1 - b) + b * (1 - a)) / 2

    return Split(
        loss=over(lambda one: fmean(wrong[one])),
        causal=over(both),
        surface=over(lambda one: apart(one) - within(one)),
        noise=over(within) if again else mean_interval([]),
        always=fmean(float(min(wrong[one]) == 1) for one in common),
        never=fmean(float(max(wrong[one]) == 0) for one in common),
    )


# Confusions.


@dataclass(frozen=True)
class Match:
    """How a model answers where a confused agent is wrong."""

    right: Interval
    alike: Interval
    """Share of answers that are the confused agent's."""
    among_wrong: Interval
    """The same among wrong answers; a model that errs at random has 1/2."""


def matching(
    said: Mapping[str, str | None],
    gold: Mapping[str, str],
    confused: Mapping[str, str],
    clusters: Clusters,
) -> Match:
    """Compare a model's answers with those of a confused agent, where the agent is wrong."""
    asked = [one for one in confused if one in said and confused[one] != gold[one]]

    def rate(of: Callable[[str], bool], among: Sequence[str]) -> Interval:
        return rate_interval([float(of(one)) for one in among], [clusters[one] for one in among])

    wrong = [one for one in asked if said[one] is not None and said[one] != gold[one]]
    return Match(
        rate(lambda one: said[one] == gold[one], asked),
        rate(lambda one: said[one] == confused[one], asked),
        rate(lambda one: said[one] == confused[one], wrong),
    )
