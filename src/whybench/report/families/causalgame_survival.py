"""CausalGame: how much of the fleet came back, by scenario, by challenge and by history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causalgame.traits import CONTROL
from whybench.report.charts import ROW, SHAPES, sized
from whybench.report.families.causalgame_rows import (
    COMMAND,
    MODES,
    NAME,
    PUBLISHED,
    Group,
    groups,
    landmarks,
    measured,
    ordered,
    own,
    percent,
    profiles,
    short,
)
from whybench.report.palette import LIGHT, colours
from whybench.report.palette import PUBLISHED as GREY
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View

MARKS = {"default design": "soft", "bar": "ink", "best known design": "yellow"}
"""What else a row shows, as upright strokes, and their colours."""

PAPER = "published models"
"""Their one entry in a legend."""

RATE, MEAN = "survival_rate", "core14_mean"


def survival(view: View) -> Section:
    """Return the room on survival."""
    parts: list[Part] = []
    for profile, found in profiles(own(groups(view))).items():
        cells = published_rows(view, found) if profile == "published" else []
        parts += _by_scenario(view, profile, found, cells)
        parts += _by_trait(view, profile, found, "challenge", "what makes it hard")
        parts += _by_trait(view, profile, found, "history", "the history that it starts from")
        if profile != "published":
            text = (
                "Profile `certified` repairs the published scenarios and sets other bars, so no "
                f"published figure stands beside it: {COMMAND} -T suite=all -T profile=published."
            )
            parts.append(Remark(text))
    return Section(
        f"{NAME}-survival",
        "Survival against the bar and the optimum",
        "The share of the fleet of 1,000 that came back. A fleet is won at the bar. The best known "
        "design shows what could be had, the default design what is there without doing anything.",
        tuple(parts),
    )


def published_rows(view: View, found: Sequence[Group]) -> list[dict[str, Any]]:
    """Return the published survival of each model on each scenario, in the modes that we have."""
    modes = dict.fromkeys(MODES.get(group.first.protocol, "agentic") for group in found)
    return [
        {
            "row": short(cell.suite),
            "system": f"{cell.system}, {mode}",
            "whose": PUBLISHED,
            "value": cell.share,
            "printed": cell.printed,
        }
        for mode in modes
        for cell in view.published.cells(NAME, metric=RATE, condition=mode)
        if cell.table in ("11", "12") and cell.suite != MEAN and cell.share is not None
        if cell.system != "Avg"
    ]


def _by_scenario(
    view: View, profile: str, found: Sequence[Group], cells: list[dict[str, Any]]
) -> list[Part]:
    names = ordered(name for group in found for name in group.frame["scenario"].unique())
    label = {name: short(name) for name in names}
    rows = [r for group in found for r in measured(view, group, RATE, "scenario", names, label)]
    if not rows:
        return [Remark(f"No fleet of profile {profile} was scored.", "warning")]
    marks = landmarks(found, "scenario", label)
    beside = [cell for cell in cells if cell["row"] in label.values()]
    figure = Figure(
        f"{NAME}-survival-{profile}",
        f"Survival by scenario, profile {profile}",
        _told(rows, marks, beside),
        _rows_chart(pd.DataFrame(rows + beside), marks, list(label.values())),
        _drawn(rows + beside, marks),
        "Strokes: default design, bar, and best known design, each a mean over the instances "
        "played. Intervals: 95 %, over worlds, cut at 0 and 1 in the picture; one instance of a "
        "scenario has none."
        + (
            f" Hollow grey: the paper's models ({PUBLISHED}, Tables 11 and 12), one run each."
            if beside
            else ""
        ),
    )
    return [figure, _table(view, profile, found)]


def _by_trait(
    view: View, profile: str, found: Sequence[Group], trait: str, what: str
) -> list[Figure]:
    known = [group for group in found if trait in group.frame]
    values = list(dict.fromkeys(v for g in known for v in g.frame[trait].dropna()))
    values.sort(key=lambda value: (value != CONTROL, value))
    label = {value: str(value) for value in values}
    rows = [r for group in known for r in measured(view, group, RATE, trait, values, label)]
    if not rows:
        return []
    marks = landmarks(known, trait, label)
    return [
        Figure(
            f"{NAME}-{trait}-{profile}",
            f"Survival by {what}, profile {profile}",
            _told(rows, marks, []),
            _rows_chart(pd.DataFrame(rows), marks, list(label.values())),
            _drawn(rows, marks),
            "Strokes as above, means over the instances of the row. Rows hold other scenarios: "
            "compare a system with the strokes of its row, not rows with each other.",
        )
    ]


def _told(rows: list[dict[str, Any]], marks: pd.DataFrame, beside: list[dict[str, Any]]) -> str:
    bars = marks[marks["landmark"] == "bar"].set_index("row")["value"]
    sentences = []
    for system in dict.fromkeys(row["system"] for row in rows):
        mine = [row for row in rows if row["system"] == system]
        told = ", ".join(f"{row['row']} {percent(row['value'])} %" for row in mine)
        won = sum(row["value"] >= bars.get(row["row"], 2.0) for row in mine)
        n = sum(row["n"] for row in mine)
        sentences.append(
            f"{system}: {told}; at or above the bar in {won} of {len(mine)} rows (n {n})."
        )
    if beside:
        share = pd.Series([cell["value"] for cell in beside])
        sentences.append(
            f"Published models: {percent(share.min())} to {percent(share.max())} %, "
            f"mean {percent(share.mean())} %."
        )
    return " ".join(sentences)


def _drawn(rows: list[dict[str, Any]], marks: pd.DataFrame) -> pd.DataFrame:
    strokes = marks.rename(columns={"landmark": "system"}).assign(whose="of the scenario")
    return pd.concat([pd.DataFrame(rows), strokes], ignore_index=True)


def _rows_chart(frame: pd.DataFrame, marks: pd.DataFrame, order: Sequence[str]) -> Any:
    """Draw estimates in rows, hollow published points behind them, and strokes for landmarks."""
    behind = frame[frame["whose"] == PUBLISHED].assign(system=PAPER)
    mine = frame[frame["whose"] != PUBLISHED]
    systems = list(dict.fromkeys(mine["system"]))
    strokes = list(MARKS) if len(marks) else []
    names = [*systems, *strokes, *([PAPER] if len(behind) else [])]
    hues = [*colours(systems), *(LIGHT[MARKS[mark]] for mark in strokes), GREY]
    forms = [*(SHAPES[n % len(SHAPES)] for n in range(len(systems))), *["stroke"] * len(strokes)]
    legend = alt.Legend(columns=2, title=None)
    known: dict[str, Any] = {"sort": names, "title": None, "legend": legend}
    colour = alt.Color("system:N", scale=alt.Scale(domain=names, range=hues), **known)
    shape = alt.Shape("system:N", scale=alt.Scale(domain=names, range=[*forms, "circle"]), **known)
    scale, title = alt.Scale(domain=[0, 1]), "share of the fleet that came back"
    place: dict[str, Any] = {"x": alt.X("value:Q", title=title, scale=scale)}
    place["y"] = alt.Y("row:N", title=None, sort=list(order))
    apart = {"yOffset": alt.YOffset("system:N", sort=systems)} if len(systems) > 1 else {}
    hollow = alt.Chart(behind).mark_point(filled=False, size=38, opacity=0.75)
    ticks = alt.Chart(marks.rename(columns={"landmark": "system"}))
    spans = place | {"x": alt.X("low:Q", title=title, scale=scale), "x2": alt.X2("high:Q")}
    own_points = alt.Chart(mine).mark_point(filled=True, size=70, opacity=1)
    layers = [
        hollow.encode(**place, color=colour, shape=shape),
        ticks.mark_tick(thickness=2.5, height=ROW * 0.8).encode(**place, color=colour),
        alt.Chart(mine.dropna(subset=["low"]))
        .mark_rule(strokeWidth=2, clip=True)
        .encode(**spans, color=colour, **apart),
        own_points.encode(**place, color=colour, shape=shape, **apart),
    ]
    return sized(layers, height=int(len(order) * ROW * max(1.0, 0.48 * len(systems))))


def _table(view: View, profile: str, found: Sequence[Group]) -> Table:
    names = ordered(name for group in found for name in group.frame["scenario"].unique())
    rows: list[dict[str, Any]] = []
    for group in found:
        row: dict[str, Any] = {"system": group.name, "whose": group.kind}
        row["mode"] = MODES.get(group.first.protocol, group.first.protocol)
        row["mean"] = percent(group.estimate(view, RATE).estimate)
        row["wins"] = f"{group.frame['win'].sum():.0f} of {group.frame['win'].notna().sum()}"
        for name in names:
            there = group.estimate(view, RATE, group.frame["scenario"] == name)
            row[short(name)] = percent(there.estimate)
        rows.append(row)
    if profile == "published":
        for mode in dict.fromkeys(row["mode"] for row in rows):
            rows += _printed(view, mode, names)
    return Table(
        f"{NAME}-survival-table-{profile}",
        f"Survival in per cent, profile {profile}",
        pd.DataFrame(rows),
        "Rows of the paper are as printed (Tables 11 and 12); its models played other instances of "
        "the same scenarios once, and its `Avg` is of all 16."
        if profile == "published"
        else "Means over instances.",
    )


def _printed(view: View, mode: str, names: Sequence[str]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for cell in view.published.cells(NAME, metric=RATE, condition=mode):
        if cell.table in ("11", "12"):
            start = {"system": cell.system, "whose": PUBLISHED, "mode": mode, "wins": ""}
            row = found.setdefault(cell.system, start)
            if cell.suite == MEAN:
                row["mean"] = cell.printed
            elif cell.suite in names:
                row[short(cell.suite)] = cell.printed
    for cell in view.published.cells(NAME, metric="wins", condition=mode, table="13"):
        if cell.system in found:
            found[cell.system]["wins"] = f"{cell.printed} of 14"
    return list(found.values())
