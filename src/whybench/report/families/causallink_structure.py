"""Accuracy by structure and start (the paper's Figure 2), and by size (its Figure 3)."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd

from whybench.report.charts import dots, lines
from whybench.report.families.causallink_runs import bounds, own, spoken, traited, unbarred, wanted
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View

SHOWN = {
    "direct": "direct, A→B",
    "mediation": "mediation, A→B→C",
    "confounder": "confounder, A←B→C",
    "confounder_extra": "confounder and A→C",
    "collider": "collider, A→B←C",
    "random": "random",
}
"""Structure → how it is written in a figure."""

SIZED = ("core", "advanced", "large")
"""Suites whose all-moving starts make one line over the number of entities."""


def by_structure(view: View) -> Section:
    """Accuracy per structure, with the error over initial setups."""
    parts: list[Part] = []
    for suite in ("core", "core_distinct", "collider"):
        setups = by_setup(view, suite)
        if not setups.empty:
            parts += [_structures(suite, over_setups(setups)), _setups(suite, setups)]
    if not any(isinstance(part, Figure) and part.id.endswith("-core") for part in parts):
        parts.append(wanted("Accuracy by structure on the paper's core set", "core"))
    return Section(
        "causallink-structure",
        "Accuracy by structure",
        "Each fixed structure is asked about from every start that can come about. A start is named"
        " by the entities that move, with the letters of the structure.",
        tuple(parts),
    )


def by_setup(view: View, suite: str) -> pd.DataFrame:
    """Return the accuracy of each run for each structure and start; epochs are averaged first."""
    found = []
    for name, run in own(view, suite):
        rows = traited(view, run, "structure", "setup")
        keys = ["structure", "setup"]
        asked = rows.groupby([*keys, "instance"], sort=False)["accuracy"].mean()
        cells = asked.groupby(keys, sort=False).agg(["mean", "size"]).reset_index()
        cells = cells.rename(columns={"mean": "accuracy", "size": "questions"})
        cells["episodes"] = rows.groupby(keys, sort=False).size().to_numpy()
        found.append(cells.assign(system=name))
    return _sorted(pd.concat(found, ignore_index=True)) if found else pd.DataFrame()


def _sorted(cells: pd.DataFrame) -> pd.DataFrame:
    """Keep systems in their order, structures in the paper's, starts from none to all."""
    rank = {name: place for place, name in enumerate(SHOWN)}
    sizes = {"none": 0, "all": 99}
    keys = pd.DataFrame(
        {
            "system": pd.factorize(cells["system"])[0],
            "structure": [rank.get(name, len(rank)) for name in cells["structure"]],
            "moving": [sizes.get(setup, len(setup)) for setup in cells["setup"]],
            "setup": cells["setup"],
        }
    )
    return cells.loc[keys.sort_values(list(keys.columns)).index].reset_index(drop=True)


def over_setups(setups: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over starts with its standard error, for each run and structure."""
    rows: list[dict[str, Any]] = []
    for (system, structure), cells in setups.groupby(["system", "structure"], sort=False):
        mean, count = float(cells["accuracy"].mean()), len(cells)
        error = float(cells["accuracy"].std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        rows.append(
            {
                "system": system,
                "structure": SHOWN.get(structure, structure),
                "accuracy": mean,
                "standard error": error,
                "low": max(0.0, mean - error) if count > 1 else math.nan,
                "high": min(1.0, mean + error) if count > 1 else math.nan,
                "setups": count,
                "questions": int(cells["questions"].sum()),
                "episodes": int(cells["episodes"].sum()),
            }
        )
    return pd.DataFrame(rows)


def _structures(suite: str, frame: pd.DataFrame) -> Figure:
    said = "; ".join(
        f"{system}: "
        + ", ".join(
            f"{row['structure']} {spoken(row['accuracy'])}" for row in cells.to_dict("records")
        )
        for system, cells in frame.groupby("system", sort=False)
    )
    order = [word for word in SHOWN.values() if word in set(frame["structure"])]
    return Figure(
        f"causallink-structure-{suite.replace('_', '-')}",
        f"Accuracy by structure, causallink/{suite}",
        f"Accuracy by structure. {said}.",
        dots(
            frame, x="accuracy", y="structure", low="low", high="high", y_sort=order,
            x_title="accuracy, mean over initial setups ± one standard error",
        ),
        frame,
        "As in the paper's Figure 2: bars are one standard error over initial setups, not a "
        "confidence interval. The paper prints no numbers for it.",
    )  # fmt: skip


def _setups(suite: str, setups: pd.DataFrame) -> Table:
    frame = setups.assign(structure=[SHOWN.get(name, name) for name in setups["structure"]])
    columns = ["system", "structure", "setup", "accuracy", "questions", "episodes"]
    return Table(
        f"causallink-setups-{suite.replace('_', '-')}",
        f"Accuracy by initial setup, causallink/{suite}",
        frame[columns],
        "Setup: the entities that move at the start, by the letters of the structure.",
    )


def by_size(view: View) -> Section:
    """Accuracy by the number of entities, where everything moves at the start."""
    frame = sizes(view)
    parts: list[Part] = [] if frame.empty else [_line(frame)]
    if frame.empty or frame["n"].max() < 4:
        parts.append(wanted("Accuracy on four and more entities", "advanced"))
    return Section(
        "causallink-size",
        "Accuracy by size",
        "Starts in which everything moves exist for every size, so they are compared across the "
        "fixed structures of two and three entities and the random ones above.",
        tuple(parts),
    )


def sizes(view: View) -> pd.DataFrame:
    """Return accuracy by size on all-moving starts, a row for each run and size."""
    rows: list[dict[str, Any]] = []
    for suite in SIZED:
        for name, run in own(view, suite):
            known = traited(view, run, "n", "all_moving", "truth")
            known = known[known["all_moving"].astype(bool)]
            for size, cells in known.groupby("n"):
                where = pd.Series(run.frame.index.isin(cells.index), index=run.frame.index)
                found = view.estimate(run, "accuracy", where)
                yes = float((cells.drop_duplicates("instance")["truth"] == "yes").mean())
                rows.append(
                    {
                        "system": name,
                        "n": int(str(size).partition(".")[0]),
                        "accuracy": found.estimate,
                        **bounds(found),
                        "best constant answer": max(yes, 1 - yes),
                        "questions": int(cells["instance"].nunique()),
                        "episodes": found.n,
                        "suite": suite,
                    }
                )
    return pd.DataFrame(rows)


def _line(frame: pd.DataFrame) -> Figure:
    said = "; ".join(
        f"{system}: "
        + ", ".join(f"n={row['n']} {spoken(row['accuracy'])}" for row in cells.to_dict("records"))
        for system, cells in frame.groupby("system", sort=False)
    )
    chart = lines(
        unbarred(frame).assign(entities=frame["n"].astype(str)), x="entities", y="accuracy",
        low="low", high="high", x_title="entities",
        x_sort=[str(n) for n in sorted(set(frame["n"]))],
    )  # fmt: skip
    most = frame.sort_values("questions", ascending=False).drop_duplicates("n").sort_values("n")
    constant = most.assign(entities=most["n"].astype(str))
    dashed = (
        alt.Chart(constant[["entities", "best constant answer"]])
        .mark_line(strokeDash=[5, 4], strokeWidth=1.4, color=LIGHT["soft"])
        .encode(x="entities:O", y="best constant answer:Q")
    )
    return Figure(
        "causallink-size-all-moving",
        "Accuracy by number of entities, everything moving at the start",
        f"Accuracy by number of entities. {said}.",
        chart + dashed,
        frame,
        "As in the paper's Figure 3, which prints no numbers. Bars are 95 % intervals clustered by "
        "latent world; a size with one world has none, and "
        "reference agents are drawn without. Dashed: the better constant answer.",
    )
