"""CausalGame: what a judge made of the reports, and how runs failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from whybench.families.causalgame.judging.modes import mode
from whybench.families.causalgame.judging.rubric import NAMES, rubric
from whybench.report.charts import dots, heat
from whybench.report.families.causalgame_rows import (
    COMMAND,
    NAME,
    Group,
    groups,
    listed,
    own,
    percent,
)
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

JUDGE = "report_judge"
SIX = {
    "CR1": "causal_reasoning",
    "CR2": "causal_reasoning",
    "CR3": "causal_reasoning",
    "ED1": "experimental_design",
    "RQ1": "reflection_quality",
    "DU1": "data_usage",
}
"""Criterion of the rubric of six → its dimension; a mode depends on dimensions alone."""

WORDS = {
    "A": "A: neither causes nor experiments",
    "B": "B: experiments, no causes",
    "C": "C: a good report, few drones home",
    "D": "D: data, few causes",
    "E": "E: a little of each",
    "none": "none of these",
}
"""The paper's failure modes in our words."""


def judged(view: View) -> Section:
    """Return the room on judged reports."""
    found = [group for group in own(groups(view)) if f"{JUDGE}.rubric_total" in group.frame]
    parts: list[Part] = []
    if found:
        parts = [*_profile(view, found), *_modes(found), _honesty(view, found)]
    else:
        text = (
            "No report was judged. A log can be judged afterwards: inspect score LOG --scorer "
            "whybench/report_judge -S judges=MODEL, or from the start: "
            f"{COMMAND} -T judge=true --model-role judge=MODEL."
        )
        parts.append(Remark(text))
    return Section(
        f"{NAME}-judged",
        "What the reports show",
        "After its fleet has flown a system writes a report. Judges give verdicts on it by a "
        "rubric, without being told whose it is.",
        tuple(parts),
    )


def _profile(view: View, found: Sequence[Group]) -> list[Figure]:
    """Draw the points in each dimension, as a share of what there is."""
    titles = {
        f"{JUDGE}.rubric_{name}": title
        for which in NAMES
        for name, title in rubric(which).dimensions
    }
    rows = []
    for group in found:
        for column, title in titles.items():
            score = group.estimate(view, column) if column in group.frame else None
            if score is not None and score.n:
                rows.append(
                    {
                        "dimension": title,
                        "system": group.name,
                        "mode": group.first.protocol,
                        "share of points": score.estimate,
                        "low": score.low,
                        "high": score.high,
                        "n": score.n,
                    }
                )
    if not rows:
        return []
    frame = pd.DataFrame(rows)
    told = [
        f"{system}: "
        + listed(
            [f"{r['dimension'].lower()} {r['share of points']:.2f}" for _, r in part.iterrows()]
        )
        + f" (n {part['n'].max()})"
        for system, part in frame.groupby("system", sort=False)
    ]
    chart = dots(
        frame,
        x="share of points",
        y="dimension",
        low="low",
        high="high",
        x_title="share of the dimension's points",
        y_sort=list(dict.fromkeys(frame["dimension"])),
    )
    return [
        Figure(
            f"{NAME}-rubric",
            "Rubric profile by system and mode",
            "; ".join(told) + ".",
            chart,
            frame,
            "Means of the judges' verdicts; intervals 95 %, by world. Faults of the full rubric "
            "can take a share below 0.",
        )
    ]


def mode_of(row: pd.Series) -> str | None:
    """Return the failure mode of a judged row; None where the rubric of six was not used."""
    shares = {key: row.get(f"{JUDGE}.rubric_{name}") for key, name in SIX.items()}
    rate = row.get("survival_rate")
    if pd.isna(rate) or any(value is None or pd.isna(value) for value in shares.values()):
        return None
    return mode({key: float(str(value)) for key, value in shares.items()}, float(str(rate)))


def _modes(found: Sequence[Group]) -> list[Part]:
    rows: list[dict[str, Any]] = []
    for group in found:
        modes = group.frame.apply(mode_of, axis=1).dropna()
        rows += [
            {
                "system": f"{group.name} (n {len(modes)})",
                "mode": words,
                "share": float((modes == key).mean()),
                "reports": int((modes == key).sum()),
            }
            for key, words in WORDS.items()
            if len(modes)
        ]
    if not rows:
        return [Remark("Failure modes need the rubric of six: judge with rubric=six.")]
    frame = pd.DataFrame(rows)
    most = frame.loc[frame.groupby("system", sort=False)["share"].idxmax()]
    told = [
        f"{row['system']}: mostly {row['mode']} ({percent(row['share'])} %)"
        for _, row in most.iterrows()
    ]
    return [
        Figure(
            f"{NAME}-modes",
            "Failure modes by system",
            "; ".join(told) + ".",
            heat(frame, x="mode", y="system", value="share", x_sort=list(WORDS.values())),
            frame,
            "Share of judged reports, won fleets among them: a design can win for reasons that its "
            "author does not know. The rules are the paper's, tried in their order; where they are "
            "silent ours are in the family's card.",
        )
    ]


def _honesty(view: View, found: Sequence[Group]) -> Table:
    columns = {
        "rubric_total": "points",
        "mandatory_met": "mandatory met",
        "misreported": "misreported figures",
        "tampering": "signs of tampering",
        "judge_unreadable": "unreadable replies of judges",
        "judge_icc": "ICC of judges",
        "claim_distance": "claim distance",
    }
    rows = []
    for group in found:
        row: dict[str, Any] = {"system": group.name}
        row["reports judged"] = int(group.frame[f"{JUDGE}.rubric_total"].notna().sum())
        for key, name in columns.items():
            column = f"{JUDGE}.{key}"
            if column in group.frame:
                row[name] = round(group.estimate(view, column).estimate, 3)
        rows.append(row)
    return Table(
        f"{NAME}-judged-table",
        "Judged reports",
        pd.DataFrame(rows),
        "Means over reports. Claim distance: golden claims that the judges did not find in the "
        "report plus distractors that they did.",
    )
