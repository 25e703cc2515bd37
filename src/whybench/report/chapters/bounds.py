"""The floor and the ceiling of a run: agents that know nothing, and the certificates' best.

Floors come from logs of the reference agents where they cover the run's instances; otherwise the
agents play some of them now. The ceiling is the mean of the certificates' best scores; where scores
have degrees, and the exact agent's log covers the run and equals the certificate wherever it was
checked, its mean over all instances stands for it.
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
    """Between what a score should be read."""

    floors: Mapping[str, float]
    """Agent that knows nothing → its mean headline."""
    ceiling: float
    """The best attainable mean headline; nan if nothing is proven."""
    source: str
    """What both rest on, in words."""
    floor_n: int = 0
    """Fewest instances that a floor rests on."""
    ceiling_n: int = 0
    """Instances that the ceiling rests on."""

    @property
    def floor(self) -> float:
        """The best that can be had without knowing anything."""
        return max((v for v in self.floors.values() if not math.isnan(v)), default=math.nan)

    def placed(self, score: float) -> float:
        """Return where a score lies between floor (0) and ceiling (1); nan if they meet."""
        room = self.ceiling - self.floor
        return (score - self.floor) / room if room > 1e-9 else math.nan


def bounds(run: Run, runs: Sequence[Run], certified: int, floored: int) -> Bounds:
    """Return the bounds of a run; at most so many instances are certified, and played anew."""
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
    told = f"ceiling: certificates of {len(best)} of {len(wanted)} instances"
    if agrees:
        told += ", equal there to the exact agent's log, whose mean stands for all"
    told += "; floor: logs" if len(now) < len(family.floor_ceiling) else "; floor:"
    if now:
        told += f" {', '.join(now)} played {len(instances)} instances now"
    return Bounds(
        {agent: float(found.mean()) for agent, found in scores.items()},
        ceiling,
        told,
        min((int(found.count()) for found in scores.values()), default=0),
        ceiling_n,
    )


def _is_rate(family: Family[Any]) -> bool:
    """Tell whether the headline is 0 or 1; then a miss of the exact agent is no lower ceiling."""
    return next(metric.rate for metric in family.metrics if metric.name == family.headline)


def _logged(model: str, run: Run, runs: Sequence[Run], wanted: set[str]) -> pd.Series | None:
    """Return an agent's headline by instance, if a log of it covers the run's instances.

    It must have played by the same protocol: a forced first experiment moves a floor, too.
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
    """Return the best attainable scores of instances that are proven."""
    proofs = [family.certify(instance) for instance in instances]
    return {proof.instance: proof.best_score for proof in proofs if not proof.defects()}
