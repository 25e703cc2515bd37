"""ReCITE's room in the report: how much of a document's causal graph was read, and from which."""

from __future__ import annotations

import pandas as pd

from whybench.report import charts
from whybench.report.families.recite_beside import beside, not_beside
from whybench.report.families.recite_judge import judge_section
from whybench.report.families.recite_openness import explicitness_section
from whybench.report.families.recite_origin import date_section, domain_section
from whybench.report.families.recite_reasoning import reasoning_section
from whybench.report.families.recite_rows import (
    SCORE,
    Row,
    estimated,
    framed,
    in_words,
    missing,
    series,
    systems,
)
from whybench.report.families.recite_shape import shape_section
from whybench.report.families.recite_size import size_section
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

STAGES = {
    "name_recall": "gold nodes that were found",
    "edge_undirected_f1": "nodes joined rightly, either way",
    "edge_f1_answered": "joined in the right direction",
}

TOLD = {"legacy_f1": "f1"}
"""Our metric → what Table 4 of the paper calls it."""


def section(view: View) -> Section:
    """Show all that the runs of this family say."""
    if not view.runs:
        return Section("recite", "ReCITE", parts=(), children=(judge_section(view),))
    return Section(
        "recite",
        "ReCITE: reading a causal graph out of a document",
        "A long document is read and its causal graph handed in. edge_f1 weighs the share of "
        "arrows found against the share of arrows handed in that are gold; a missing answer has 0. "
        "Reference agents are in the scores, on the ladder and by kind of arrow; elsewhere only if "
        "no model was run.",
        (*_overview(view), *_stages(view), *_told(view)),
        (
            explicitness_section(view),
            size_section(view),
            shape_section(view),
            domain_section(view),
            date_section(view),
            reasoning_section(view),
            judge_section(view),
        ),
    )


def _overview(view: View) -> list[Part]:
    rows: list[Row] = []
    for name, run in series(view.runs):
        found = view.estimate(run, SCORE)
        between = view.bounds(run)
        outcomes = run.frame["outcome"].value_counts()
        left_out = int(outcomes.get("context_exceeded", 0))
        counted = len(run.frame) - left_out
        answered = int(outcomes.get("answered", 0))
        rows.append({
            "system": name, "suite": run.suite, "profile": run.profile,
            "documents": int(run.frame["instance"].nunique()), SCORE: found.estimate,
            "low": found.low, "high": found.high,
            "edge_precision": view.estimate(run, "edge_precision").estimate,
            "edge_recall": view.estimate(run, "edge_recall").estimate,
            "floor": between.floor, "ceiling": between.ceiling,
            "floor and ceiling rest on": between.source,
            "without a valid graph": 1 - answered / counted if counted else float("nan"),
            "valid at first": view.estimate(run, "valid_first").estimate,
            "too long for the model": left_out,
        })  # fmt: skip
    note = (
        "Floor: the better of a graph without arrows and one drawn at random between the gold "
        "nodes. Ceiling: what can be read at all; unnamed factors cannot, unless names are told. "
        "Documents too long for a model are left out of its averages and counted in the last "
        "column."
    )
    return [Table("recite-scores", "Scores", pd.DataFrame(rows), note)]


def _stages(view: View) -> list[Part]:
    """Show where arrows get lost: nodes not found, not joined, or joined the wrong way."""
    rows: list[Row | None] = []
    for one in systems(view.runs):
        for metric, stage in STAGES.items():
            if metric in one[1].frame:
                rows.append(estimated(view, one, metric, stage=stage))
    frame = framed(rows)
    if not len(frame):
        return [Remark("No run handed in a graph that could be compared.", "warning")]
    chart = charts.dots(
        frame, x="value", y="stage", low="low", high="high", y_sort=list(STAGES.values()),
        x_title="share of gold nodes; F1 of arrows, among answers",
    )  # fmt: skip
    alt = (
        f"Nodes found, nodes joined, and arrows in the right direction. {in_words(frame, 'stage')}"
    )
    note = (
        "A drop from the second row to the third is direction. Where names are told there is "
        "nothing to find, so the first row is empty."
    )
    return [Figure("recite-stages", "Where arrows get lost", alt, chart, frame, note)]


def _told(view: View) -> list[Part]:
    """Show runs with names told beside the paper's Table 4, in its own formula."""
    rows: list[Row | None] = []
    told = series(run for run in view.runs if run.suite == "recite/name_assisted")
    for one in told:
        rows += [estimated(view, one, metric) for metric in TOLD if metric in one[1].frame]
    if not any(rows):
        return [missing("names told, beside the paper's Table 4", "-T suite=name_assisted")]
    for metric in TOLD.values():
        rows += beside(view, told, "name_assisted", metric)
    frame = framed(rows)
    order = list(frame.sort_values("value", ascending=False)["system"])
    chart = charts.dots(
        frame, x="value", y="system", low="low", high="high", y_sort=order, published="published",
        x_title="the release's F1",
    )  # fmt: skip
    note = (
        "The release's F1 is no F1 (it rests on an area under a curve and a mean of curve points) "
        "and cannot come near 0; it is shown because Table 4 has no other. Made documents "
        "are plainer than the paper's texts."
    )
    alt = f"The release's F1 with names told. {in_words(frame)}"
    figure = Figure("recite-told", "Names told, in the formula of Table 4", alt, chart, frame, note)
    if frame["published"].any():
        return [figure]
    return [figure, not_beside("Table 4", "name_assisted")]
