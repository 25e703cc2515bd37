"""Rows of the paper's tables that combine several runs of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from whybench.families.causallink.extras.report.covariates import (
    SHOWN,
    by_setup,
    over_setups,
    sizes,
)
from whybench.report.papers.model import Item
from whybench.report.runs import Run
from whybench.report.view import View

PROMPTS = ("paper", "paper_step_limited")
"""The templates of the paper's two prompts."""

Row = dict[str, Any]


def _core(view: View) -> dict[str, dict[str, Run]]:
    """Return each model's largest run on the core set with each prompt of the paper."""
    found: dict[str, dict[str, Run]] = {}
    for run in sorted(view.runs, key=lambda run: len(run.frame)):
        published = run.suite == "causallink/core" and run.profile == "published"
        if published and run.evidence == "own" and run.template in PROMPTS:
            found.setdefault(run.model, {})[run.template] = run
    return found


def _best(view: View) -> Iterator[Run]:
    """Yield each model's run with the better prompt; of equal ones the basic prompt."""
    for runs in _core(view).values():
        listed = [runs[name] for name in PROMPTS if name in runs]
        yield max(listed, key=lambda run: view.estimate(run, "accuracy").estimate)


def best_of_two(view: View, item: Item) -> list[Row]:
    """Return Table 1: the better prompt of each model."""
    rows = []
    for run in _best(view):
        star = " (*)" if run.template == PROMPTS[1] else ""
        values = {
            name: view.estimate(run, metric).estimate
            for name, metric in (
                ("Acc. (F)", "accuracy_false"),
                ("Acc. (T)", "accuracy_true"),
                ("Acc.", "accuracy"),
                ("Avg. Steps", "experiments"),
            )
        }
        errors = str(int(run.frame["errors"].sum())) if "errors" in run.frame else None
        rows.append({item.system: run.model + star, **values, "Err.": errors})
    return rows


def by_structure(view: View, item: Item) -> list[Row]:
    """Return Figure 2: accuracy of the better prompt by structure, over initial setups."""
    names = dict(zip(SHOWN.values(), (column.name for column in item.columns), strict=False))
    rows = []
    for run in _best(view):
        frame = over_setups(by_setup(replace(view, runs=(run,)), "core"))
        cells = {
            names[str(cell["structure"])]: f"{cell['accuracy']:.3f} ± {cell['standard error']:.3f}"
            for cell in frame.to_dict("records")
        }
        rows.append({item.system: run.model, **cells})
    return rows


def by_size(view: View, item: Item) -> list[Row]:
    """Return Figure 3: accuracy by number of variables, all moving at the start."""
    rows = []
    for model in dict.fromkeys(run.model for run in view.runs):
        runs = tuple(
            run
            for run in view.runs
            if (run.model, run.template, run.profile) == (model, PROMPTS[0], "published")
        )
        frame = sizes(replace(view, runs=runs)) if runs else None
        if frame is not None and len(frame):
            frame = frame.sort_values("questions").drop_duplicates("n", keep="last")
            cells = {str(n): float(a) for n, a in zip(frame["n"], frame["accuracy"], strict=True)}
            rows.append({item.system: model, **cells})
    return rows


def failure_modes(view: View, item: Item) -> list[Row]:
    """Return Table 2: the share of each failure mode among failed cases, both prompts."""
    rows = []
    for model, runs in _core(view).items():
        labels = [label.get("bias") for run in runs.values() for label in run.frame["labels"]]
        failed = [label for label in labels if label is not None]
        for group in item.groups:
            share = failed.count(group.condition) / len(failed) if failed else float("nan")
            told = f"{100 * share:.1f}" if failed else "no failed case"
            rows.append({item.system: model, **group.labels, "Percentage": told})
    return rows
