"""ReCITE by length of reasoning (Table 19, Figures 9 and 10 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from whybench.families.recite.analyses.sizes import reasoning
from whybench.report import charts
from whybench.report.families.recite_graphs import (
    FEWEST_PARTED,
    ONCE,
    by_graph,
    column,
    quarter_rows,
    tested,
)
from whybench.report.families.recite_rows import SCORE, Row, framed, in_words, series
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

FOURTHS = ("shortest", "second", "third", "longest")


def reasoning_section(view: View) -> Section:
    """Show whether longer reasoning goes with better graphs."""
    rows: list[Row] = []
    table: list[Row] = []
    for name, run in series(run for run in view.runs if not run.reference):
        tokens = _tokens(run.frame)
        if tokens is None:
            continue
        graphs = by_graph(run.frame, SCORE, tokens)
        found = reasoning(column(graphs, SCORE), column(graphs, tokens), name)
        table.append({
            "system": name, "tokens of": tokens.removesuffix("_tokens"),
            "documents": int(graphs["documents"].sum()), "graphs": found.found.n,
            "median tokens": found.median, "Pearson r": found.found.value,
            "p": tested(found.found.p, found.found.n),
        })  # fmt: skip
        if len(graphs) >= FEWEST_PARTED:
            rows += quarter_rows(name, graphs, tokens, FOURTHS, "length")
    if not table:
        return Section(
            "recite-reasoning",
            "Length of reasoning",
            parts=(Remark("Not shown: no run of a model has counts of its tokens."),),
        )
    parts: list[Part] = []
    frame = framed(rows)
    if len(frame):
        chart = charts.lines(
            frame, x="length", y="value", low="low", high="high", x_sort=FOURTHS, y_title=SCORE,
            x_title="quarters of each system's graphs, by tokens spent on a document",
        )  # fmt: skip
        alt = f"{SCORE} by length of reasoning. {in_words(frame, 'length')}"
        parts.append(Figure("recite-tokens", "By length of reasoning", alt, chart, frame))
    note = (
        "Reasoning tokens where the provider counts them, else output tokens. Long documents get "
        f"long answers, so this shows no effect of thinking longer. {ONCE}"
    )
    parts.append(Table("recite-reasoning-r", "Length and score", pd.DataFrame(table), note))
    return Section("recite-reasoning", "Length of reasoning", parts=tuple(parts))


def _tokens(frame: pd.DataFrame) -> str | None:
    """Return the column that tells how long a system reasoned; None if nothing does."""
    columns: Sequence[str] = ("reasoning_tokens", "output_tokens")
    return next((name for name in columns if name in frame and frame[name].nunique() > 1), None)
