"""Rows that several sections draw: estimates of a metric, a row per run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from whybench.report.runs import Run
from whybench.report.view import View, estimate

APART = ("oracle",)
"""Agents that see the truth: never shown among systems."""


def views_by_family(views: Iterable[View]) -> dict[str, View]:
    """Return views under their families' names."""
    return {view.family.name: view for view in views}


def systems(view: View) -> list[Run]:
    """Return the runs to show as systems: on their own evidence, floors and ceilings left out."""
    floors = {f"whybench/{agent}" for agent in (*view.family.floor_ceiling, "exact", *APART)}
    own = [run for run in view.runs if run.evidence == "own" and run.model not in floors]
    return own or [run for run in view.runs if run.evidence == "own"]


def estimated(run: Run, metric: str) -> dict[str, Any]:
    """Return a metric's mean, bounds and numbers as cells of a row."""
    found = estimate(run, metric)
    return {
        "score": found.estimate,
        "low": found.low,
        "high": found.high,
        "instances": run.frame["instance"].nunique(),
        "clusters": found.clusters,
    }


def tidy(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame."""
    return pd.DataFrame(list(rows))


def in_numbers(value: float) -> str:
    """Return a figure as it stands in a sentence."""
    return "–" if pd.isna(value) else f"{value:.2f}"
