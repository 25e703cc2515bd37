"""CausalGame: tools minus code, and which scenarios are the hardest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from whybench.report.charts import dots, rule
from whybench.report.difference import difference
from whybench.report.families.causalgame_rows import (
    COMMAND,
    NAME,
    PUBLISHED,
    Group,
    differing,
    groups,
    listed,
    manner,
    ordered,
    own,
    percent,
    profiles,
    short,
)
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View
from whybench.stats.association import spearman

RATE = "survival_rate"
FEWEST = 3
"""A rank needs so many scenarios."""


def protocols(view: View) -> Section:
    """Return the room on the two protocols."""
    rows = []
    for profile, found in profiles(own(groups(view))).items():
        paired = pairs(found)
        for tools, code in paired:
            run = tools.first
            alike = [first.first for first, _ in paired if first.first.model == run.model]
            gap = difference(tools.frame, code.frame, RATE, rate=False)
            if gap.n:
                rows.append(
                    {
                        "system": ", ".join([run.model, profile, *differing(run, alike)]),
                        "whose": tools.kind,
                        "tools": gap.first,
                        "code": gap.second,
                        "difference": gap.estimate,
                        "low": gap.low,
                        "high": gap.high,
                        "n": gap.n,
                    }
                )
    parts: tuple[Part, ...]
    if rows:
        parts = (_gaps(view, rows),)
    else:
        text = (
            "No model was played by both protocols on the same instances: nothing is subtracted. "
            f"This gives the figure: {COMMAND} -T suite=all -T profile=published -T protocol=tools "
            "--model MODEL, and the same with -T protocol=code."
        )
        parts = (Remark(text),)
    return Section(
        f"{NAME}-protocols",
        "Tools minus code",
        "The same model acts by calling tools (the paper's agentic mode) or by writing programs "
        "(its prompting mode). Differences are of the same instances.",
        parts,
    )


def pairs(found: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Return for each model its group by tools and its group by code; the first of each."""
    kept: dict[tuple[object, ...], dict[str, Group]] = {}
    for group in found:
        run, how = group.first, manner(group.first)
        key = (run.model, run.salt, how["skin"], how["knobs"])
        kept.setdefault(key, {}).setdefault(run.protocol, group)
    return [(both["tools"], both["code"]) for both in kept.values() if {"tools", "code"} <= {*both}]


def _gaps(view: View, rows: list[dict[str, Any]]) -> Figure:
    both: dict[str, dict[str, float | None]] = {}
    for cell in view.published.cells(NAME, table="13"):
        both.setdefault(cell.system, {})[f"{cell.condition} {cell.metric}"] = cell.share
    printed = [
        {
            "system": system,
            "whose": PUBLISHED,
            "tools": shares.get(f"agentic {RATE}"),
            "code": shares.get(f"prompting {RATE}"),
            "difference": shares.get(f"agentic_minus_prompting {RATE}_delta"),
        }
        for system, shares in both.items()
    ]
    beside = pd.DataFrame(printed).sort_values("difference", ascending=False)
    frame = pd.concat([pd.DataFrame(rows), beside], ignore_index=True)
    frame["paper"] = frame["whose"] == PUBLISHED
    title = "survival by tools minus survival by code"
    most = max(0.1, float(frame[["difference", "low", "high"]].abs().max().max()) * 1.05)
    chart = dots(
        frame,
        x="difference",
        y="system",
        color="whose",
        low="low",
        high="high",
        x_title=title,
        y_sort=list(frame["system"]),
        domain=(-most, most),
        published="paper",
    )
    zero = rule(0.0).encode(x=alt.X("at:Q", title=title))
    told = [
        f"{row['system']}: {100 * row['difference']:+.1f} points "
        f"({percent(row['tools'])} by tools, {percent(row['code'])} by code, n {row['n']})"
        for row in rows
    ]
    gaps = pd.Series([row["difference"] for row in printed], dtype=float)
    return Figure(
        f"{NAME}-tools-minus-code",
        "Tools minus code",
        f"{'; '.join(told)}. Published models: {100 * gaps.min():+.1f} to {100 * gaps.max():+.1f} "
        f"points, mean {100 * gaps.mean():+.1f}.",
        chart + zero,
        frame.drop(columns="paper"),
        "Right of the line: better with tools. Intervals: 95 %, paired over instances, by world. "
        f"Hollow grey: Table 13 of the paper ({PUBLISHED}), one run of each of 14 scenarios.",
    )


def difficulty(view: View) -> Section:
    """Return the room on hard and easy scenarios."""
    parts: list[Part] = []
    for profile, found in profiles(own(groups(view))).items():
        parts += _ranks(view, profile, found)
    if not parts:
        text = (
            f"A rank needs {FEWEST} scenarios of one system: {COMMAND} -T suite=all --model MODEL."
        )
        parts = [Remark(text)]
    return Section(
        f"{NAME}-difficulty",
        "Which scenarios are hard",
        "Rank 1 is the scenario with the least survival, as in the paper's Table 14. A rank mixes "
        "what a system can do with what there is to be had: see the best known design above.",
        tuple(parts),
    )


def _ranks(view: View, profile: str, found: Sequence[Group]) -> list[Part]:
    printed = published_difficulty(view)
    columns: dict[str, pd.Series] = {}
    for group in found:
        names = ordered(group.frame["scenario"].unique())
        means = {
            name: group.estimate(view, RATE, group.frame["scenario"] == name).estimate
            for name in names
        }
        series = pd.Series(means, dtype=float).dropna()
        if len(series) >= FEWEST:
            columns[group.name] = series
    if not columns:
        return []
    names = ordered(name for series in columns.values() for name in series.index)
    names.sort(key=lambda name: printed.loc[name, "rank"])
    table = pd.DataFrame({"scenario": [short(name) for name in names]})
    for column in ("difficulty", "agentic", "prompting"):
        table[f"paper: {column}"] = [printed.loc[name, column] for name in names]
    rows, told = [], []
    for system, series in columns.items():
        ranks = series.rank()
        table[f"{system}: survival"] = [percent(series.get(name, float("nan"))) for name in names]
        there = [name for name in names if name in series]
        rows += [{"scenario": short(n), "system": system, "rank": ranks[n]} for n in there]
        if ranks.nunique() == 1:
            told.append(f"{system}: all alike")
            continue
        likeness = spearman(list(ranks[there]), list(printed.loc[there, "rank"])).value
        hardest = short(str(series.idxmin()))
        told.append(
            f"{system}: hardest {hardest}, rank correlation {likeness:.2f} with the paper's"
        )
    kept = printed.loc[names, "rank"].rank()
    paper = "published, mean of 16 models, agentic"
    rows += [{"scenario": short(n), "system": paper, "rank": kept[n]} for n in names]
    frame = pd.DataFrame(rows)
    frame["paper"] = frame["system"] == paper
    chart = dots(
        frame,
        x="rank",
        y="scenario",
        x_title="rank, 1 is the hardest",
        y_sort=[short(name) for name in names],
        domain=(0, len(names) + 1),
        published="paper",
    )
    return [
        Figure(
            f"{NAME}-difficulty-{profile}",
            f"Scenarios from hard to easy, profile {profile}",
            f"{'; '.join(told)}. Ranks over {len(names)} scenarios.",
            chart,
            frame.drop(columns="paper"),
            f"Hollow grey: {PUBLISHED}, Table 14."
            + ("" if profile == "published" else " Its scenarios have other bars and defects."),
        ),
        Table(
            f"{NAME}-difficulty-table-{profile}",
            f"Survival by difficulty, per cent, profile {profile}",
            table,
            "Columns of the paper are as printed in Table 14: its word for the difficulty, and the "
            f"mean of 16 models in both modes ({PUBLISHED}). Systems: {listed(list(columns))}.",
        ),
    ]


def published_difficulty(view: View) -> pd.DataFrame:
    """Return Table 14 by scenario: both means as printed, the paper's word, the agentic rank."""
    rows: dict[str, dict[str, Any]] = {}
    for cell in view.published.cells(NAME, table="14", metric=RATE):
        row = rows.setdefault(cell.suite, {"difficulty": ""})
        row[cell.condition] = cell.printed
        row["difficulty"] = cell.note.partition("difficulty=")[2].partition(";")[0]
        if cell.condition == "agentic":
            row["share"] = cell.share
    frame = pd.DataFrame.from_dict(rows, "index")
    frame["rank"] = frame["share"].rank(method="first")
    return frame
