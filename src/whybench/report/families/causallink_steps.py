"""Interventions against the optimum: the exact experimenter, and the fewest that can prove."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import pandas as pd

from whybench.report.charts import lines, rule
from whybench.report.families.causallink_prompts import by_prompt, side_by_side, told
from whybench.report.families.causallink_runs import (
    SUITES,
    bounds,
    own,
    positive,
    spoken,
    suite_of,
    traited,
    unbarred,
    unlike_in_words,
    wanted,
)
from whybench.report.palette import LIGHT
from whybench.report.section import Figure, Part, Section, Table
from whybench.report.view import View


def steps(view: View) -> Section:
    """Show how many interventions systems make, and how many would do."""
    parts: list[Part] = []
    table = compared(view)
    if not table.empty:
        parts.append(_table(table))
    means = by_prompt(view)
    if not means.empty:
        parts.append(_means(view, means))
    for suite in SUITES:
        frame = by_need(view, suite)
        if not frame.empty:
            parts.append(_needs(suite, frame))
    if not parts:
        parts.append(wanted("Interventions against the optimum", "core"))
    return Section(
        "causallink-steps",
        "Steps against the optimum",
        "The exact experimenter does not know the world either: it follows the plan with the best "
        "worst case and answers as soon as the evidence forces the answer. `fewest` is what someone"
        " who knows the world would need to prove the answer to others.",
        tuple(parts),
    )


def compared(view: View) -> pd.DataFrame:
    """Return a row for each run: its interventions, and those that would have done."""
    rows: list[dict[str, Any]] = []
    for suite in SUITES:
        for name, run in own(view, suite):
            known = traited(view, run, "exact_steps", "fewest")
            if known.empty:
                continue
            made = view.estimate(run, "avg_steps")
            answered = known[known["outcome"] == "answered"]
            early = answered["avg_steps"] < answered["fewest"]
            once = known.drop_duplicates("instance")
            rows.append(
                {
                    "system": name,
                    "suite": suite,
                    "steps": made.estimate,
                    **positive(bounds(made)),
                    "exact experimenter": float(once["exact_steps"].mean()),
                    "fewest": float(once["fewest"].mean()),
                    "regret": view.estimate(run, "step_regret").estimate,
                    "after the proof": view.estimate(run, "wasted_steps").estimate,
                    "answered too early for any proof": float(early.mean()),
                    "episodes": made.n,
                }
            )
    return pd.DataFrame(rows)


def _table(frame: pd.DataFrame) -> Table:
    return Table(
        "causallink-steps-table",
        "Interventions of each run",
        frame,
        "Means per episode. `regret`: more than the exact experimenter's, if an answer was given;"
        " below zero it stopped sooner. `after the proof`: made when the answer was already forced."
        " `too early`: share of answers after fewer interventions than `fewest`.",
    )


def _means(view: View, frame: pd.DataFrame) -> Figure:
    """Mean interventions on core beside the published ones."""
    ours, theirs = frame[~frame["published"]], frame.loc[frame["published"], "steps"]
    exact, forced, least = optimum(view)
    known = not math.isnan(forced)
    needs = needed(view)
    spread = f" ({needs} on those of single runs)" if needs != spoken(exact) else ""
    needs = f"{spoken(exact)}{spread}, or {spoken(forced)} with a first intervention forced"
    top = 1.05 * float(frame[["steps", "steps_high"]].max().max())
    chart = side_by_side(
        frame, "steps", "steps_low", "steps_high", "interventions per episode", (0, top)
    )
    return Figure(
        "causallink-steps-mean",
        "Mean interventions on the core set",
        "Mean interventions on the core set"
        + (f"; on the instances played the exact experimenter needs {needs}. " if known else ". ")
        + f"{told(ours, 'steps')}. Published systems make {spoken(theirs.min())} to "
        f"{spoken(theirs.max())}.",
        chart + rule(exact) + rule(forced) if known else chart,
        frame[["system", "prompt", "source", "avg_steps", "steps_low", "steps_high", "episodes"]],
        (
            f"Dashed: the exact experimenter on the instances that were played, {needs} as in the "
            f"dialogue. A mean below {spoken(least)}, the fewest that can prove (with a first one "
            "forced), shows that some answers were given without proof. "
            if known
            else ""
        )
        + f"Hollow grey: published, other instances.{unlike_in_words(frame)}",
    )


def optimum(view: View) -> tuple[float, float, float]:
    """Return means on what was played of core: the exact experimenter's, and the fewest.

    The first is free; the others forced: with the first intervention that the dialogue asks for
    whether it is needed or not. NaN if no instance can be rebuilt.
    """
    played = _played(view)
    if not played:
        return math.nan, math.nan, math.nan
    known = pd.concat(played).drop_duplicates("instance")
    exact, fewest = known["exact_steps"].astype(float), known["fewest"].astype(float)
    return float(exact.mean()), float(exact.clip(1).mean()), float(fewest.clip(1).mean())


def needed(view: View) -> str:
    """Return the exact experimenter's mean on the instances of each run, as a range."""
    means = [
        spoken(float(known.drop_duplicates("instance")["exact_steps"].astype(float).mean()))
        for known in _played(view)
    ]
    least, most = min(means, default=""), max(means, default="")
    return least if least == most else f"{least} to {most}"


def _played(view: View) -> list[pd.DataFrame]:
    found = [traited(view, run, "exact_steps", "fewest") for _, run in own(view, "core")]
    return [known for known in found if not known.empty]


def by_need(view: View, suite: str) -> pd.DataFrame:
    """Return mean interventions for each number that the exact experimenter needs."""
    rows: list[dict[str, Any]] = []
    for name, run in own(view, suite):
        known = traited(view, run, "exact_steps")
        for need, cells in known.groupby("exact_steps"):
            where = pd.Series(run.frame.index.isin(cells.index), index=run.frame.index)
            made = view.estimate(run, "avg_steps", where)
            rows.append(
                {
                    "system": name,
                    "needed": int(float(str(need))),
                    "steps": made.estimate,
                    **positive(bounds(made)),
                    "accuracy": view.estimate(run, "accuracy", where).estimate,
                    "episodes": made.n,
                    "suite": suite_of(run),
                }
            )
    return pd.DataFrame(rows)


def _needs(suite: str, frame: pd.DataFrame) -> Figure:
    needs = sorted(set(frame["needed"]))
    chart = lines(
        unbarred(frame).assign(needed=frame["needed"].astype(str)), x="needed", y="steps",
        low="low", high="high", domain=None, y_title="interventions made",
        x_title="interventions of the exact experimenter",
        x_sort=[str(need) for need in needs],
    )  # fmt: skip
    diagonal = (
        alt.Chart(pd.DataFrame({"needed": [str(need) for need in needs], "steps": needs}))
        .mark_line(strokeDash=[5, 4], strokeWidth=1.4, color=LIGHT["soft"])
        .encode(x="needed:O", y="steps:Q")
    )
    said = "; ".join(
        f"{system}: "
        + ", ".join(
            f"{spoken(row['steps'])} where {row['needed']} do" for row in cells.to_dict("records")
        )
        for system, cells in frame.groupby("system", sort=False)
    )
    return Figure(
        f"causallink-steps-{suite.replace('_', '-')}",
        f"Interventions made against those needed, causallink/{suite}",
        f"Mean interventions by the exact experimenter's number. {said}.",
        chart + diagonal,
        frame,
        "Dashed: as many as the exact experimenter. A system below it stops sooner, most often "
        "before a proof; one above it makes more than it needs. Bars: 95 % intervals clustered by "
        "latent world; reference agents are drawn without.",
    )
