"""Which runs of CausalLink are shown, and in what they differ from the paper's."""

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
"""Suites in the order in which they are shown."""

ASKED = ("basic", "step_limited")
"""The paper's prompts, each with a table of its own."""


def own(view: View, suite: str) -> list[Entry]:
    """Return the named runs on a suite in which a system experimented itself."""
    found = [run for run in view.runs if run.suite == f"causallink/{suite}"]
    return entries((run for run in found if run.evidence == "own"), ["evidence"])


def bounds(found: Interval) -> dict[str, float]:
    """Return an interval as columns; one cluster alone has no spread to show."""
    alone = found.clusters < 2
    return {"low": math.nan if alone else found.low, "high": math.nan if alone else found.high}


def paper_differences(run: Run) -> str:
    """Name the arguments in which a run on core differs from the paper's runs on it."""
    asked = (runs_of("causallink", f"core_{prompt}", "").runs[0] for prompt in ASKED)
    return ", ".join(setup_differences(run, asked))


def differences_in_words(frame: pd.DataFrame) -> str:
    """Say which systems of a frame were not asked as in the paper, and what was otherwise."""
    ours = frame[(frame["differs from the paper in"] != "") & ~frame["published"]]
    groups = ours.groupby("differs from the paper in", sort=False)
    return sentence({str(names): list(rows["system"]) for names, rows in groups})
