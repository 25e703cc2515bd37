"""Rows of the paper's tables from runs on `causalgame/all`, one instance of each scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whybench.episode.registry import load_suite
from whybench.families.causalgame.extras.judge.paper_claims import group_of
from whybench.families.causalgame.extras.report.judged import JUDGE
from whybench.report.papers.model import Item
from whybench.report.view import View

Row = dict[str, Any]

MODES = {"agentic": "tools", "prompting": "code"}
"""The paper's execution mode → our protocol."""

AVERAGE = "core14_mean"

PAIRS = ("antenna_trap", "deployment_zone_trap_categorical")
"""The scenarios with selection bias that have a control without it."""

CONTROL = "_no_selection_bias"


def _survival(view: View, mode: str, metric: str = "survival_rate") -> dict[str, dict[str, float]]:
    """Return each model's mean by scenario in one mode; the largest run counts."""
    found: dict[str, dict[str, float]] = {}
    for run in sorted(view.runs, key=lambda run: len(run.frame)):
        if run.profile != "published" or run.protocol != MODES[mode] or run.evidence != "own":
            continue
        rows = view.joined(run)
        named = rows["scenario"] if "scenario" in rows else run.suite.partition("/")[2]
        means = rows.assign(scenario=named).dropna(subset=[metric]).groupby("scenario")[metric]
        found.setdefault(run.model, {}).update({str(k): float(v) for k, v in means.mean().items()})
    return found


def _mean(values: Mapping[str, float], *names: str) -> float | None:
    """Return the mean of some scenarios in per cent; None unless all were played."""
    kept = [values[name] for name in names if name in values]
    return 100 * sum(kept) / len(kept) if kept and len(kept) == len(names) else None


def scenarios(view: View, item: Item) -> list[Row]:
    """Return Tables 11 and 12: survival in every scenario, and the average."""
    mode = str(item.columns[0].condition)
    rows = []
    for model, values in _survival(view, mode).items():
        cells = {c.name: _mean(values, str(c.suite)) for c in item.columns if c.suite != AVERAGE}
        known = [value for value in cells.values() if value is not None]
        whole = sum(known) / len(known) if len(known) == len(cells) else None
        rows.append({item.system: model, **cells, item.columns[-1].name: whole})
    return rows


def summary(view: View, item: Item) -> list[Row]:
    """Return Table 13 and Figure 4: averages and wins in both modes."""
    survived = {mode: _survival(view, mode) for mode in MODES}
    won = {mode: _survival(view, mode, "win") for mode in MODES}
    rows = []
    for model in dict.fromkeys(name for mode in MODES for name in survived[mode]):
        means = {m: _mean(survived[m].get(model, {}), *survived[m].get(model, {})) for m in MODES}
        both = None not in means.values()
        cells: dict[tuple[str, str], Any] = {
            ("survival_rate", mode): value for mode, value in means.items()
        }
        gap = (means["agentic"] or 0) - (means["prompting"] or 0)
        cells["survival_rate_delta", "agentic_minus_prompting"] = f"{gap:+.1f}" if both else None
        for mode in MODES:
            wins = won[mode].get(model)
            cells["wins", mode] = None if wins is None else str(round(sum(wins.values())))
        row = {c.name: cells.get((c.metric[0], str(c.condition))) for c in item.columns}
        rows.append({item.system: model, **row})
    return rows


def by_scenario(view: View, item: Item) -> list[Row]:
    """Return Table 14: each scenario in both modes, with its bar."""
    survived = {mode: _survival(view, mode) for mode in MODES}
    rows = []
    for model in dict.fromkeys(name for mode in MODES for name in survived[mode]):
        for group in item.groups:
            cells = {
                column.name: _mean(survived[column.condition].get(model, {}), group.suite)
                for column in item.columns
                if column.condition in MODES
            }
            bar = load_suite(f"causalgame/{group.suite}", profile="published")
            told = 100 * view.family.world(bar[0]).rules.threshold
            rows.append({item.system: model, **group.labels, **cells, "Threshold": told})
    return rows


def selection_bias(view: View, item: Item) -> list[Row]:
    """Return Table 6: scenarios with selection bias, their controls, and the difference."""
    survived = {mode: _survival(view, mode) for mode in MODES}
    rows = []
    for model in dict.fromkeys(name for mode in MODES for name in survived[mode]):
        cells: list[Row] = [{}, {}, {}]
        for column in item.columns:
            values = survived[str(column.condition)].get(model, {})
            biased = _mean(values, *PAIRS)
            free = _mean(values, *(name + CONTROL for name in PAIRS))
            gap = None if biased is None or free is None else f"{free - biased:+.1f}"
            for cell, value in zip(cells, (biased, free, gap), strict=True):
                cell[column.name] = value
        rows += [
            {item.system: model, **group.labels, **cell}
            for group, cell in zip(item.groups, cells, strict=True)
        ]
    return rows


def by_environment(view: View, item: Item) -> list[Row]:
    """Return Figure 5: the mean survival of each environment in agent mode."""
    starts = ("antenna", "deployment_zone", "weather")
    rows = []
    for model, values in _survival(view, "agentic").items():
        cells = [_mean(values, *(n for n in values if n.startswith(start))) for start in starts]
        names = (column.name for column in item.columns)
        told = (None if cell is None else f"{cell:.1f}" for cell in cells)
        rows.append({item.system: model, **dict(zip(names, told, strict=True))})
    return rows


UNJUDGED = "not judged: add -T judge=MODEL"
"""The cell of a model whose reports no judge has read."""


def _judged(view: View, task: str, measure: str) -> dict[str, str]:
    """Return each model's mean of a judge's figure over a group of scenarios, in per cent."""
    found: dict[str, list[float]] = {}
    for run in view.runs:
        if run.profile == "published" and run.evidence == "own":
            rows = view.joined(run)
            own = found.setdefault(run.model, [])
            if f"{JUDGE}.{measure}" in rows and "scenario" in rows:
                kept = rows[rows["scenario"].map(lambda name: group_of(str(name)) == task)]
                own += kept[f"{JUDGE}.{measure}"].dropna().tolist()
    return {
        model: f"{100 * sum(own) / len(own):.0f}" if own else UNJUDGED
        for model, own in found.items()
    }


def claims(view: View, item: Item) -> list[Row]:
    """Return Tables 4 and 5: the shares of the paper's claims that reports make."""
    task = str(group_of(item.groups[0].suite))
    golden = _judged(view, task, "claims_golden")
    distractor = _judged(view, task, "claims_distractor")
    return [
        {item.system: model, "Golden": golden[model], "Distractor": distractor[model]}
        for model in golden
    ]


def each_claim(view: View, item: Item) -> list[Row]:
    """Return Table 15: the share of reports that make each claim."""
    rows = []
    for group in item.groups:
        task, name = group_of(group.suite), group.condition.partition(":")[2]
        shares = _judged(view, str(task), f"claim_{task}_{name}")
        rows += [
            {item.system: model, **group.labels, item.columns[0].name: share}
            for model, share in shares.items()
        ]
    return rows
