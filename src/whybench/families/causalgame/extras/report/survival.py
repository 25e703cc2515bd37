"""CausalGame: share of the fleet that returned, by scenario, challenge and history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causalgame.covariates import CONTROL
from whybench.families.causalgame.extras.report.rows import (
    NAME,
    RATE,
    Games,
    Group,
    by_value,
    percent,
    played_in,
    short,
)
from whybench.report.charts import ROW, SHAPES, sized
from whybench.report.entries import PUBLISHED
from whybench.report.forms import FigureForm, Row, Shown
from whybench.report.palette import LIGHT, colours
from whybench.report.palette import PUBLISHED as GREY

MODES = {"tools": "agentic", "code": "prompting"}
"""Protocol → the paper's name for it."""

MARKS = {"default design": "soft", "bar": "ink", "best known design": "yellow"}
"""Landmarks of a row, drawn as vertical strokes, and their colours."""

OF_IT, PAPER = "of the scenario", "published models"
"""Source of the strokes; the single legend entry of published systems."""

COVARIATES = {"challenge": "what makes it hard", "history": "the history that it starts from"}
MEAN = "core14_mean"


def by_scenario(games: Games) -> Iterator[Shown]:
    """Return survival by scenario, with strokes; with published models under the paper's rules."""
    for profile, found in games.profiles.items():
        label = {name: short(name) for name in played_in(found)}
        beside = _published(games, found) if profile == "published" else []
        beside = [cell for cell in beside if cell["row"] in label.values()]
        grey = f" Hollow grey: the paper's models ({PUBLISHED}, Tables 11 and 12), one run each."
        words = {"profile": profile, "grey": grey if beside else ""}
        yield _rows(found, "scenario", label, beside, words)


def by_covariate(games: Games, covariate: str) -> Iterator[Shown]:
    """Return survival by a covariate of scenarios."""
    for profile, found in games.profiles.items():
        known = [group for group in found if covariate in group.frame]
        values = {value for group in known for value in group.frame[covariate].dropna()}
        label = {v: str(v) for v in sorted(values, key=lambda v: (v != CONTROL, v))}
        yield _rows(
            known, covariate, label, [], {"profile": profile, "what": COVARIATES[covariate]}
        )


def unscored_profiles(games: Games) -> list[Row]:
    """Return the profiles in which no fleet was scored."""
    return [
        {"profile": profile}
        for profile, found in games.profiles.items()
        if not any(group.estimate(RATE).n for group in found)
    ]


def repaired(games: Games) -> list[Row]:
    """Return one row for each profile that is not the paper's."""
    return [{"profile": profile} for profile in games.profiles if profile != "published"]


def _rows(
    found: Sequence[Group], by: str, label: Mapping[Any, str], beside: list[Row], words: Row
) -> Shown:
    rows = [row for group in found for row in by_value(group, RATE, by, label)]
    if not rows:
        return Shown(pd.DataFrame())
    marks = _landmarks(found, by, label)
    words = {**words, "order": list(label.values()), "told": _told(rows, marks, beside)}
    return Shown(pd.concat([pd.DataFrame(rows + beside), marks], ignore_index=True), words)


def _landmarks(found: Sequence[Group], by: str, label: Mapping[Any, str]) -> pd.DataFrame:
    """Return bar, best known and default design for each value of a column, averaged."""
    columns = {"default": "default design", "threshold": "bar", "best_known": "best known design"}
    frame = pd.concat([group.frame for group in found], ignore_index=True)
    if not {*columns, by} <= set(frame.columns):
        return pd.DataFrame(columns=["row", "system", "value", "whose"])
    known = frame.dropna(subset=[*columns, by]).drop_duplicates("instance")
    means = known.groupby(by)[list(columns)].mean()
    rows = [
        {"row": label[value], "system": name, "value": float(means.loc[value, column])}
        for value in means.index
        if value in label
        for column, name in columns.items()
    ]
    return pd.DataFrame(rows, columns=["row", "system", "value"]).assign(whose=OF_IT)


def _published(games: Games, found: Sequence[Group]) -> list[Row]:
    """Return the published survival of each model on each scenario, for the modes that were run."""
    modes = dict.fromkeys(MODES.get(group.first.protocol, "agentic") for group in found)
    return [
        {"row": short(cell.suite), "system": f"{cell.system}, {mode}", "whose": PUBLISHED,
         "value": cell.share, "printed": cell.printed}
        for mode in modes
        for cell in games.view.published.cells(NAME, metric=RATE, condition=mode)
        if cell.table in ("11", "12") and cell.suite != MEAN and cell.share is not None
        if cell.system != "Avg"
    ]  # fmt: skip


def _told(rows: list[Row], marks: pd.DataFrame, beside: list[Row]) -> str:
    bars = marks[marks["system"] == "bar"].set_index("row")["value"]
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


def strokes(form: FigureForm, shown: Shown) -> alt.LayerChart:
    """Draw estimates in rows, open published points behind them, and strokes for landmarks."""
    frame, order = shown.frame, shown.words["order"]
    behind = frame[frame["whose"] == PUBLISHED].assign(system=PAPER)
    marks = frame[frame["whose"] == OF_IT]
    mine = frame[~frame["whose"].isin([PUBLISHED, OF_IT])]
    systems, drawn = list(dict.fromkeys(mine["system"])), list(MARKS) if len(marks) else []
    names = [*systems, *drawn, *([PAPER] if len(behind) else [])]
    hues = [*colours(systems), *(LIGHT[MARKS[mark]] for mark in drawn), GREY]
    forms = [*(SHAPES[n % len(SHAPES)] for n in range(len(systems))), *["stroke"] * len(drawn)]
    legend = alt.Legend(columns=2, title=None)
    known: dict[str, Any] = {"sort": names, "title": None, "legend": legend}
    colour = alt.Color("system:N", scale=alt.Scale(domain=names, range=hues), **known)
    shape = alt.Shape("system:N", scale=alt.Scale(domain=names, range=[*forms, "circle"]), **known)
    scale, title = alt.Scale(domain=[0, 1]), form.x_title
    place: dict[str, Any] = {"x": alt.X("value:Q", title=title, scale=scale)}
    place["y"] = alt.Y("row:N", title=None, sort=list(order))
    apart = {"yOffset": alt.YOffset("system:N", sort=systems)} if len(systems) > 1 else {}
    spans = place | {"x": alt.X("low:Q", title=title, scale=scale), "x2": alt.X2("high:Q")}
    hollow = alt.Chart(behind).mark_point(filled=False, size=38, opacity=0.75)
    ticks = alt.Chart(marks).mark_tick(thickness=2.5, height=ROW * 0.8)
    bars = alt.Chart(mine.dropna(subset=["low"])).mark_rule(strokeWidth=2, clip=True)
    points = alt.Chart(mine).mark_point(filled=True, size=70, opacity=1)
    layers = [
        hollow.encode(**place, color=colour, shape=shape),
        ticks.encode(**place, color=colour),
        bars.encode(**spans, color=colour, **apart),
        points.encode(**place, color=colour, shape=shape, **apart),
    ]
    return sized(layers, height=int(len(order) * ROW * max(1.0, 0.48 * len(systems))))


def survival_table(games: Games) -> Iterator[Shown]:
    """Return survival in per cent; under the paper's rules with its Tables 11 and 12."""
    for profile, found in games.profiles.items():
        names = played_in(found)
        rows: list[Row] = []
        for group in found if any(group.estimate(RATE).n for group in found) else ():
            frame, protocol = group.frame, group.first.protocol
            means = {
                short(n): percent(group.estimate(RATE, frame["scenario"] == n).estimate)
                for n in names
            }
            rows.append({
                "system": group.name, "whose": group.kind, "mode": MODES.get(protocol, protocol),
                "mean": percent(group.estimate(RATE).estimate),
                "wins": f"{frame['win'].sum():.0f} of {frame['win'].notna().sum()}", **means,
            })  # fmt: skip
        note = "Means over instances."
        if profile == "published":
            note = (
                "Rows of the paper are as printed (Tables 11 and 12); its models played other "
                "instances of the same scenarios once, and its `Avg` is of all 16."
            )
            for mode in dict.fromkeys(row["mode"] for row in rows):
                rows += _printed(games, mode, names)
        yield Shown(pd.DataFrame(rows), {"profile": profile, "told": note})


def _printed(games: Games, mode: str, names: Sequence[str]) -> list[Row]:
    found: dict[str, Row] = {}
    cells = games.view.published.cells(NAME, condition=mode)
    for cell in (c for c in cells if c.metric == RATE and c.table in ("11", "12")):
        start = {"system": cell.system, "whose": PUBLISHED, "mode": mode, "wins": ""}
        row = found.setdefault(cell.system, start)
        if cell.suite == MEAN:
            row["mean"] = cell.printed
        elif cell.suite in names:
            row[short(cell.suite)] = cell.printed
    for cell in (c for c in cells if c.metric == "wins" and c.table == "13"):
        if cell.system in found:
            found[cell.system]["wins"] = f"{cell.printed} of 14"
    return list(found.values())
