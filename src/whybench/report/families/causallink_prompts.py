"""Both prompt strategies side by side (the paper's Tables 4 and 5), and the lean to yes or no."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from whybench.report.charts import ROW, plane, sized
from whybench.report.families.causallink_runs import (
    bounds,
    own,
    positive,
    spoken,
    unlike,
    unlike_in_words,
    wanted,
)
from whybench.report.mapping import runs_of
from whybench.report.palette import PUBLISHED, colours
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View

TABLES = ("4", "5")
"""The tables that hold every system under one prompt each; Table 1 picks the better of the two."""

COLUMNS = ("accuracy", "accuracy_true", "accuracy_false", "avg_steps", "errors")

SHAPES = {
    "plain": "circle", "step_limited": "triangle-right", "think_first": "square",
    "notebook": "diamond",
}  # fmt: skip
"""Skin → mark, the same in every figure."""

FEW = 10
"""Latent worlds below which intervals are wide."""

ERRED = ("invalid_format", "invalid_action", "invalid_answer", "timeout", "unfinished")
"""Endings without an answer."""


def prompts(view: View) -> Section:
    """Show accuracy under each wording of the rules, beside the published systems."""
    frame = by_prompt(view)
    parts: list[Part] = []
    if frame.empty:
        parts.append(wanted("The paper's Tables 4 and 5", "core"))
    else:
        parts += [_accuracy(frame), _table(frame), _lean(frame)]
        skins = set(frame.loc[~frame["published"], "prompt"])
        parts += [
            wanted(f"The prompt `{skin}`", "core", f" -T skin={skin}")
            for skin in ("plain", "step_limited")
            if skin not in skins
        ]
    return Section(
        "causallink-prompts",
        "Prompt strategies",
        "The paper asks twice: with a plain prompt (Table 4) and with one that also asks for few "
        "steps (Table 5). They are the skins `plain` and `step_limited` here.",
        tuple(parts),
    )


def by_prompt(view: View) -> pd.DataFrame:
    """Return a row for each run on core and, if there is one, each published row of Tables 4, 5."""
    rows: list[dict[str, Any]] = []
    for name, run in own(view, "core"):
        found = {metric: view.estimate(run, metric) for metric in COLUMNS[:-1]}
        scored = run.frame[run.frame["accuracy"].notna()]
        if not found["accuracy"].n:
            continue
        made = positive(bounds(found["avg_steps"]))
        rows.append(
            {
                "system": _without_skin(name, run.skin),
                "prompt": run.skin,
                "source": "reference agent" if run.reference else "this report",
                "published": False,
                **{metric: f"{value.estimate:.3f}" for metric, value in found.items()},
                "errors": str(int(scored[list(ERRED)].sum().sum())),
                "share": found["accuracy"].estimate,
                **bounds(found["accuracy"]),
                "steps": found["avg_steps"].estimate,
                **{f"steps_{name}": bound for name, bound in made.items()},
                "right_on_true": found["accuracy_true"].estimate,
                "right_on_false": found["accuracy_false"].estimate,
                "episodes": len(scored),
                "worlds": int(scored["cluster"].nunique()),
                "unlike": unlike(run),
            }
        )
    return pd.DataFrame([*rows, *(_published(view) if rows else ())])


def _without_skin(name: str, skin: str) -> str:
    """A system is one row, whatever its prompt."""
    return name.replace(f" · skin={skin}", "")


def _published(view: View) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for table in TABLES:
        for cell in view.published.cells("causallink", table=table):
            if cell.metric not in COLUMNS:
                continue
            row = rows.setdefault(
                (cell.system, cell.suite),
                {
                    "system": f"{cell.system} (published)",
                    "prompt": runs_of("causallink", cell.suite, cell.condition)
                    .runs[0]
                    .args["skin"],
                    "source": f"published, Table {table}",
                    "published": True,
                    "unlike": "",
                },
            )
            row[cell.metric] = cell.printed
            if cell.metric == "accuracy":
                row |= {"share": cell.share, "episodes": cell.n}
            if cell.metric == "avg_steps":
                row["steps"] = cell.value
            if cell.metric in ("accuracy_true", "accuracy_false"):
                row[f"right_on_{cell.metric.rpartition('_')[2]}"] = cell.share
    return list(rows.values())


def _order(frame: pd.DataFrame) -> list[str]:
    """The user's systems as they come, then the published ones, the best first."""
    theirs = frame[frame["published"]].groupby("system", sort=False)["share"].max()
    ranked = theirs.sort_values(ascending=False, kind="stable")
    return [*dict.fromkeys(frame.loc[~frame["published"], "system"]), *ranked.index]


def _accuracy(frame: pd.DataFrame) -> Figure:
    ours, theirs = frame[~frame["published"]], frame.loc[frame["published"], "share"]
    return Figure(
        "causallink-prompts-accuracy",
        "Accuracy under both prompts",
        f"Accuracy on the core set by prompt. {told(ours, 'share')}. Published systems reach "
        f"{spoken(theirs.min())} to {spoken(theirs.max())}.",
        side_by_side(frame, "share", "low", "high", "accuracy on causallink/core", (0, 1)),
        frame[["system", "prompt", "source", "accuracy", "low", "high", "episodes"]],
        "Hollow grey: published, other instances and other wording (Tables 4 and 5). Bars: 95 % "
        f"intervals clustered by latent world; {_worlds(ours)}.{unlike_in_words(frame)}",
    )


def _worlds(ours: pd.DataFrame) -> str:
    """Say how many latent worlds the intervals rest on."""
    least, most = int(ours["worlds"].min()), int(ours["worlds"].max())
    said = f"{most}" if least == most else f"{least} to {most}"
    wide = ", so they are wide" if least < FEW else ""
    return f"a run here has {said} of them{wide}"


def told(frame: pd.DataFrame, field: str) -> str:
    """Say a figure of every system and prompt."""
    return "; ".join(
        f"{name}: "
        + ", ".join(f"{row['prompt']} {spoken(row[field])}" for row in cells.to_dict("records"))
        for name, cells in frame.groupby("system", sort=False)
    )


def side_by_side(
    frame: pd.DataFrame,
    field: str,
    low: str,
    high: str,
    title: str,
    domain: tuple[float, float] | None = None,
) -> alt.LayerChart:
    """Draw a row for each system and a mark for each prompt; published ones hollow and grey."""
    order, used = _order(frame), set(frame["prompt"])
    skins = [skin for skin in SHAPES if skin in used] + sorted(used - set(SHAPES))
    mine = [name for name in order if not _is_published(frame, name)]
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=False)
    shared: dict[str, Any] = {
        "y": alt.Y("system:N", title=None, sort=order),
        "yOffset": alt.YOffset("prompt:N", sort=skins, scale=alt.Scale(paddingInner=0.2)),
        "color": alt.Color(
            "system:N", legend=None,
            scale=alt.Scale(
                domain=order, range=colours(mine) + [PUBLISHED] * (len(order) - len(mine))
            ),
        ),
    }  # fmt: skip
    mark = alt.Shape(
        "prompt:N", title="prompt", sort=skins,
        scale=alt.Scale(domain=skins, range=[SHAPES.get(skin, "cross") for skin in skins]),
    )  # fmt: skip
    drawn = frame[["system", "prompt", "published", field, low, high]]
    ours, theirs = drawn[~drawn["published"]], drawn[drawn["published"]]
    lines: list[Any] = [
        alt.Chart(ours)
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X(f"{low}:Q", scale=scale, title=title), x2=f"{high}:Q", **shared)
    ]
    points: list[Any] = [
        alt.Chart(part)
        .mark_point(size=70, filled=filled, strokeWidth=2, opacity=1)
        .encode(x=alt.X(f"{field}:Q", scale=scale, title=title), shape=mark, **shared)
        for part, filled in ((theirs, False), (ours, True))
    ]
    return sized(lines + points, height=len(order) * ROW)


def _is_published(frame: pd.DataFrame, name: str) -> bool:
    return bool(frame.loc[frame["system"] == name, "published"].all())


def _table(frame: pd.DataFrame) -> Table:
    ranked = {name: place for place, name in enumerate(_order(frame))}
    rows = frame.assign(_rank=frame["system"].map(ranked)).sort_values("_rank", kind="stable")
    columns = ["system", "source", "prompt", "accuracy_false", "accuracy_true", "accuracy", "low",
               "high", "avg_steps", "errors", "episodes", "unlike"]  # fmt: skip
    return Table(
        "causallink-prompts-table",
        "The paper's Tables 4 and 5, with the runs of this report",
        rows[columns].rename(columns={"unlike": "unlike the paper in"}),
        "Published figures as printed. `errors` counts cases: here those that ended without an "
        "answer; in the paper also cases with an invalid action on the way. Instances are never "
        "the same; profile `published` has the released rules. The last column names arguments "
        "that the paper's runs had otherwise.",
    )


def _lean(frame: pd.DataFrame) -> Figure:
    drawn = frame.dropna(subset=["right_on_true", "right_on_false"]).copy()
    drawn["series"] = [
        "published" if row["published"] else f"{row['system']}, {row['prompt']}"
        for row in drawn.to_dict("records")
    ]
    said = "; ".join(
        f"{row['system']}, {row['prompt']}: {spoken(row['right_on_true'])} on true and "
        f"{spoken(row['right_on_false'])} on false"
        for row in drawn[~drawn["published"]].to_dict("records")
    )
    return Figure(
        "causallink-prompts-lean",
        "Lean to yes or no",
        f"Accuracy where the link is there against accuracy where it is not. {said}. Published "
        f"systems: {_range(drawn, 'right_on_true')} on true and {_range(drawn, 'right_on_false')} "
        "on false.",
        plane(
            drawn, x="right_on_false", y="right_on_true", color="series",
            x_title="accuracy where x does not drive y", y_title="accuracy where x drives y",
            published="published",
        ),
        drawn[["system", "prompt", "source", "accuracy_true", "accuracy_false", "episodes"]],
        "Bottom right: a system that says no whatever it sees; top left: one that says yes. "
        f"Hollow grey: published (Tables 4 and 5).{unlike_in_words(frame)}",
    )  # fmt: skip


def _range(frame: pd.DataFrame, field: str) -> str:
    theirs = frame.loc[frame["published"], field]
    return f"{spoken(theirs.min())} to {spoken(theirs.max())}"
