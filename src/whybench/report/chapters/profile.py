"""Write the overview: every headline between its floor and its ceiling, in one figure."""

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
    "Each row shows the headline metric of one suite as a band with marks. The left end of the "
    "band is the floor: the score of the best guesser, an agent without causal reasoning. The "
    "right end is the ceiling: the best score that the certificates show to be attainable. Each "
    "mark is the mean score of one system, and its whisker is a 95 % interval over clusters, that "
    "is over hidden systems."
)


NOTE = (
    "Grey band: from floor to ceiling. A mark at the left end scores no better than the best "
    "guesser; a mark at the right end reaches the best score. The data table gives the placed "
    "score (0 at the floor, 1 at the ceiling), and the number of instances behind both ends."
)

BOUNDS = (
    "`floors` has the best guesser of the audit with its interval. Without an audit of the "
    "setting, it has the mean score of each simple guesser, and the best one is the floor. `basis` "
    "states the audit, logs, certificates or episodes from which floor and ceiling were computed."
)


def profile(views: Sequence[View]) -> Section:
    """Return the overview: one suite per family, then all suites, then the bounds."""
    rows = _placed(tidy(_row(view, run) for view in views for run in marked(view)))
    if rows.empty:
        return Section("overview", "Overview", "The logs contain no run to show.")
    chosen = pd.concat([rows[rows["suite"] == _suite(view)] for view in views])
    parts: list[Part] = [_figure("overview-families", "Scores on one suite per family", chosen)]
    if len(rows) > len(chosen):
        parts.append(_figure("overview-suites", "Scores on every suite", rows))
    sources = rows[["family", "row", "floors", "ceiling", "basis"]].drop_duplicates("row")
    parts.append(Table("overview-bounds", "Floors and ceilings", sources, BOUNDS))
    few = rows[rows["few clusters"]]
    if len(few):
        named = ", ".join(dict.fromkeys(few["row"]))
        parts.append(
            Remark(
                f"These rows have fewer than {FEW_CLUSTERS} clusters, so the width of their "
                f"intervals is uncertain: {named}."
            )
        )
    return Section("overview", "Overview", INTRO, tuple(parts))


def _suite(view: View) -> str:
    """Return the suite that most systems played; if several are equal, the largest of them."""
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
        "floors": ", ".join(f"{agent} {in_numbers(v)}" for agent, v in bounds.floors.items())
        + (" [{:.3f}, {:.3f}]".format(*bounds.floor_interval) if bounds.floor_interval else ""),
        "basis": bounds.source,
    }


APART = ("profile", "seed", "parameters", "protocol")
"""Settings that change floor or ceiling, so runs that differ in them have separate rows."""


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Name each run's row: suite, settings in which runs of the suite differ, and metric."""
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
              "scored", "instances", "clusters", "floor n", "ceiling n"]],
        note=NOTE,
    )  # fmt: skip
