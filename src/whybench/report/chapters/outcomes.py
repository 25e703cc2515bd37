"""Show how episodes ended and what they used: outcomes, tokens, time and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from whybench.episode.episode import ANSWERED
from whybench.report.charts import bars
from whybench.report.frames import in_numbers, tidy
from whybench.report.palette import LIGHT, SYSTEMS
from whybench.report.runs import Run
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

SPENT = {
    "input_tokens": "input tokens",
    "output_tokens": "output tokens",
    "reasoning_tokens": "reasoning tokens",
    "seconds": "seconds",
    "cost": "cost",
}
"""Column of a run → its name in the table."""
MANY_UNANSWERED = 0.1
"""A warning names a run if at least this share of its episodes has no answer."""


NOTE = "Each bar is a run. Its parts are the shares of episodes with each outcome."


def outcomes(views: Sequence[View]) -> Section:
    """Return the section on outcomes, by run."""
    runs = [run for view in views for run in view.runs]
    rows = tidy(row for run in runs for row in _ends(run))
    unanswered = rows[rows["outcome"] != ANSWERED].groupby("run")["share"].sum()
    warned = {name: share for name, share in unanswered.items() if share >= MANY_UNANSWERED}
    parts: list[Part] = [
        Remark(f"{name}: {in_numbers(share)} of the episodes have no answer.", "warning")
        for name, share in warned.items()
    ]
    kinds = [ANSWERED, *sorted(set(rows["outcome"]) - {ANSWERED})]
    others = [LIGHT[token] for token in SYSTEMS[1:]]
    hues = [LIGHT["blue"], *(others[place % len(others)] for place in range(len(kinds) - 1))]
    said = "; ".join(
        f"{name}: "
        + ", ".join(f"{row.outcome} {in_numbers(row.share)}" for row in group.itertuples())
        for name, group in rows.groupby("run", sort=False)
    )
    chart = bars(
        rows, x="share", y="run", color="outcome", order=kinds, palette=hues,
        x_title="share of episodes", y_sort=list(dict.fromkeys(rows["run"])),
    )  # fmt: skip
    wide = rows.pivot_table(index="run", columns="outcome", values="share", sort=False)
    drawn = wide.fillna(0).reset_index()
    parts.append(Figure("outcomes-shares", "How episodes ended", said, chart, drawn, NOTE))
    intro = (
        "Every episode ends with an outcome. Episodes without an answer are always counted. Each "
        "family's card states whether such an episode scores zero."
    )
    return Section("outcomes", "Answered, invalid, unanswered", intro, tuple(parts))


def _ends(run: Run) -> list[dict[str, Any]]:
    counts = run.frame["outcome"].value_counts()
    return [
        {
            "run": f"{run.system} on {run.suite}",
            "outcome": outcome,
            "episodes": int(count),
            "share": count / len(run.frame),
        }
        for outcome, count in counts.items()
    ]


def spent(views: Sequence[View]) -> Section:
    """Return the section on tokens, time and cost, by run."""
    rows = tidy(_spent(run) for view in views for run in view.runs)
    note = (
        "Means per episode, and totals. Time is wall time, so it depends on the machine and on the "
        "number of samples that ran at once. Cost is known only if Inspect knows the provider's "
        "prices. For reference agents, tokens are the number of characters divided by four."
    )
    return Section(
        "spent", "Tokens, time and cost", "", (Table("spent", "Per run", rows, note=note),)
    )


def _spent(run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {"system": run.system, "suite": run.suite, "episodes": len(run.frame)}
    for name, title in SPENT.items():
        values = pd.to_numeric(run.frame[name]).dropna()
        row[f"{title} per episode"] = values.mean() if len(values) else None
        if name not in ("seconds", "reasoning_tokens"):
            row[f"{title}, total"] = values.sum() if len(values) else None
    return row
