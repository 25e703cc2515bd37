"""Select the runs of CausalLink, and find how they differ from the paper's runs."""

from __future__ import annotations

import math

import pandas as pd

from whybench.report.entries import Entry, entries
from whybench.report.published.row_match import runs_of
from whybench.report.published.setup_differences import sentence, setup_differences
from whybench.report.runs import Run
from whybench.report.view import View
from whybench.stats.interval import Interval

SUITES = ("core", "core_distinct", "collider", "advanced", "large")
"""Suites in display order."""

ASKED = ("basic", "step_limited")
"""The paper's prompts; each has its own table in the paper."""


def own(view: View, suite: str) -> list[Entry]:
    """Return the runs on a suite in which the system made its own experiments."""
    found = [run for run in view.runs if run.suite == f"causallink/{suite}"]
    return entries((run for run in found if run.evidence == "own"), ["evidence"])


def bounds(found: Interval) -> dict[str, float]:
    """Return an interval as columns; a single cluster has no interval."""
    alone = found.clusters < 2
    return {"low": math.nan if alone else found.low, "high": math.nan if alone else found.high}


def paper_differences(run: Run) -> str:
    """Name the arguments in which a run on core differs from the paper's runs on it."""
    asked = (runs_of("causallink", f"core_{prompt}", "").runs[0] for prompt in ASKED)
    return ", ".join(setup_differences(run, asked))


def differences_in_words(frame: pd.DataFrame) -> str:
    """Say which systems ran with other arguments than the paper's, and which arguments."""
    ours = frame[(frame["differs from the paper in"] != "") & ~frame["published"]]
    groups = ours.groupby("differs from the paper in", sort=False)
    return sentence({str(names): list(rows["system"]) for names, rows in groups})
