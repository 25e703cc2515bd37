"""Correlate the ranks of systems: between families, and with benchmarks that a user supplies."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pandas as pd

from whybench.report.frames import tidy
from whybench.report.section import Part, Remark, Section, Table
from whybench.report.view import View, estimate
from whybench.stats.association import kendall, spearman

FEWEST = 4
"""Fewest shared systems for which a rank correlation is shown."""

Scores = dict[str, dict[str, float]]
"""Name of a score → system → value."""


def ranks(views: Sequence[View], others: Mapping[str, Mapping[str, float]]) -> Section:
    """Return rank correlations between suites of different families, and with other benchmarks."""
    scores = by_suite(views)
    pairs = [
        (a, b) for a, b in combinations(scores, 2) if a.partition("/")[0] != b.partition("/")[0]
    ]
    named: Scores = {**scores, **{name: dict(values) for name, values in others.items()}}
    pairs += [(suite, other) for suite in scores for other in others]
    rows = [row for a, b in pairs if (row := _row(a, b, named)) is not None]
    parts: tuple[Part, ...] = (
        (Table("ranks", "Rank correlation of systems", tidy(rows), NOTE),)
        if rows
        else (Remark(f"No two suites have {FEWEST} models in common, so no correlation is shown."),)
    )
    return Section("ranks", "Rank correlation", INTRO, parts)


INTRO = (
    "This section shows whether systems that do well on one suite also do well on another. It "
    "counts only systems that have a score on both."
)

NOTE = (
    "ρ is Spearman's and τ Kendall's rank correlation. The p-values are two-sided and not "
    "corrected for the number of rows. Only models with profile `certified` and their own evidence "
    "count. If a model has several runs on a suite, the latest counts."
)


def by_suite(views: Sequence[View]) -> Scores:
    """Return each model's headline by suite: certified, own evidence, latest run."""
    found: Scores = {}
    for view in views:
        for run in view.runs:
            if run.evidence == "own" and not run.reference and run.profile == "certified":
                score = estimate(run, view.family.headline).estimate
                if not pd.isna(score):
                    found.setdefault(run.suite, {})[run.model] = score
    return found


def read_others(path: Path) -> Scores:
    """Read scores of other benchmarks: a CSV file with `model` and a column per benchmark."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "model" not in rows[0]:
        raise ValueError(
            f"{path.name} has no column `model`. Write a CSV file with a column `model` and one "
            "column per benchmark."
        )
    found: Scores = {}
    for row in rows:
        for name, value in row.items():
            if name == "model" or not (value or "").strip():
                continue
            try:
                found.setdefault(name, {})[row["model"]] = float(value)
            except ValueError as error:
                raise ValueError(
                    f"{path.name}: {name} of {row['model']} is not a number: {value!r}."
                ) from error
    return found


def _row(first: str, second: str, scores: Scores) -> dict[str, object] | None:
    shared = sorted(scores[first].keys() & scores[second].keys())
    if len(shared) < FEWEST:
        return None
    a, b = ([scores[name][system] for system in shared] for name in (first, second))
    rho, tau = spearman(a, b), kendall(a, b)
    return {
        "first": first,
        "second": second,
        "systems": len(shared),
        "ρ": rho.value,
        "p of ρ": rho.p,
        "τ": tau.value,
        "p of τ": tau.p,
    }
