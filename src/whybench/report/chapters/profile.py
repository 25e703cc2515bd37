"""The profile: every headline between its floor and its ceiling, in one picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import altair as alt
import pandas as pd

from whybench.report.charts import ROW, dots
from whybench.report.frames import estimated, in_numbers, marked, seed_tag, systems, tidy
from whybench.report.naming import shown
from whybench.report.palette import LIGHT
from whybench.report.runs import Run
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View
from whybench.stats.interval import FEW_CLUSTERS

INTRO = (
    "Each score stands in a band. Its left end is the floor: the best of the agents that know "
    "nothing. Its right end is the ceiling: the best score that the certificates prove attainable. "
    "Whiskers are 95 % intervals over hidden worlds; `placed` is 0 at the floor, 1 at the ceiling."
)


def profile(views: Sequence[View]) -> Section:
    """Return the section with the one picture over families, and with all suites."""
    rows = _placed(tidy(_row(view, run) for view in views for run in marked(view)))
    if rows.empty:
        return Section("profile", "Profile", "No run to show.")
    chosen = pd.concat([rows[rows["suite"] == _suite(view)] for view in views])
    parts: list[Part] = [_figure("profile-families", "One suite per family", chosen)]
    if len(rows) > len(chosen):
        parts.append(_figure("profile-suites", "Every suite", rows))
    sources = rows[["family", "row", "floors", "ceiling", "rests on"]]
    parts.append(Table("profile-bounds", "Floors and ceilings", sources.drop_duplicates("row")))
    few = rows[rows["few worlds"]]
    if len(few):
        named = ", ".join(dict.fromkeys(few["row"]))
        parts.append(
            Remark(
                f"Fewer than {FEW_CLUSTERS} hidden worlds: {named}. Read these intervals with care."
            )
        )
    return Section("profile", "Profile", INTRO, tuple(parts))


def _suite(view: View) -> str:
    """Return the suite that most systems played; of several the largest, then the first."""
    runs = systems(view)
    played = Counter(run.suite for run in runs)
    size = {run.suite: len(run.frame) for run in runs}
    return max(played, key=lambda suite: (played[suite], size[suite]), default="")


def _row(view: View, run: Run) -> dict[str, object]:
    found, bounds = estimated(run, view.family.headline), view.bounds(run)
    return {
        "family": view.family.name,
        "suite": run.suite,
        "profile": run.profile,
        "seed": seed_tag(run.seed),
        "parameters": " ".join(
            f"{name}={shown(name, value)}" for name, value in run.parameters.items()
        ),
        "protocol": run.protocol,
        "system": run.system,
        "metric": view.family.headline,
        **found,
        "floor": bounds.floor,
        "ceiling": bounds.ceiling,
        "placed": bounds.placed(float(found["score"])),
        "floor n": bounds.floor_n,
        "ceiling n": bounds.ceiling_n,
        "floors": ", ".join(f"{agent} {in_numbers(v)}" for agent, v in bounds.floors.items()),
        "rests on": bounds.source,
    }


APART = ("profile", "seed", "parameters", "protocol")
"""What gives runs of one suite another floor or ceiling, and so a row of their own."""


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Name each run's row: its suite and metric, and what runs of the suite differ in."""
    if rows.empty:
        return rows
    varied = rows.groupby("suite")[list(APART)].transform("nunique")
    names = []
    for (_, row), (_, kinds) in zip(rows.iterrows(), varied.iterrows(), strict=True):
        told = [str(row[name]) for name in APART if kinds[name] > 1 and row[name]]
        names.append(f"{', '.join([row['suite'], *told])} ({row['metric']})")
    return rows.assign(row=names)


def _figure(name: str, title: str, rows: pd.DataFrame) -> Figure:
    order = list(dict.fromkeys(rows["row"]))
    bands = rows.drop_duplicates("row")
    where = alt.Y("row:N", title=None, sort=order)
    band = alt.Chart(bands).mark_bar(color=LIGHT["line"]).encode(
        x=alt.X("floor:Q", title="headline score", scale=alt.Scale(domain=[0, 1])),
        x2="ceiling:Q", y=where,
    )  # fmt: skip
    apart = max(1, rows.groupby("row")["system"].nunique().max())
    height = max(80, int(len(order) * max(ROW * 1.3, apart * ROW * 0.55)))
    drawn = dots(
        rows, x="score", y="row", low="low", high="high", y_sort=order, x_title="headline score",
        under=[band], height=height,
    )  # fmt: skip
    said = "; ".join(
        f"{row['system']} on {row['row']}: {in_numbers(row['score'])}, between floor "
        f"{in_numbers(row['floor'])} and ceiling {in_numbers(row['ceiling'])}"
        for row in rows.to_dict("records")
    )
    return Figure(
        name, title, said, drawn,
        rows[["suite", "metric", "system", "score", "low", "high", "floor", "ceiling", "placed",
              "scored", "instances", "worlds", "floor n", "ceiling n"]],
        note="Band: from floor to ceiling; on how many instances they rest stands in the tables.",
    )  # fmt: skip
