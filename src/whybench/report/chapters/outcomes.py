"""How episodes ended, and what they took: outcomes, tokens, time and cost."""

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

SPENT = ("input_tokens", "output_tokens", "reasoning_tokens", "seconds", "cost")
MANY_UNANSWERED = 0.1
"""From this share of episodes without an answer on, a reader is warned."""


def outcomes(views: Sequence[View]) -> Section:
    """Return how episodes ended, by run."""
    runs = [run for view in views for run in view.runs]
    rows = tidy(row for run in runs for row in _ends(run))
    unanswered = rows[rows["outcome"] != ANSWERED].groupby("run")["share"].sum()
    warned = {name: share for name, share in unanswered.items() if share >= MANY_UNANSWERED}
    parts: list[Part] = [
        Remark(f"{name}: {in_numbers(share)} of the episodes ended without an answer.", "warning")
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
    parts.append(
        Figure("outcomes-shares", "How episodes ended", said, chart, wide.fillna(0).reset_index())
    )
    intro = (
        "Every episode ends with a name for what happened. One without an answer is counted, never "
        "dropped in silence; whether it scores zero is said on the family's card."
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
    """Return tokens, time and cost, by run; reference agents count four characters a token."""
    rows = tidy(_spent(run) for view in views for run in view.runs)
    note = (
        "Means per episode, and totals. Time is wall time: it depends on the machine and on how "
        "many samples ran at once; cost is there only if Inspect knows the provider's prices. "
        "Tokens of reference agents are not counted but reckoned, four characters each."
    )
    return Section(
        "spent", "Tokens, time and cost", "", (Table("spent", "Per run", rows, note=note),)
    )


def _spent(run: Run) -> dict[str, Any]:
    row: dict[str, Any] = {"system": run.system, "suite": run.suite, "episodes": len(run.frame)}
    for name in SPENT:
        values = pd.to_numeric(run.frame[name]).dropna()
        row[f"{name} per episode"] = values.mean() if len(values) else None
        if name not in ("seconds", "reasoning_tokens"):
            row[f"{name} in all"] = values.sum() if len(values) else None
    return row
