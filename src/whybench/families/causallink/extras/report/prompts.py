"""Compare the two prompts (the paper's Tables 4 and 5), and the bias towards yes or no."""

from __future__ import annotations

from typing import Any

import pandas as pd

from whybench.families.causallink.extras.report.rows import (
    bounds,
    differences_in_words,
    own,
    paper_differences,
)
from whybench.report.filling import reach
from whybench.report.forms import Row, Shown
from whybench.report.published.row_match import runs_of
from whybench.report.view import View

TABLES = ("4", "5")
"""The tables with every system under one prompt each; Table 1 shows the better of the two."""

PROMPTS = ("paper", "paper_step_limited")
"""The templates that tell what the paper's two prompts tell."""

COLUMNS = ("accuracy", "accuracy_true", "accuracy_false", "experiments", "errors")

FEW = 10
"""Below this number of clusters, intervals are wide."""

ERRED = ("invalid_format", "invalid_action", "invalid_answer", "timeout", "unfinished")
"""Outcomes without an answer."""


def by_prompt(view: View) -> Shown:
    """Return a row for each run on core and, if there is one, each published row of Tables 4, 5.

    The user's systems keep their order. The published ones follow, best first.
    """
    rows: list[Row] = []
    for entry in own(view, "core"):
        run = entry.run
        found = {metric: view.estimate(run, metric) for metric in COLUMNS[:-1]}
        scored = run.frame[run.frame["accuracy"].notna()]
        if not found["accuracy"].n:
            continue
        made = bounds(found["experiments"])
        rows.append({
            "system": entry.system.replace(f" · template={run.template}", ""),
            "prompt": run.template, "source": entry.origin, "published": False,
            **{metric: f"{value.estimate:.3f}" for metric, value in found.items()},
            "errors": str(int(scored[list(ERRED)].sum().sum())),
            "share": found["accuracy"].estimate, **bounds(found["accuracy"]),
            "steps": found["experiments"].estimate,
            "steps_low": made["low"], "steps_high": made["high"],
            "right_on_true": found["accuracy_true"].estimate,
            "right_on_false": found["accuracy_false"].estimate,
            "episodes": len(scored), "worlds": int(scored["cluster"].nunique()),
            "differs from the paper in": paper_differences(run),
        })  # fmt: skip
    if not rows:
        return Shown(pd.DataFrame())
    worlds = [row["worlds"] for row in rows]
    frame = pd.DataFrame([*rows, *_published(view)])
    frame["series"] = frame["prompt"] + frame["published"].map({True: " (published)", False: ""})
    best = frame.groupby("system")["share"].transform("max").where(frame["published"], 2.0)
    words = {
        "worlds": " to ".join(dict.fromkeys([f"{min(worlds)}", f"{max(worlds)}"])),
        "wide": ", so the intervals are wide" if min(worlds) < FEW else "",
        "differences": differences_in_words(frame),
    }
    order = (-best).sort_values(kind="stable").index
    return Shown(frame.loc[order].reset_index(drop=True), words)


def _published(view: View) -> list[Row]:
    rows: dict[tuple[str, str], Row] = {}
    for cell in (c for t in TABLES for c in view.published.cells("causallink", table=t)):
        asked = runs_of("causallink", cell.suite, cell.condition).runs[0].args["template"]
        row = rows.setdefault(
            (cell.system, asked),
            {"system": f"{cell.system} (published)", "prompt": asked, "published": True,
             "source": f"published, Table {cell.table}", "differs from the paper in": ""},
        )  # fmt: skip
        row[cell.metric] = cell.printed
        if cell.metric == "accuracy":
            row |= {"share": cell.share, "episodes": cell.n}
        elif cell.metric == "experiments":
            row["steps"] = cell.value
        elif cell.metric in ("accuracy_true", "accuracy_false"):
            row[f"right_on_{cell.metric.rpartition('_')[2]}"] = cell.share
    return list(rows.values())


def lean(view: View) -> Shown:
    """Return the rows with accuracy on true and on false links; published rows form one series."""
    frame, words = by_prompt(view)
    if frame.empty:
        return Shown(frame)
    drawn = frame.dropna(subset=["right_on_true", "right_on_false"])
    series = (drawn["system"] + ", " + drawn["prompt"]).mask(drawn["published"], "published")
    ranges = {f"on_{side}": reach(drawn, f"right_on_{side}") for side in ("true", "false")}
    return Shown(drawn.assign(series=series), {**words, **ranges})


def absent_prompts(view: View) -> list[dict[str, Any]]:
    """Return the paper's prompts that no run used, if there is a run on core."""
    frame = by_prompt(view).frame
    used = set(frame.loc[~frame["published"], "prompt"]) if len(frame) else {*PROMPTS}
    return [{"template": template} for template in PROMPTS if template not in used]
