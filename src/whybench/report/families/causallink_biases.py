"""Failure patterns among wrong answers, beside the paper's Table 2."""

from __future__ import annotations

from typing import Any

import pandas as pd

from whybench.families.causallink.bias import BIASES
from whybench.families.causallink.retell import PATTERNS
from whybench.report.charts import dots
from whybench.report.families.causallink_runs import (
    SUITES,
    bounds,
    own,
    spoken,
    unlike,
    unlike_in_words,
)
from whybench.report.mapping import runs_of
from whybench.report.section import Figure, Part, Remark, Section
from whybench.report.view import View
from whybench.stats.interval import rate_interval

PUBLISHED = "published, Table 2"
"""The one published series: three systems pooled."""


def biases(view: View) -> Section:
    """Show the failure patterns among wrong answers, beside the paper's Table 2."""
    parts: list[Part] = []
    for suite in SUITES:
        frame = patterns(view, suite)
        if not frame.empty:
            parts.append(_patterns(suite, frame))
    if not parts:
        parts.append(
            Remark("No run here has a wrong answer that a failure pattern could be read from.")
        )
    return Section(
        "causallink-biases",
        "Biases",
        "The paper names four patterns among wrong answers; here they are told by mechanical rules "
        "from the trace. " + " ".join(f"{_said(name)}: {what}." for name, what in PATTERNS.items()),
        tuple(parts),
    )


def patterns(view: View, suite: str) -> pd.DataFrame:
    """Return each pattern's share of a run's wrong answers, and on core the published shares."""
    rows: list[dict[str, Any]] = []
    for name, run in own(view, suite):
        labels = [label.get("bias") for label in run.frame["labels"]]
        wrong = run.frame[[label is not None for label in labels]]
        seen = [label for label in labels if label is not None]
        for pattern in BIASES if seen else ():
            found = rate_interval(
                [float(label == pattern) for label in seen], list(wrong["cluster"])
            )
            rows.append(
                {"system": name, "series": name, "pattern": _said(pattern), "share": found.estimate,
                 **bounds(found), "printed": "", "wrong answers": found.n, "published": False,
                 "unlike": unlike(run) if suite == "core" else ""}
            )  # fmt: skip
    if rows and suite == "core":
        rows += [
            {"system": cell.system, "series": PUBLISHED, "pattern": _said(cell.condition),
             "share": cell.share, "printed": f"{cell.printed} {cell.unit}",
             "wrong answers": cell.n, "published": True, "unlike": ""}
            for cell in view.published.cells("causallink", table="2", metric="failure_share")
        ]  # fmt: skip
    return pd.DataFrame(rows)


def _said(pattern: str) -> str:
    other = {"other_fn": "other missed links", "other_fp": "other false links"}
    return other.get(pattern, pattern.replace("_", " "))


def _patterns(suite: str, frame: pd.DataFrame) -> Figure:
    said = "; ".join(
        f"{system} ({int(cells['wrong answers'].iloc[0])} wrong): "
        + ", ".join(
            f"{row['pattern']} {spoken(row['share'])}"
            for row in cells.to_dict("records")
            if row["share"] > 0
        )
        for system, cells in frame.groupby("series", sort=False)
    )
    told = "Bars: 95 % intervals clustered by latent world."
    if frame["published"].any():
        caveat = runs_of("causallink", "core_failure_modes", BIASES[0]).caveat
        told += f" Hollow grey: Table 2, other instances; {caveat}.{unlike_in_words(frame)}"
    return Figure(
        f"causallink-biases-{suite.replace('_', '-')}",
        f"Failure patterns among wrong answers, causallink/{suite}",
        f"Share of wrong answers by pattern. {said}.",
        dots(
            frame, x="share", y="pattern", color="series", low="low", high="high",
            published="published", y_sort=[_said(name) for name in BIASES],
            x_title="share of wrong answers",
        ),
        frame,
        told,
    )  # fmt: skip
