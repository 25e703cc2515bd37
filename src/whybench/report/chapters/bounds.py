"""Compute the floor and the ceiling of a run.

The floor is the score of the best guesser. It comes from logs of the guessers if these logs cover
the run's instances. Otherwise the guessers play some of the instances for the report. The ceiling
is the mean best score in the certificates. If the headline has degrees, a log of the exact agent
can replace it: the log must cover the run and agree with every certificate that was checked. The
ceiling is then the mean of that log over all instances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from whybench.episode.family import Family
from whybench.episode.instance import Instance
from whybench.interfaces.solve import solve
from whybench.report.episodes import places, rebuilt
from whybench.report.runs import REFERENCE, Run

EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Floor and ceiling of a score, and what they are based on."""

    floors: Mapping[str, float]
    """Guesser → its mean headline."""
    ceiling: float
    """Mean best headline score; nan if no certificate gives one."""
    source: str
    """Basis of both, as text for readers."""
    floor_n: int = 0
    """Instances behind the floor; the smallest number over the guessers."""
    ceiling_n: int = 0
    """Instances behind the ceiling."""

    @property
    def floor(self) -> float:
        """Score of the best guesser; nan without one."""
        return max((v for v in self.floors.values() if not math.isnan(v)), default=math.nan)

    def placed(self, score: float) -> float:
        """Rescale a score so that the floor is 0 and the ceiling 1; nan if the two are equal."""
        room = self.ceiling - self.floor
        return (score - self.floor) / room if room > 1e-9 else math.nan


def bounds(run: Run, runs: Sequence[Run], certified: int, floored: int) -> Bounds:
    """Return floor and ceiling of a run.

    At most `certified` instances are certified, and guessers without a log play at most `floored`.
    """
    family = run.family
    wanted = set(run.frame["instance"])
    logged = {
        agent: _logged(f"{REFERENCE}{agent}", run, runs, wanted)
        for agent in (*family.floor_ceiling, EXACT)
    }
    now = [agent for agent in family.floor_ceiling if logged[agent] is None]
    try:
        best = _certified(family, [rebuilt(run, row) for row in places(run, certified)])
        instances = [rebuilt(run, row) for row in places(run, floored)] if now else []
    except ValueError as error:
        return Bounds({}, math.nan, f"not known: {error}")
    scores = {agent: _played(run, agent, instances) for agent in now}
    scores |= {agent: found for agent, found in logged.items() if found is not None}
    exact = scores.pop(EXACT, None)
    agrees = (
        exact is not None
        and bool(best)
        and not _is_rate(family)
        and all(math.isclose(exact[name], value, abs_tol=1e-9) for name, value in best.items())
    )
    if exact is not None and agrees:
        ceiling, ceiling_n = float(exact.mean()), len(exact)
    else:
        ceiling_n = len(best)
        ceiling = sum(best.values()) / ceiling_n if best else math.nan
    told = f"certificates of {len(best)} of {len(wanted)} instances"
    if agrees:
        told = f"the exact agent's log on all instances, which agrees with the {told}"
    sources = ["logs"] if len(now) < len(family.floor_ceiling) else []
    if now:
        sources.append(f"{', '.join(now)} on {len(instances)} instances, played for this report")
    told = f"ceiling: {told}; floor: {', and '.join(sources)}"
    return Bounds(
        {agent: float(found.mean()) for agent, found in scores.items()},
        ceiling,
        told,
        min((int(found.count()) for found in scores.values()), default=0),
        ceiling_n,
    )


def _is_rate(family: Family[Any]) -> bool:
    """Tell whether the headline is 0 or 1. A miss of the exact agent then lowers no ceiling."""
    return next(metric.rate for metric in family.metrics if metric.name == family.headline)


def _logged(model: str, run: Run, runs: Sequence[Run], wanted: set[str]) -> pd.Series | None:
    """Return an agent's headline by instance, if a log of it covers the run's instances.

    The agent must have used the same protocol, because a forced first experiment changes a floor.
    """
    for other in runs:
        alike = other.setting == run.setting and other.protocol == run.protocol
        if other.model == model and alike and other.evidence == "own":
            means = other.frame.groupby("instance")[run.family.headline].mean()
            if wanted <= set(means.index):
                return means.loc[sorted(wanted)]
    return None


def _played(run: Run, agent: str, instances: Sequence[Instance]) -> pd.Series:
    family = run.family
    suite = family.suite(
        run.suite.partition("/")[2], profile=run.profile, seed=run.seed, parameters=run.parameters
    )
    scores = [r.score.values.get(family.headline) for r in solve(suite, agent, instances)]
    return pd.Series([math.nan if score is None else score for score in scores], dtype=float)


def _certified(family: Family[Any], instances: Sequence[Instance]) -> dict[str, float]:
    """Return the best scores of the instances whose certificates have no defect."""
    proofs = [family.certify(instance) for instance in instances]
    return {proof.instance: proof.best_score for proof in proofs if not proof.defects()}
