"""Compute the floor and the ceiling of a run.

The floor is the score of the best guesser in the latest audit of the suite. If no audit has this
version, profile and parameters, the guessers in `[floor_ceiling]` stand in: their logs if these
cover the run's instances, else they play some of the instances for the report. The ceiling
is the mean best score in the certificates. If the headline has degrees, a log of the exact agent
can replace it: the log must cover the run and agree with every certificate that was checked. The
ceiling is then the mean of that log over all instances. A release fixes both.
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
from whybench.release.data import load_release
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
    floor_interval: tuple[float, float] | None = None
    """Interval of the floor, if an audit measured it."""

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
    if (fixed := released(run)) is not None:
        return fixed
    family = run.family
    wanted = set(run.frame["instance"])
    audit = audited(run)
    guessers = () if audit else tuple(family.floor_ceiling)
    logged = {
        agent: _logged(f"{REFERENCE}{agent}", run, runs, wanted) for agent in (*guessers, EXACT)
    }
    now = [agent for agent in guessers if logged[agent] is None]
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
    told = f"certificates of {len(best)} of {len(wanted)} instances"
    if not best and _plays_exact(family, run):
        if exact is None:
            exact = _played(run, EXACT, [rebuilt(run, row) for row in places(run, certified)])
        told = f"the exact agent on {len(exact)} instances, because no upper bound is known"
    elif agrees:
        told = f"the exact agent's log on all instances, which agrees with the {told}"
    if exact is not None and (agrees or not best):
        ceiling, ceiling_n = float(exact.mean()), len(exact)
    else:
        ceiling_n = len(best)
        ceiling = sum(best.values()) / ceiling_n if best else math.nan
    if audit:
        name, n = audit["best_guesser"], audit["instances"]["guesser"]
        low, high = audit["guesser_interval"]
        verdict = f"the best guesser of the audit ({audit['verdict']})"
        told = f"ceiling: {told}; floor: {name}, {verdict}, on {n} instances"
        return Bounds({name: audit["guesser"]}, ceiling, told, n, ceiling_n, (low, high))
    sources = ["logs"] if len(now) < len(guessers) else []
    if now:
        sources.append(f"{', '.join(now)} on {len(instances)} instances, played for this report")
    told = f"ceiling: {told}; floor: {', and '.join(sources)} (this setting has no audit)"
    return Bounds(
        {agent: float(found.mean()) for agent, found in scores.items()},
        ceiling,
        told,
        min((int(found.count()) for found in scores.values()), default=0),
        ceiling_n,
    )


def released(run: Run) -> Bounds | None:
    """Return the bounds that a release fixes for a suite; None without a release."""
    name = run.args.get("release")
    part = load_release(str(name)).part(run.suite) if name else None
    if part is None or part.floor is None or part.ceiling is None:
        return None
    floor, ceiling = part.floor, part.ceiling
    told = f"release {name}: {floor.name} of the audit, and {ceiling.name} on the set `standard`"
    return Bounds({floor.name: floor.score}, ceiling.score, told, floor.n, ceiling.n)


def audited(run: Run) -> Mapping[str, Any] | None:
    """Return the audit of a run's suite; None if there is none, or if parameters were changed."""
    name = run.suite.partition("/")[2]
    found = run.family.audited(name, run.profile)
    if found is None or found["guesser"] is None:
        return None
    plain = run.family.suite(name, profile=run.profile).parameters.asdict()
    return found if run.parameters == plain else None


def _plays_exact(family: Family[Any], run: Run) -> bool:
    """Tell whether the exact agent can play the instances of a run: it needs their hidden system.

    It has none where texts by other authors are read.
    """
    return EXACT in family.agents and run.parameters.get("data") is None


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
    return {
        proof.instance: proof.best_score
        for proof in proofs
        if proof.best_score is not None and not proof.defects()
    }
