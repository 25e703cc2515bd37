"""The report's section on CausalLink."""

from __future__ import annotations

from typing import Any

import pandas as pd

from whybench.report.families.causallink_biases import biases
from whybench.report.families.causallink_failures import evidence, failures
from whybench.report.families.causallink_prompts import prompts
from whybench.report.families.causallink_runs import named, suite_of
from whybench.report.families.causallink_steps import steps
from whybench.report.families.causallink_structure import by_size, by_structure
from whybench.report.section import Part, Remark, Section, Table
from whybench.report.view import View


def section(view: View) -> Section:
    """Return all that is shown of CausalLink."""
    parts: list[Part] = [_runs(view)] if view.runs else []
    parts += [
        Remark(
            f"{name}: none of its {len(run.frame)} episodes was scored, so it is in no figure.",
            "warning",
        )
        for name, run in named(view.runs)
        if not view.estimate(run, "accuracy").n
    ]
    return Section(
        "causallink",
        "CausalLink",
        "Entities drive one another; a system starts and stops them, watches, and says whether one "
        "drives another. Every answer is held against what the evidence proves.",
        tuple(parts),
        (
            prompts(view),
            by_structure(view),
            by_size(view),
            steps(view),
            failures(view),
            evidence(view),
            biases(view),
        ),
    )


def _runs(view: View) -> Table:
    rows: list[dict[str, Any]] = []
    for name, run in named(view.runs):
        found = view.estimate(run, "accuracy")
        rows.append(
            {
                "system": name,
                "suite": suite_of(run),
                "profile": run.profile,
                "protocol": run.protocol,
                "skin": run.skin,
                "evidence": run.evidence,
                "accuracy": found.estimate,
                "low": found.low,
                "high": found.high,
                "proved": view.estimate(run, "proved").estimate,
                "episodes": found.n,
                "worlds": found.clusters,
            }
        )
    return Table(
        "causallink-runs",
        "Runs",
        pd.DataFrame(rows),
        "Accuracy counts an episode without an answer as wrong. Intervals are 95 %, clustered by "
        "latent world: orders that differ in names only are one.",
    )
