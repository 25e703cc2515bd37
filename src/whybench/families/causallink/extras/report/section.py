"""The report's section on CausalLink."""

from __future__ import annotations

from whybench.families.causallink.extras.report import answers, covariates, prompts
from whybench.report.entries import entries
from whybench.report.filling import named, written
from whybench.report.forms import Row, read
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return the parts of the section."""
    form = read(__package__, "section.toml")
    parts = (answers, prompts, covariates)
    return written(form, globals() | named(*parts), view)


def runs(view: View) -> list[Row]:
    """Return a row for each run."""
    rows: list[Row] = []
    for entry in entries(view.runs):
        run, found = entry.run, view.estimate(entry.run, "accuracy")
        rows.append({
            "system": entry.system, "suite": entry.suite, "profile": run.profile,
            "protocol": run.protocol, "template": run.template, "evidence": run.evidence,
            "accuracy": found.estimate, "low": found.low, "high": found.high,
            "understood": view.estimate(run, "understood").estimate, "episodes": found.n,
            "clusters": found.clusters,
        })  # fmt: skip
    return rows


def unscored(view: View) -> list[Row]:
    """Return the runs without a scored episode."""
    return [
        {"system": entry.system, "count": len(entry.run.frame)}
        for entry in entries(view.runs)
        if not view.estimate(entry.run, "accuracy").n
    ]
