"""CausalGame: tools minus code, and which scenarios are the hardest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from whybench.families.causalgame.extras.report.rows import (
    NAME,
    RATE,
    Games,
    Group,
    differing,
    manner,
    percent,
    played_in,
    short,
)
from whybench.report.decisions.difference import difference
from whybench.report.entries import PUBLISHED
from whybench.report.forms import Row, Shown
from whybench.stats.association import spearman

FEWEST = 3
"""Number of scenarios that a rank needs."""

PAPER = "published, mean of 16 models, agentic"


def pairs(found: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Return for each model its first group with tools and its first group with code."""
    kept: dict[tuple[object, ...], dict[str, Group]] = {}
    for group in found:
        run, how = group.first, manner(group.first)
        key = (run.model, run.seed, how["template"], how["parameters"])
        kept.setdefault(key, {}).setdefault(run.protocol, group)
    return [(both["tools"], both["code"]) for both in kept.values() if {"tools", "code"} <= {*both}]


def protocols(games: Games) -> Shown:
    """Return survival with tools minus survival with code, and the paper's Table 13."""
    rows: list[Row] = []
    for profile, found in games.profiles.items():
        paired = pairs(found)
        for tools, code in paired:
            run = tools.first
            alike = [first.first for first, _ in paired if first.first.model == run.model]
            gap = difference(tools.frame, code.frame, RATE, rate=False)
            if gap.n:
                rows.append({
                    "system": ", ".join([run.model, profile, *differing(run, alike)]),
                    "whose": tools.kind, "tools": gap.first, "code": gap.second,
                    "difference": gap.estimate, "low": gap.low, "high": gap.high, "n": gap.n,
                })  # fmt: skip
    if not rows:
        return Shown(pd.DataFrame())
    both: dict[str, dict[str, float | None]] = {}
    for cell in games.view.published.cells(NAME, table="13"):
        both.setdefault(cell.system, {})[f"{cell.condition} {cell.metric}"] = cell.share
    printed = [
        {"system": system, "whose": PUBLISHED, "tools": shares.get(f"agentic {RATE}"),
         "code": shares.get(f"prompting {RATE}"),
         "difference": shares.get(f"agentic_minus_prompting {RATE}_delta")}
        for system, shares in both.items()
    ]  # fmt: skip
    beside = pd.DataFrame(printed).sort_values("difference", ascending=False)
    frame = pd.concat([pd.DataFrame(rows), beside], ignore_index=True)
    return Shown(frame.assign(published=frame["whose"] == PUBLISHED), {"zero": 0.0})


# Hard and easy scenarios.


def _survival(found: Sequence[Group]) -> dict[str, pd.Series]:
    """Return survival by scenario for the groups that played enough scenarios."""
    columns: dict[str, pd.Series] = {}
    for group in found:
        where = group.frame["scenario"]
        means = {n: group.estimate(RATE, where == n).estimate for n in played_in([group])}
        series = pd.Series(means, dtype=float).dropna()
        if len(series) >= FEWEST:
            columns[group.name] = series
    return columns


def _compared(games: Games) -> Iterator[tuple[str, dict[str, pd.Series]]]:
    """Yield survival under the paper's rules; drawn systems have no counterpart in the paper."""
    for profile, found in games.profiles.items():
        if profile == "published":
            yield profile, _survival(found)


def difficulty(games: Games) -> Iterator[Shown]:
    """Return the rank of each of the paper's scenarios, and the rank of the paper's mean."""
    printed = published_difficulty(games)
    for profile, columns in _compared(games):
        names = _hardest_first(columns, printed)
        rows, told = [], []
        for system, series in columns.items():
            ranks, there = series.rank(), [name for name in names if name in series]
            rows += [{"scenario": short(n), "system": system, "rank": ranks[n]} for n in there]
            if ranks.nunique() == 1:
                told.append(f"{system}: all alike")
                continue
            likeness = spearman(list(ranks[there]), list(printed.loc[there, "rank"])).value
            told.append(
                f"{system}: hardest {short(str(series.idxmin()))}, rank correlation "
                f"{likeness:.2f} with the paper's"
            )
        kept = printed.loc[names, "rank"].rank()
        rows += [{"scenario": short(n), "system": PAPER, "rank": kept[n]} for n in names]
        frame = pd.DataFrame(rows, columns=["scenario", "system", "rank"])
        words = {
            "profile": profile, "told": "; ".join(told), "count": len(names),
            "order": [short(name) for name in names],
        }  # fmt: skip
        yield Shown(frame.assign(published=frame["system"] == PAPER), words)


def difficulty_table(games: Games) -> Iterator[Shown]:
    """Return survival by difficulty in per cent."""
    printed = published_difficulty(games)
    for profile, columns in _compared(games):
        names = _hardest_first(columns, printed)
        table = pd.DataFrame({"scenario": [short(name) for name in names]})
        for column in ("difficulty", "agentic", "prompting"):
            table[f"paper: {column}"] = [printed.loc[name, column] for name in names]
        for system, series in columns.items():
            table[f"{system}: survival"] = [percent(series.get(n, float("nan"))) for n in names]
        yield Shown(table, {"profile": profile, "systems": ", ".join(columns)})


def _hardest_first(columns: dict[str, pd.Series], printed: pd.DataFrame) -> list[str]:
    names = {name for series in columns.values() for name in series.index}
    return sorted(names, key=lambda name: printed.loc[name, "rank"])


def published_difficulty(games: Games) -> pd.DataFrame:
    """Return Table 14 by scenario: both means as printed, the paper's word, the agentic rank."""
    rows: dict[str, Row] = {}
    for cell in games.view.published.cells(NAME, table="14", metric=RATE):
        row = rows.setdefault(cell.suite, {})
        row[cell.condition] = cell.printed
        row["difficulty"] = cell.note.partition("difficulty=")[2].partition(";")[0]
        if cell.condition == "agentic":
            row["share"] = cell.share
    frame = pd.DataFrame.from_dict(rows, "index")
    return frame.assign(rank=frame["share"].rank(method="first"))
