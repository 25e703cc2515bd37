"""CausalGame: the judges' verdicts on reports, and failure modes."""

from __future__ import annotations

import pandas as pd

from whybench.families.causalgame.extras.judge.modes import mode
from whybench.families.causalgame.extras.judge.rubric import NAMES, rubric
from whybench.families.causalgame.extras.report.rows import Games, Group, percent
from whybench.report.forms import Row, Shown

JUDGE = "report_judge"
SIX = {
    "CR1": "causal_reasoning",
    "CR2": "causal_reasoning",
    "CR3": "causal_reasoning",
    "ED1": "experimental_design",
    "RQ1": "reflection_quality",
    "DU1": "data_usage",
}
"""Criterion of the rubric with six criteria → its dimension; modes depend on dimensions only."""

WORDS = {
    "A": "A: neither causes nor experiments",
    "B": "B: experiments, no causes",
    "C": "C: a good report, few drones home",
    "D": "D: data, few causes",
    "E": "E: a little of each",
    "none": "none of these",
}
"""The paper's failure modes, described in our words."""

COLUMNS = {
    "rubric_total": "points",
    "mandatory_met": "mandatory met",
    "misreported": "misreported figures",
    "tampering": "signs of tampering",
    "judge_unreadable": "unreadable replies of judges",
    "judge_icc": "ICC of judges",
    "claim_distance": "claim distance",
}


def _judged(games: Games) -> list[Group]:
    return [group for group in games.own if f"{JUDGE}.rubric_total" in group.frame]


def rubric_profile(games: Games) -> list[Row]:
    """Return the points in each dimension, as a share of its maximum."""
    titles = dict(pair for which in NAMES for pair in rubric(which).dimensions)
    rows = [
        {"dimension": title, **group.measured(f"{JUDGE}.rubric_{name}", "share of points"),
         "mode": group.first.protocol}
        for group in _judged(games)
        for name, title in titles.items()
        if f"{JUDGE}.rubric_{name}" in group.frame
    ]  # fmt: skip
    return [row for row in rows if row["n"]]


def mode_of(row: pd.Series) -> str | None:
    """Return the failure mode of a judged row; None without the rubric of six criteria."""
    shares = {key: row.get(f"{JUDGE}.rubric_{name}") for key, name in SIX.items()}
    rate = row.get("survival_rate")
    if pd.isna(rate) or any(value is None or pd.isna(value) for value in shares.values()):
        return None
    return mode({key: float(str(value)) for key, value in shares.items()}, float(str(rate)))


def modes(games: Games) -> Shown:
    """Return the share of each failure mode, by system."""
    rows: list[Row] = []
    told = []
    for group in _judged(games):
        found = group.frame.apply(mode_of, axis=1).dropna()
        if len(found):
            name = f"{group.name} (n {len(found)})"
            counts = {words: int((found == key).sum()) for key, words in WORDS.items()}
            rows += [
                {"system": name, "mode": words, "share": count / len(found), "reports": count}
                for words, count in counts.items()
            ]
            most = max(counts, key=lambda words: counts[words])
            told.append(f"{name}: mostly {most} ({percent(counts[most] / len(found))} %)")
    return Shown(pd.DataFrame(rows), {"told": "; ".join(told)})


def judged_table(games: Games) -> list[Row]:
    """Return means over judged reports."""
    return [
        {
            "system": group.name,
            "reports judged": int(group.frame[f"{JUDGE}.rubric_total"].notna().sum()),
            **{
                name: round(group.estimate(f"{JUDGE}.{key}").estimate, 3)
                for key, name in COLUMNS.items()
                if f"{JUDGE}.{key}" in group.frame
            },
        }
        for group in _judged(games)
    ]
