"""CausalLink by covariates: structure (Figure 2), size (Figure 3), steps needed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causallink.extras.report.prompts import by_prompt
from whybench.families.causallink.extras.report.rows import SUITES, bounds, own
from whybench.report.filling import drawn
from whybench.report.forms import FigureForm, Row, Shown
from whybench.report.palette import LIGHT
from whybench.report.runs import Run
from whybench.report.view import View

SHOWN = {
    "direct": "direct, A→B",
    "mediation": "mediation, A→B→C",
    "confounder": "confounder, A←B→C",
    "confounder_extra": "confounder and A→C",
    "collider": "collider, A→B←C",
    "random": "random",
}
"""Structure → its label in a figure."""

STRUCTURED = ("core", "core_distinct", "collider")

SIZED = ("core", "advanced", "large")
"""Suites whose starts with everything on form one line over the number of entities."""


def with_covariates(view: View, run: Run, *needed: str) -> pd.DataFrame:
    """Return a run's scored rows with covariates; empty if its instances cannot be rebuilt."""
    rows = view.joined(run)
    if any(name not in rows for name in (*needed, "accuracy")):
        return rows.iloc[:0].reindex(columns=[*rows.columns, *needed])
    return rows.dropna(subset=["accuracy", *needed])


# Structure and start.


def by_setup(view: View, suite: str) -> pd.DataFrame:
    """Return the accuracy of each run for each structure and start; epochs are averaged first."""
    found = []
    for entry in own(view, suite):
        rows = with_covariates(view, entry.run, "structure", "setup")
        keys = ["structure", "setup"]
        asked = rows.groupby([*keys, "instance"], sort=False)["accuracy"].mean()
        cells = asked.groupby(keys, sort=False).agg(["mean", "size"]).reset_index()
        cells = cells.rename(columns={"mean": "accuracy", "size": "questions"})
        cells["episodes"] = rows.groupby(keys, sort=False).size().to_numpy()
        found.append(cells.assign(system=entry.system))
    return _sorted(pd.concat(found, ignore_index=True)) if found else pd.DataFrame()


def _sorted(cells: pd.DataFrame) -> pd.DataFrame:
    """Sort by system, by the paper's order of structures, and by starts from none to all."""
    rank = {name: place for place, name in enumerate(SHOWN)}
    sizes = {"none": 0, "all": 99}
    keys = pd.DataFrame({
        "system": pd.factorize(cells["system"])[0],
        "structure": [rank.get(name, len(rank)) for name in cells["structure"]],
        "moving": [sizes.get(setup, len(setup)) for setup in cells["setup"]],
        "setup": cells["setup"],
    })  # fmt: skip
    return cells.loc[keys.sort_values(list(keys.columns)).index].reset_index(drop=True)


def over_setups(setups: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over starts with its standard error, for each run and structure."""
    rows: list[Row] = []
    groups = setups.groupby(["system", "structure"], sort=False) if len(setups) else ()
    for (system, structure), cells in groups:
        mean, count = float(cells["accuracy"].mean()), len(cells)
        error = float(cells["accuracy"].std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        rows.append({
            "system": system, "structure": SHOWN.get(structure, structure), "accuracy": mean,
            "standard error": error,
            "low": max(0.0, mean - error) if count > 1 else math.nan,
            "high": min(1.0, mean + error) if count > 1 else math.nan,
            "setups": count, "questions": int(cells["questions"].sum()),
            "episodes": int(cells["episodes"].sum()),
        })  # fmt: skip
    return pd.DataFrame(rows)


def structures(view: View) -> list[Shown]:
    """Return accuracy per structure, for each suite."""
    return [Shown(over_setups(by_setup(view, suite)), {"suite": suite}) for suite in STRUCTURED]


def setups(view: View) -> Iterator[Shown]:
    """Return accuracy per start, for each suite."""
    for suite in STRUCTURED:
        frame = by_setup(view, suite)
        if len(frame):
            frame["structure"] = [SHOWN.get(name, name) for name in frame["structure"]]
        yield Shown(frame, {"suite": suite})


def no_structure(view: View) -> list[Row]:
    """Return one row if no run on `core` has results by structure."""
    return [{"suite": "core"}] if by_setup(view, "core").empty else []


# Size.


def sizes(view: View) -> pd.DataFrame:
    """Return accuracy by size on starts with everything on, a row for each run and size."""
    rows: list[Row] = []
    for entry in (entry for suite in SIZED for entry in own(view, suite)):
        known = with_covariates(view, entry.run, "n", "all_moving", "truth")
        known = known[known["all_moving"].astype(bool)]
        for size, cells in known.groupby("n"):
            found = view.estimate(entry.run, "accuracy", _chosen(entry.run, cells))
            yes = float((cells.drop_duplicates("instance")["truth"] == "yes").mean())
            rows.append({
                "system": entry.system, "n": int(str(size).partition(".")[0]),
                "accuracy": found.estimate, **bounds(found),
                "best constant answer": max(yes, 1 - yes),
                "questions": int(cells["instance"].nunique()), "episodes": found.n,
                "suite": entry.suite,
            })  # fmt: skip
    return pd.DataFrame(rows)


def _chosen(run: Run, cells: pd.DataFrame) -> pd.Series:
    return pd.Series(run.frame.index.isin(cells.index), index=run.frame.index)


def only_small(view: View) -> list[Row]:
    """Return one row if no run has more than three entities."""
    frame = sizes(view)
    return [{"suite": "advanced"}] if frame.empty or frame["n"].max() < 4 else []


def with_constant(form: FigureForm, shown: Shown) -> Any:
    """Draw accuracy by size, and the better constant answer."""
    most = shown.frame.sort_values("questions", ascending=False).drop_duplicates("n")
    return _unbarred(form, shown) + _dashed(most.sort_values("n"), "n", "best constant answer")


def _unbarred(form: FigureForm, shown: Shown) -> Any:
    """Remove the intervals of reference agents from the chart; the table keeps them."""
    frame = shown.frame
    bare = frame["system"].str.contains("(reference agent)", regex=False)
    clear = frame.assign(low=frame["low"].mask(bare), high=frame["high"].mask(bare))
    return drawn(form, Shown(clear, shown.words))


def _dashed(frame: pd.DataFrame, x: str, y: str) -> alt.Chart:
    line = alt.Chart(frame[[x, y]].astype({x: str}))
    marked: alt.Chart = line.mark_line(strokeDash=[5, 4], strokeWidth=1.4, color=LIGHT["soft"])
    return marked.encode(x=f"{x}:O", y=f"{y}:Q")


# Interventions against the optimum: the exact agent, and the fewest that force the answer.


def compared(view: View) -> list[Row]:
    """Return a row for each run: its interventions, and the numbers that suffice."""
    rows: list[Row] = []
    for entry in (entry for suite in SUITES for entry in own(view, suite)):
        run = entry.run
        known = with_covariates(view, run, "exact_steps", "fewest")
        if known.empty:
            continue
        made = view.estimate(run, "experiments")
        answered = known[known["outcome"] == "answered"]
        early = answered["experiments"] < answered["fewest"]
        once = known.drop_duplicates("instance")
        rows.append({
            "system": entry.system, "suite": entry.suite, "steps": made.estimate,
            **bounds(made),
            "exact agent": float(once["exact_steps"].mean()),
            "fewest": float(once["fewest"].mean()),
            "regret": view.estimate(run, "regret").estimate,
            "after the answer was forced": view.estimate(run, "wasted_steps").estimate,
            "answered too early": float(early.mean()), "episodes": made.n,
        })  # fmt: skip
    return rows


def optimum(view: View) -> tuple[float, float, float]:
    """Return mean steps on the instances of `core` that were played.

    The three means are: the exact agent's; the same with a required first intervention, as in the
    dialogue; and `fewest` with a required first intervention. NaN if no instance can be rebuilt.
    """
    played = _played(view)
    if not played:
        return math.nan, math.nan, math.nan
    known = pd.concat(played).drop_duplicates("instance")
    exact, fewest = known["exact_steps"].astype(float), known["fewest"].astype(float)
    return float(exact.mean()), float(exact.clip(1).mean()), float(fewest.clip(1).mean())


def _played(view: View) -> list[pd.DataFrame]:
    found = [
        with_covariates(view, entry.run, "exact_steps", "fewest") for entry in own(view, "core")
    ]
    return [known for known in found if not known.empty]


def mean_steps(view: View) -> Shown:
    """Return mean interventions on core beside the published ones, with the optimum in words."""
    frame, words = by_prompt(view)
    exact, forced, least = optimum(view)
    words = {**words, "exact": exact, "forced": forced, "needs": "", "dashed": ""}
    if not math.isnan(forced):
        means = [f"{_mean_of(known):.2f}" for known in _played(view)]
        single = " to ".join(dict.fromkeys((min(means), max(means))))
        spread = f" ({single} on those of single runs)" if single != f"{exact:.2f}" else ""
        needs = f"{exact:.2f}{spread}, or {forced:.2f} with a required first intervention"
        words["needs"] = f"; on the instances played the exact agent needs {needs}"
        words["dashed"] = (
            f"Dashed: the exact agent on the instances that were played, {needs} as in the "
            f"dialogue. The fewest interventions that force the answers, with a required first "
            f"one, are {least:.2f} on average. A lower mean shows that the evidence did not "
            "force some answers. "
        )
    return Shown(frame, words)


def _mean_of(known: pd.DataFrame) -> float:
    return float(known.drop_duplicates("instance")["exact_steps"].astype(float).mean())


def by_need(view: View, suite: str) -> pd.DataFrame:
    """Return mean interventions for each number that the exact agent needs."""
    rows: list[Row] = []
    for entry in own(view, suite):
        for need, cells in with_covariates(view, entry.run, "exact_steps").groupby("exact_steps"):
            where = _chosen(entry.run, cells)
            made = view.estimate(entry.run, "experiments", where)
            rows.append({
                "system": entry.system, "needed": int(float(str(need))), "steps": made.estimate,
                **bounds(made),
                "accuracy": view.estimate(entry.run, "accuracy", where).estimate,
                "episodes": made.n, "suite": suite,
            })  # fmt: skip
    return pd.DataFrame(rows)


def needs(view: View) -> list[Shown]:
    """Return interventions of runs and of the exact agent, for each suite."""
    return [Shown(by_need(view, suite), {"suite": suite}) for suite in SUITES]


def with_diagonal(form: FigureForm, shown: Shown) -> Any:
    """Draw interventions of runs, with the exact agent's number as the diagonal."""
    needed = sorted(set(shown.frame["needed"]))
    diagonal = pd.DataFrame({"needed": needed, "steps": needed})
    return _unbarred(form, shown) + _dashed(diagonal, "needed", "steps")
