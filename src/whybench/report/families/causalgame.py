"""The section on CausalGame: fleets, protocols, scenarios, reports, beliefs and failures."""

from __future__ import annotations

from typing import Any

import pandas as pd

from whybench.report.families.causalgame_beliefs import beliefs
from whybench.report.families.causalgame_failures import failures, knobs
from whybench.report.families.causalgame_judged import judged
from whybench.report.families.causalgame_modes import difficulty, protocols
from whybench.report.families.causalgame_rows import COMMAND, NAME, Group, groups, own
from whybench.report.families.causalgame_survival import survival
from whybench.report.section import Remark, Section, Table
from whybench.report.view import View

TITLE = "CausalGame"
INTRO = (
    "A drone workshop: read records that were neither flown nor kept at random, deploy small "
    "batches, commit one design to a fleet of 1,000, and report why it came back or did not. "
    "`win` says that enough of the fleet came back."
)
SHOWN = {
    "win": "won",
    "survival_rate": "survival",
    "survival_regret": "regret",
    "deploys": "deployments",
    "drones_used": "drones",
    "questions_asked": "questions",
    "numbers_faithful": "faithful numbers",
    "unreported": "no report",
}
"""Metric → its heading."""


def section(view: View) -> Section:
    """Return all that is to be said of runs of CausalGame."""
    every = [*groups(view), *groups(view, generated=True)]
    if not any(len(group.frame) for group in every):
        text = f"No episode of CausalGame is in these logs: {COMMAND} -T suite=all --model MODEL."
        return Section(NAME, TITLE, INTRO, (Remark(text),))
    children = [
        survival(view) if own(groups(view)) else None,
        protocols(view),
        difficulty(view),
        judged(view),
        beliefs(view),
        failures(view),
        knobs(view),
    ]
    return Section(
        NAME,
        TITLE,
        INTRO,
        (_glance(view, every),),
        tuple(child for child in children if child is not None and (child.parts or child.children)),
    )


def _glance(view: View, every: list[Group]) -> Table:
    rows = []
    for group in every:
        run = group.first
        row: dict[str, Any] = {
            "system": group.name,
            "suite": ", ".join(dict.fromkeys(r.suite.partition("/")[2] for r in group.runs)),
            "profile": run.profile,
            "evidence": run.evidence,
            "episodes": len(group.frame),
        }
        for metric, heading in SHOWN.items():
            score = group.estimate(view, metric)
            row[heading] = _figure(score.estimate, score.low, score.high, metric == "win")
        ended = group.frame["outcome"].value_counts()
        others = ended.drop(labels="answered", errors="ignore")
        row["ended otherwise"] = ", ".join(f"{name} {n}" for name, n in others.items())
        rows.append(row)
    return Table(
        f"{NAME}-glance",
        "At a glance",
        pd.DataFrame(rows),
        "Means over instances; after `won` its 95 % interval, by world. Regret: 0 as good as the "
        "best known design, 1 no better than the default. An episode without a fleet counts as "
        "lost, with survival 0.",
    )


def _figure(estimate: float, low: float, high: float, spread: bool) -> str:
    if pd.isna(estimate):
        return "–"
    told = f"{estimate:.2f}"
    return f"{told} [{low:.2f}, {high:.2f}]" if spread and not pd.isna(low) else told
