"""ReCITE's section of the report: how much of the causal graphs was found, and where."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from whybench.families.recite.covariates import SEPARATOR
from whybench.families.recite.extras.analyses.bins import edge_names
from whybench.families.recite.extras.analyses.shape import DENSITIES
from whybench.families.recite.extras.analyses.sizes import EXPLICITNESS
from whybench.families.recite.extras.report import graphs, judge
from whybench.families.recite.extras.report.rows import (
    OTHER_SCORE,
    SCORE,
    beside,
    binned,
    by_value,
    estimated,
    models,
    series,
    systems,
)
from whybench.families.recite.parameters import levels
from whybench.report.filling import named, written
from whybench.report.forms import Row, Shown, read
from whybench.report.section import Section
from whybench.report.view import View

STAGES = {
    "name_recall": "gold nodes that were found",
    "edge_undirected_f1": "right pairs connected, in either direction",
    "edge_f1_answered": "connected in the right direction",
}

STATUSES = {
    "edge_recall_stated": "stated in one sentence",
    "edge_recall_implied": "implied by several sentences",
    "edge_recall_derivable": "derivable only",
    "edge_recall_plausible": "expected by common knowledge",
    "edge_recall_implausible": "against common knowledge",
}

SHAPES = {"density": ("sparse", "moderate", "dense"), "cycles": ("acyclic", "cyclic")}


def section(view: View) -> Section:
    """Show all results of this family's runs; without a run, only the judges' exams."""
    functions = named(graphs, judge) | globals()
    found = written(read(__package__, "section.toml"), functions, view)
    return found if view.runs else replace(found, parts=(), children=found.children[-1:])


def overview(view: View) -> list[Row]:
    """Return the scores of every run between floor and ceiling."""
    rows: list[Row] = []
    for entry in series(view.runs):
        run, found, between = entry.run, view.estimate(entry.run, SCORE), view.bounds(entry.run)
        outcomes = run.frame["outcome"].value_counts()
        left_out, answered = (int(outcomes.get(n, 0)) for n in ("context_exceeded", "answered"))
        counted = len(run.frame) - left_out
        rows.append({
            "system": entry.system, "suite": run.suite, "profile": run.profile,
            "documents": int(run.frame["instance"].nunique()), SCORE: found.estimate,
            "low": found.low, "high": found.high,
            "edge_precision": view.estimate(run, "edge_precision").estimate,
            "edge_recall": view.estimate(run, "edge_recall").estimate,
            "floor": between.floor, "ceiling": between.ceiling,
            "basis of floor and ceiling": between.source,
            "without a valid graph": 1 - answered / counted if counted else float("nan"),
            "valid without retry": view.estimate(run, "valid_first").estimate,
            "too long for the model": left_out,
        })  # fmt: skip
    return rows


def stages(view: View) -> list[Row]:
    """Return where edges get lost: nodes not found, pairs not connected, or wrong directions."""
    return [
        row
        for entry in systems(view.runs)
        for metric, stage in STAGES.items()
        for row in estimated(view, entry, metric, stage=stage)
    ]


def told_names(view: View) -> Shown:
    """Return runs with given names beside the paper's Table 4, computed with its formula."""
    told = series(run for run in view.runs if run.suite == "recite/name_assisted")
    rows = [row for entry in told for row in estimated(view, entry, "legacy_f1")]
    rows += beside(view, told, "name_assisted", "f1") if rows else []
    frame = pd.DataFrame(rows)
    if rows:
        frame = frame.sort_values("value", ascending=False, kind="stable")
    return Shown(frame, {"order": list(frame["system"]) if rows else []})


# Explicitness of a text.


def ladder(view: View) -> Shown:
    """Return the score by level of explicitness, with the same graphs at each level."""
    rows: list[Row] = []
    for entry in series(run for run in view.runs if run.suite == "recite/ladder"):
        steps = view.joined(entry.run).get("level", pd.Series(dtype=float)).dropna()
        kinds = {level: int(level) for level in sorted(steps.unique())}
        rows += by_value(view, entry, "level", kinds, "level")
    first, last = levels()[0], levels()[-1]
    ends = {"named": first.explicit, "stated": first.stated}
    ends |= {"count": len(levels()), "last_named": last.explicit, "last_stated": last.stated}
    return Shown(pd.DataFrame(rows), ends)


def by_status(view: View) -> list[Row]:
    """Return recall of edges by how the text gives them, and by what knowledge expects."""
    return [
        row
        for entry in series(view.runs)
        for metric, given in STATUSES.items()
        for row in estimated(view, entry, metric, given=given)
    ]


def mentioned(view: View) -> Shown | None:
    """Return the score by share of mentioned nodes."""
    names = edge_names(EXPLICITNESS)
    listed = systems(run for run in view.runs if run.suite != "recite/ladder")
    rows = [
        row
        for entry in listed
        for row in binned(view, entry, "lenient", EXPLICITNESS, names, "mentioned")
    ]
    frame = pd.DataFrame(rows)
    enough = len(frame) and frame["mentioned"].nunique() > 1
    return Shown(frame, {"order": names}) if enough else None


# Shape, field and date.


def shape(view: View, by: str) -> Shown:
    """Return the score by density (Table 14) or by cycles (Table 15), published ones beside it."""
    names, drawn = SHAPES[by], systems(view.runs)
    kinds = {name == "cyclic": name for name in SHAPES["cycles"]}
    rows = [
        row
        for entry in drawn
        for row in (
            binned(view, entry, "density", DENSITIES, names, by)
            if by == "density"
            else by_value(view, entry, "cyclic", kinds, by)
        )
    ]
    prefix = {"density": "by_density_", "cycles": "by_cyclicity_"}[by]
    cells = [
        row
        for name in (names if rows else ())
        for row in beside(view, drawn, f"{prefix}{name}", "f1", **{by: name})
    ]
    cuts = zip(SHAPES["density"], edge_names(DENSITIES), strict=True)
    words = {
        "order": names, "cuts": ", ".join(f"{name} {cut}" for name, cut in cuts),
        "grey": OTHER_SCORE if cells else "",
        "score": f"{SCORE} (published: judge's F1)" if cells else SCORE,
    }  # fmt: skip
    return Shown(pd.DataFrame([*rows, *cells]), words)


def fields(view: View) -> Shown:
    """Return the score by field; a document of several fields counts in each."""
    rows: list[Row] = []
    for entry in systems(view.runs):
        named = view.joined(entry.run).get("domain", pd.Series(dtype=str)).dropna()
        own = named.map(lambda text: frozenset(str(text).split(SEPARATOR)))
        for field in sorted({field for kept in own for field in kept}):
            where = own.map(lambda kept, field=field: field in kept)
            whole = where.reindex(entry.run.frame.index, fill_value=False)
            rows += estimated(view, entry, SCORE, whole, field=field)
    return Shown(pd.DataFrame(rows), {"order": sorted({row["field"] for row in rows})})


def years(view: View) -> Shown:
    """Return the score by year of publication."""
    rows: list[Row] = []
    for entry in models(view):
        dates = view.joined(entry.run).get("date", pd.Series(dtype=str))
        for year in sorted(dates.dropna().str[:4].unique()):
            rows += estimated(view, entry, SCORE, dates.str[:4] == year, year=year)
    return Shown(pd.DataFrame(rows), {"order": sorted({row["year"] for row in rows})})
