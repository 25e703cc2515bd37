"""Show how episodes ended and what they used: outcomes, tokens, time and cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from whybench.episode.episode import ANSWERED
from whybench.episode.score import mode_of, unusable
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

SHARES = (
    "Shares of the episodes. `unusable` sums the outcomes in which the model's last reply could "
    "not be used, whatever it meant."
)


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
    parts += [Remark(sentence, "warning") for sentence in lost_replies(runs)]
    kinds = _ordered({ANSWERED, *rows["outcome"]})
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
    parts.append(Table("outcomes-families", "Outcomes by family", by_family(runs), note=SHARES))
    if meanings := [_meaning(kind) for kind in kinds if kind != ANSWERED]:
        parts.append(Table("outcomes-meaning", "What the outcomes mean", tidy(meanings)))
    intro = (
        "Every episode ends with an outcome. Episodes without an answer are always counted. Each "
        "family's card states whether such an episode scores zero."
    )
    return Section("outcomes", "Answered, invalid, unanswered", intro, tuple(parts))


def by_family(runs: Iterable[Run]) -> pd.DataFrame:
    """Return the shares of unusable replies and of each outcome, by system and family."""
    ends: dict[tuple[str, str], list[pd.Series]] = {}
    for run in runs:
        ends.setdefault((run.system, run.family.name), []).append(run.frame["outcome"])
    rows = []
    for (system, family), found in ends.items():
        ended = pd.concat(found)
        lost = ended.map(unusable).mean()
        row = {"system": system, "family": family, "episodes": len(ended), "unusable": lost}
        rows.append(row | ended.value_counts(normalize=True).to_dict())
    frame = tidy(rows)
    return frame.fillna(0)[[*frame.columns[:4], *_ordered(frame.columns[4:])]]


def _ordered(kinds: Iterable[str]) -> list[str]:
    """Return outcomes with `answered` first."""
    return sorted(kinds, key=lambda kind: (kind != ANSWERED, kind))


def lost_replies(runs: Iterable[Run]) -> list[str]:
    """Return a sentence with advice for each system and family that has unusable replies."""
    said = []
    for row in by_family(runs).to_dict("records"):
        lost = {str(kind): share for kind, share in row.items() if share and unusable(str(kind))}
        if lost:
            mode = mode_of(max(lost, key=lambda kind: lost[kind]))
            shares = ", ".join(f"{kind} {in_numbers(share)}" for kind, share in lost.items())
            said.append(
                f"{row['system']} on {row['family']}: {in_numbers(row['unusable'])} of the "
                f"{row['episodes']} episodes have no usable reply ({shares}). {mode.reason} "
                f"{mode.advice}"
            )
    return said


def _meaning(outcome: str) -> dict[str, str]:
    mode = mode_of(outcome)
    return {"outcome": outcome, "meaning": mode.reason, "advice": mode.advice}


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
