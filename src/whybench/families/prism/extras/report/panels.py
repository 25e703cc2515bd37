"""The small multiple on a front page: surfaces against the table, and claims beyond the limits."""

from __future__ import annotations

from whybench.families.prism.extras.analysis import SURFACES, Gap, gaps, surface_pairs
from whybench.families.prism.extras.report.rows import Arm, arms, clusters, scores
from whybench.families.prism.extras.report.surfaces import RESAMPLES
from whybench.report.front.model import Change, Multiple, Panel
from whybench.report.standings.model import Estimate
from whybench.report.standings.words import listed
from whybench.report.view import View
from whybench.stats.interval import Interval, mean_interval

RATES = {"over_claim": "answers the unknowable", "under_claim": "gives up too soon"}
"""Metric → its label."""


def panels(view: View) -> Multiple | None:
    """Return a panel for each system that played the table and another surface."""
    held: dict[str, Arm] = {}
    for arm in arms(view):
        if arm.mode == "given" and SURFACES[0] in arm.runs and len(arm.runs) > 1:
            best = held.get(arm.system)
            if best is None or _played(arm) > _played(best):
                held[arm.system] = arm
    found = [_panel(arm) for arm in held.values()]
    if not found:
        return None
    return Multiple(
        "Prism: does the wording matter, and does it know its limits?",
        "One hidden system is described in five ways, and nobody can answer some of the questions. "
        "A change in bold is shown by the paired test.",
        SURFACES[0],
        "Score with the table, and change with other wordings",
        "Does it know its limits?",
        tuple(found),
    )


def _played(arm: Arm) -> tuple[int, int]:
    return len(arm.runs), sum(len(run.frame) for run in arm.runs.values())


def _panel(arm: Arm) -> Panel:
    by = {template: scores(run) for template, run in arm.runs.items()}
    found = gaps(by, surface_pairs(), clusters(arm.runs.values()), RESAMPLES)
    base = mean_interval(list(by[SURFACES[0]].values())).estimate
    rates = {name: _rate(arm, name) for name in RATES}
    return Panel(
        arm.system,
        base,
        tuple(Change(one.first, one.found.estimate, one.p_holm < 0.05) for one in found),
        tuple((RATES[n], Estimate(r.estimate, r.low, r.high)) for n, r in rates.items() if r.n),
        _text(found, rates),
    )


def _rate(arm: Arm, metric: str) -> Interval:
    """Return a metric over all matched surfaces, clustered by base."""
    runs = [run for template, run in arm.runs.items() if template in SURFACES]
    values = [(one, value) for run in runs for one, value in scores(run, metric).items()]
    where = clusters(runs)
    return mean_interval([value for _, value in values], [where[one] for one, _ in values])


def _text(found: list[Gap], rates: dict[str, Interval]) -> str:
    """Return one or two sentences that the intervals and tests allow."""
    worse = [one.first for one in found if one.p_holm < 0.05 and one.found.estimate < 0]
    said = f"Loses with {listed(worse)}." if worse else "No loss shown with any wording."
    over, under = (rates[name] for name in RATES)
    if over.n and over.low > 0.5:
        said += " Mostly answers where nobody can know."
    elif over.n and over.high < 0.5:
        said += " Mostly says so when nobody can know."
    if under.n and over.n and under.low > over.high:
        said += " Rather too careful than too bold."
    return said
