"""The section on CausalGame: fleets, protocols, scenarios, reports, beliefs and failures."""

from __future__ import annotations

from dataclasses import replace

from whybench.families.causalgame.extras.report import (
    beliefs,
    failures,
    judged,
    modes,
    paper,
    survival,
)
from whybench.families.causalgame.extras.report.rows import Games
from whybench.report.entries import told
from whybench.report.filling import named, written
from whybench.report.forms import Row, read
from whybench.report.section import Section
from whybench.report.view import View

SHOWN = {
    "survival_rate": "survival",
    "survival_regret": "regret",
    "deploys": "deployments",
    "drones_used": "drones",
    "questions_asked": "questions",
    "numbers_faithful": "faithful numbers",
    "unreported": "no report",
}
"""Metric → its heading."""

PARTS = (
    beliefs, failures, judged, modes,
    paper, survival,
)  # fmt: skip


def section(view: View) -> Section:
    """Return the report's section on runs of CausalGame."""
    games = Games.of(view)
    found = written(read(__package__, "section.toml"), globals() | named(*PARTS), games)
    return found if any(len(group.frame) for group in games.every) else replace(found, children=())


def glance(games: Games) -> list[Row]:
    """Return a row for each group; empty if there is no episode."""
    rows: list[Row] = []
    for group in games.every:
        run, ended = group.first, group.frame["outcome"].value_counts()
        means = {words: group.estimate(metric).estimate for metric, words in SHOWN.items()}
        others = ended.drop(labels="answered", errors="ignore")
        rows.append({
            "system": group.name,
            "suite": ", ".join(dict.fromkeys(r.suite.partition("/")[2] for r in group.runs)),
            "profile": run.profile, "evidence": run.evidence, "episodes": len(group.frame),
            "won": told(group.estimate("win"), 2),
            **{words: "–" if mean != mean else f"{mean:.2f}" for words, mean in means.items()},
            "ended otherwise": ", ".join(f"{name} {n}" for name, n in others.items()),
        })  # fmt: skip
    return rows if any(row["episodes"] for row in rows) else []
