"""Whether a judge favours its own family (Table 9).

A judge that is generous to all is calibrated differently; one that is more generous to its own
family than another judge is, is biased. So bias is a difference of differences: the gap between two
judges on outputs of the own family, minus their gap on other outputs. All outputs on one instance
belong together and count as one cluster.

A gap may depend on the quality of an output: two judges whose scales differ in width differ more on
poor outputs than on fair ones. Compare families of similar strength before you infer bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from whybench.causal.seeds import Stream
from whybench.families.recite.extras.analyses.judges import Mark, Output, by_judge
from whybench.families.recite.extras.analyses.table import Row, between, number, p_value
from whybench.stats.interval import Interval, mean_interval
from whybench.stats.paired import Paired, paired_bootstrap


@dataclass(frozen=True, slots=True)
class Gap(Row):
    """How much more a judge gives than the other to one system's outputs."""

    HEAD: ClassVar = ("outputs of", "n", "gap", "95 %", "own family")
    system: str
    own: bool
    found: Interval

    def cells(self) -> tuple[str, ...]:
        """Return the row as in Table 9."""
        gap = number(self.found.estimate, sign=True)
        bounds = between(self.found.low, self.found.high, sign=True)
        return (self.system, str(self.found.n), gap, bounds, "yes" if self.own else "no")


@dataclass(frozen=True, slots=True)
class FamilyBias(Row):
    """The gap on the own family's outputs minus the gap on all others."""

    HEAD: ClassVar = (
        "judge", "against", "own", "others", "own − others", "95 %",
        "instances with both", "paired", "95 %", "p",
    )  # fmt: skip
    judge: str
    reference: str
    gaps: tuple[Gap, ...]
    own: int
    others: int
    """How many outputs of either kind both judges have scored."""
    contrast: Interval
    """Over all outputs, with a cluster-robust interval."""
    paired: Paired
    """Within instances that have both kinds of outputs: bootstrap interval, sign-flip p-value."""

    def cells(self) -> tuple[str, ...]:
        """Return both contrasts."""
        over_all = (
            number(self.contrast.estimate, sign=True),
            between(self.contrast.low, self.contrast.high, sign=True),
        )
        within = (
            str(self.paired.n),
            number(self.paired.estimate, sign=True),
            between(self.paired.low, self.paired.high, sign=True),
            p_value(self.paired.p_value),
        )
        return (self.judge, self.reference, str(self.own), str(self.others), *over_all, *within)


def family_bias(
    marks: Iterable[Mark],
    judge: str,
    reference: str,
    families: Mapping[str, str],
    family: str,
    resamples: int = 10_000,
    seed: int = 0,
) -> FamilyBias:
    """Test whether a judge favours its own family, compared with another judge (Table 9).

    `families` gives each system's family, `family` is the judge's own. Above zero the judge is
    more generous to its own family. A wide interval around zero does not show absence of bias.
    """
    given = by_judge(marks)
    mine, theirs = given.get(judge, {}), given.get(reference, {})
    gaps = {output: mine[output] - theirs[output] for output in mine if output in theirs}
    unknown = sorted({system for system, _ in gaps} - set(families))
    if unknown:
        raise ValueError(f"The family of {unknown[0]} is missing. Add it to `families`.")
    own = {system: families[system] == family for system, _ in gaps}
    rows = tuple(
        Gap(system, own[system], _clustered({o: g for o, g in gaps.items() if o[0] == system}))
        for system in own
    )
    sides = [{o: gap for o, gap in gaps.items() if own[o[0]] is side} for side in (True, False)]
    paired = paired_bootstrap(
        *map(_by_instance, sides),
        resamples=resamples,
        seed=Stream("recite", "family bias", seed).below(2**63),
    )
    return FamilyBias(
        judge, reference, rows, len(sides[0]), len(sides[1]), _contrast(*sides), paired
    )


def _clustered(gaps: Mapping[Output, float]) -> Interval:
    return mean_interval(gaps.values(), (instance for _, instance in gaps))


def _by_instance(gaps: Mapping[Output, float]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for (_, instance), gap in gaps.items():
        found.setdefault(instance, []).append(gap)
    return {instance: fmean(own) for instance, own in found.items()}


def _contrast(own: Mapping[Output, float], others: Mapping[Output, float]) -> Interval:
    """Return mean(own) - mean(others), with all outputs on one instance as one cluster.

    Each gap is replaced by the contrast plus n times its pull on it; those have the contrast as
    their mean, and its sandwich variance as the variance of that mean.
    """
    if not (own and others):
        return mean_interval([])
    means, n = (fmean(own.values()), fmean(others.values())), len(own) + len(others)
    pulls = {output: n * (gap - means[0]) / len(own) for output, gap in own.items()}
    pulls |= {output: -n * (gap - means[1]) / len(others) for output, gap in others.items()}
    return _clustered({output: means[0] - means[1] + pull for output, pull in pulls.items()})
