"""Build rows that several sections draw: a row per run, with a metric's estimate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from whybench.report.naming import seed_tag as seed_tag
from whybench.report.runs import Run
from whybench.report.view import View, estimate

APART = ("oracle",)
"""Agents that see the hidden system; never shown among systems."""


def systems(view: View) -> list[Run]:
    """Return the runs to show as systems: with their own evidence, without floors and ceilings.

    Floors and ceilings are kept on suites that no other system played.
    """
    floors = {f"whybench/{agent}" for agent in (*view.family.floor_ceiling, "exact", *APART)}
    own = [run for run in view.runs if run.evidence == "own"]
    played = {run.suite for run in own if run.model not in floors}
    return [run for run in own if run.model not in floors or run.suite not in played]


def marked(view: View) -> list[Run]:
    """Return the runs to mark in the overview: own evidence, floors and ceilings included."""
    oracles = {f"whybench/{agent}" for agent in APART}
    return [run for run in view.runs if run.evidence == "own" and run.model not in oracles]


def estimated(run: Run, metric: str) -> dict[str, Any]:
    """Return a metric's mean, interval and counts as cells of a row."""
    found = estimate(run, metric)
    return {
        "score": found.estimate,
        "low": found.low,
        "high": found.high,
        "scored": found.n,
        "episodes": len(run.frame),
        "instances": run.frame["instance"].nunique(),
        "clusters": found.clusters,
        "few clusters": found.few_clusters,
    }


def tidy(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame."""
    return pd.DataFrame(list(rows))


def in_numbers(value: float) -> str:
    """Return a number as text for a sentence."""
    return "–" if pd.isna(value) else f"{value:.2f}"
