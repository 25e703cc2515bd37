"""ReCITE by how openly a document speaks: the ladder, and how each arrow is given."""

from __future__ import annotations

import pandas as pd

from whybench.families.recite.analyses.bins import edge_names
from whybench.families.recite.analyses.sizes import EXPLICITNESS
from whybench.families.recite.params import levels
from whybench.report import charts
from whybench.report.families.recite_rows import (
    SCORE,
    Row,
    binned_rows,
    estimated,
    framed,
    in_words,
    missing,
    series,
    systems,
)
from whybench.report.section import Figure, Part, Section
from whybench.report.view import View

STATUSES = {
    "edge_recall_stated": "stated in one sentence",
    "edge_recall_implied": "implied across sentences",
    "edge_recall_derivable": "derivable only",
    "edge_recall_seen": "stated, frames of the short suites",
    "edge_recall_held_out": "stated, frames held out of them",
}


def explicitness_section(view: View) -> Section:
    """Show the score by how openly a document speaks."""
    parts: list[Part] = []
    ladder = series(run for run in view.runs if run.suite == "recite/made_ladder")
    rows: list[Row | None] = []
    for one in ladder:
        steps = view.joined(one[1]).get("level", pd.Series(dtype=float))
        rows += [
            estimated(view, one, SCORE, steps == level, level=int(level))
            for level in sorted(steps.dropna().unique())
        ]
    frame = framed(rows)
    if len(frame):
        chart = charts.lines(
            frame, x="level", y="value", low="low", high="high", y_title=SCORE,
            x_sort=sorted(frame["level"].unique()),
            x_title="level of explicitness: 1 says least openly, 5 says all",
        )  # fmt: skip
        parts.append(
            Figure(
                "recite-ladder",
                "The ladder of explicitness",
                f"{SCORE} by level, the same graphs at each. {in_words(frame, 'level')}",
                chart,
                frame,
                _levels(),
            )
        )
    else:
        parts.append(missing("the ladder of explicitness", "-T suite=made_ladder"))
    parts += _by_status(view)
    rows = []
    for one in systems(run for run in view.runs if run.suite != "recite/made_ladder"):
        shares = view.joined(one[1]).get("lenient", pd.Series(dtype=float))
        if shares.notna().any():
            rows += binned_rows(
                view, one, shares, EXPLICITNESS, edge_names(EXPLICITNESS), "mentioned"
            )
    frame = framed(rows)
    if len(frame) and frame["mentioned"].nunique() > 1:
        order = [name for name in edge_names(EXPLICITNESS) if name in set(frame["mentioned"])]
        chart = charts.lines(
            frame, x="mentioned", y="value", low="low", high="high", x_sort=order, y_title=SCORE,
            x_title="share of the nodes that the text mentions, openly or not",
        )  # fmt: skip
        alt = f"{SCORE} by share of mentioned nodes. {in_words(frame, 'mentioned')}"
        parts.append(Figure("recite-mentioned", "By share of mentioned nodes", alt, chart, frame))
    return Section(
        "recite-explicitness",
        "How openly the text speaks",
        "An arrow may stand in one sentence, be implied across sentences, or only follow from what "
        "is said; a node may be named, hinted at, or left unnamed.",
        tuple(parts),
    )


def _levels() -> str:
    """Say what the ends of the ladder are."""
    first, last = levels()[0], levels()[-1]
    return (
        f"Level 1 names {first.explicit:.0%} of the nodes and states {first.stated:.0%} of the "
        f"arrows, level {len(levels())} names {last.explicit:.0%} and states {last.stated:.0%}. "
        "Each graph is told at every level."
    )


def _by_status(view: View) -> list[Part]:
    rows: list[Row | None] = []
    for one in series(view.runs):
        for metric, given in STATUSES.items():
            if metric in one[1].frame:
                rows.append(estimated(view, one, metric, given=given))
    frame = framed(rows)
    if not len(frame):
        return [missing("recall by how the text gives an arrow", "-T suite=made_short")]
    chart = charts.dots(
        frame, x="value", y="given", low="low", high="high", x_title="share of such arrows found",
        y_sort=list(STATUSES.values()),
    )  # fmt: skip
    alt = f"Recall of arrows by how the text gives them. {in_words(frame, 'given')}"
    return [Figure("recite-status", "Which arrows are found", alt, chart, frame)]
