"""CausalGame: tables and figures of the paper that need judged claims, or pairs of scenarios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from inspect_ai.log import read_eval_log_sample

from whybench.families.causalgame.extras.judge.paper_claims import group_of, paper_claims
from whybench.families.causalgame.extras.judge.replies import VERDICT_WORDS
from whybench.families.causalgame.extras.judge.rubric import rubric
from whybench.families.causalgame.extras.report.judged import JUDGE
from whybench.families.causalgame.extras.report.rows import (
    NAME,
    RATE,
    Games,
    Group,
    percent,
)
from whybench.families.causalgame.extras.report.survival import MODES
from whybench.report.entries import PUBLISHED, cells
from whybench.report.forms import Row, Shown
from whybench.stats.interval import mean_interval

TASKS = {"antenna": "antenna_trap", "zone": "deployment_zone_trap"}
"""Group of scenarios → its name in Tables 4, 5 and 15."""

TABLES = {"antenna": "4", "zone": "5"}
SHARES = {"Golden": "claims_golden", "Distractor": "claims_distractor"}
RATES = {"golden_claim_rate": "Golden", "distractor_claim_rate": "Distractor"}

BIASED = ("antenna_trap", "deployment_zone_trap_categorical")
"""Scenarios with selection bias in Table 6; each has a control without it."""
CONTROL = "_no_selection_bias"
CONDITIONS = {
    "with_selection_bias": "w Selection Bias",
    "without_selection_bias": "w/o Selection Bias",
    "selection_bias_removed_minus_present": "Δ",
}

COLUMNS = {"prompting": "Prompt", "agentic": "Agent"}
"""Mode → its column in Table 6."""

SESSIONS = 20
"""Most sessions of a system in the table of criteria."""


def _released(games: Games) -> list[Group]:
    return [group for group in games.own if group.first.profile == "published"]


def _in_group(group: Group, task: str) -> pd.Series:
    return group.frame["scenario"].map(lambda name: group_of(str(name)) == task)


def _judged(games: Games) -> list[Group]:
    return [g for g in _released(games) if f"{JUDGE}.claims_golden" in g.frame]


def claims_by_model(games: Games) -> Iterator[Shown]:
    """Return Tables 4 and 5: shares of golden claims and distractors in reports, in per cent."""
    for task, table in TABLES.items():
        rows: list[Row] = []
        for group in _judged(games):
            where = _in_group(group, task)
            found = {n: group.estimate(f"{JUDGE}.{m}", where) for n, m in SHARES.items()}
            if found["Golden"].n:
                shares = {n: percent(one.estimate) for n, one in found.items()}
                rows.append(_whose(group) | shares | {"reports": found["Golden"].n})
        if not rows:
            continue
        printed: dict[str, Row] = {}
        for cell in games.view.published.cells(NAME, table=table):
            start = {"Model": cell.system, "whose": PUBLISHED}
            printed.setdefault(cell.system, start)[RATES[cell.metric]] = cell.printed
        rows += printed.values()
        yield Shown(pd.DataFrame(rows), {"task": task, "table": table})


def claims_one_by_one(games: Games) -> Shown:
    """Return Table 15: the share of reports that make each claim, in per cent."""
    found = _judged(games)
    rows: list[Row] = []
    for task, name in TASKS.items():
        printed = {
            c.condition: c.printed for c in games.view.published.cells(NAME, suite=name, table="15")
        }
        for claim in paper_claims(name):
            kind = "golden" if claim.golden else "distractor"
            row: Row = {"Task": name, "kind": kind, "id": claim.id, "Claim": claim.statement}
            row["paper, %"] = printed[f"{kind}:{claim.id}"]
            for group in found:
                column = f"{JUDGE}.claim_{task}_{claim.id}"
                if column in group.frame:
                    row[f"{group.name}, %"] = percent(group.estimate(column).estimate)
            rows.append(row)
    return Shown(pd.DataFrame(rows if found else []))


def judged_distances(games: Games) -> Iterator[Shown]:
    """Return Figures 8 and 9: the distance after each deployment, as judges read it."""
    for task, name in TASKS.items():
        rows: list[Row] = []
        for group in _judged(games):
            columns = sorted(c for c in group.frame if str(c).startswith(f"{JUDGE}.distance_"))
            own = group.frame[_in_group(group, task)]
            paths = own[columns].astype(float).ffill(axis="columns")
            for number, column in enumerate(columns, 1):
                score = mean_interval(paths[column], own["cluster"], bounds=(0, math.inf))
                if score.n:
                    at = {"deployments": number, "system": group.name}
                    rows.append(at | cells(score, "distance"))
        last = {row["system"]: row for row in rows}
        told = "; ".join(f"{name}: {row['distance']:.1f} at the end" for name, row in last.items())
        yield Shown(pd.DataFrame(rows), {"task": task, "name": name, "told": told})


def selection_pairs(games: Games) -> Shown:
    """Return Table 6: mean survival in two scenarios and in their controls, in per cent."""
    rows: list[Row] = []
    for group in _released(games):
        played = group.frame["scenario"]
        means = [
            [group.estimate(RATE, played == name + end).estimate for name in BIASED]
            for end in ("", CONTROL)
        ]
        if any(math.isnan(mean) for pair in means for mean in pair):
            continue
        biased, free = (sum(pair) / len(pair) for pair in means)
        mode = COLUMNS[MODES[group.first.protocol]]
        values = (biased, free, free - biased)
        rows += [
            _whose(group) | {"Condition": condition, mode: percent(value)}
            for condition, value in zip(CONDITIONS.values(), values, strict=True)
        ]
    printed: dict[str, Row] = {}
    for cell in games.view.published.cells(NAME, table="6") if rows else ():
        start = {"Model": cell.system, "whose": PUBLISHED, "Condition": CONDITIONS[cell.suite]}
        printed.setdefault(cell.suite, start)[COLUMNS[cell.condition]] = cell.printed
    return Shown(pd.DataFrame([*rows, *printed.values()]))


def criteria(games: Games) -> list[Row]:
    """Return Table 17: each judge's verdict on each criterion of the first sessions."""
    rows: list[Row] = []
    for group in _judged(games):
        places = [(run, row) for run in group.runs for row in run.frame.to_dict("records")]
        seen = [(r, row) for r, row in places if not pd.isna(row.get(f"{JUDGE}.rubric_total"))]
        for run, row in seen[:SESSIONS]:
            start = {"Model": group.name, "Session ID": row["instance"]}
            rows += [start | told for told in _verdicts(run.path, row)]
    return rows


def _verdicts(log: str, row: Mapping[str, Any]) -> Iterator[Row]:
    sample = read_eval_log_sample(log, row["sample"], row["epoch"], exclude_fields={"events"})
    said = ((sample.scores or {})[JUDGE].metadata or {}).get("verdicts", ())
    details = ((sample.scores or {})[JUDGE].metadata or {}).get("details", ())
    words = {value: word for word, value in VERDICT_WORDS.items()}
    order = [c.like or c.id for c in rubric("full").criteria]
    for verdicts, more in zip(said, details, strict=False):
        for key in sorted(verdicts or {}, key=lambda key: order.index(key) if key in order else 99):
            why = (more or {}).get(key, {})
            yield {
                "Criterion": key, "Score": verdicts[key], "Conf.": why.get("confidence"),
                "Verdict": words.get(verdicts[key], ""), "Reasoning": why.get("reason", ""),
                "Evidence": "; ".join(map(str, why.get("evidence") or ())) or "N/A",
            }  # fmt: skip


def _whose(group: Group) -> Row:
    return {"Model": group.name, "whose": group.kind}
