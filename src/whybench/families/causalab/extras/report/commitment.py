"""Early commitment: unused budget, early answers, and graphs that no longer change."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from whybench.episode.episode import ANSWERED
from whybench.families.causalab.extras.report.failures import shares
from whybench.families.causalab.extras.report.rows import entries, row_of
from whybench.families.causalab.extras.verdict import held_since
from whybench.report.decisions.difference import difference
from whybench.report.entries import Entry, cells, labels_of
from whybench.report.forms import Row
from whybench.report.published.matching_by_index import by_place
from whybench.report.view import View

GROUPS = (("right frequency", 1.0), ("wrong frequency", 0.0))


def free(view: View) -> list[Entry]:
    """Return the runs with answered episodes in which a system chose its experiments."""
    return [entry for entry in entries(view) if len(_answered(entry))]


def _answered(entry: Entry) -> pd.DataFrame:
    rows = entry.run.frame
    return rows[(rows["outcome"] == ANSWERED) & rows["unused_budget"].notna()]


# The paper's diagnostics.


def by_success(view: View, metric: str) -> list[Row]:
    """Return a metric of answered episodes, separately for right and wrong frequencies."""
    rows: list[Row] = []
    for entry in free(view):
        frame = entry.run.frame
        for group, value in GROUPS:
            where = (frame["outcome"] == ANSWERED) & (frame["accuracy"] == value)
            found = view.estimate(entry.run, metric, where)
            if not math.isnan(found.estimate):
                rows.append({
                    "run": row_of(entry), "origin": entry.origin, "episodes": group,
                    **cells(found, metric),
                })  # fmt: skip
    return rows


# Against the moment at which the evidence sufficed.


def moments(entry: Entry) -> pd.DataFrame:
    """Return each answered episode's three moments, counted in interventions.

    `made`: the experiments stopped. `sufficed`: the evidence forced everything (NaN: never).
    `held`: the graph changed for the last time.
    """
    rows = _answered(entry)
    held = [held_since(labels_of(row).get("trajectory") or ()) for row in rows.to_dict("records")]
    return pd.DataFrame(
        {
            "made": rows["interventions"],
            "sufficed": rows["interventions"] - rows["stopped_late"],
            "early": rows["stopped_early"] == 1,
            "late": rows["stopped_late"].fillna(0) > 0,
            "held": pd.Series(held, index=rows.index, dtype=float),
            "graph": rows["shd"] == 0,
        },
        index=rows.index,
    )


def stops(view: View) -> Iterator[Row]:
    """Return when the experiments stopped."""
    for entry in free(view):
        found = moments(entry)
        early, late, graph = found["early"], found["late"], found["graph"]
        yield from shares(entry, {
            "at the right moment": ~early & ~late, "after more experiments": ~early & late,
            "too early, graph right": early & graph, "too early, graph wrong": early & ~graph,
        })  # fmt: skip


def held(view: View) -> Iterator[Row]:
    """Return whether the final graph was chosen before or after the evidence sufficed."""
    for entry in free(view):
        found = moments(entry).dropna(subset=["held"])
        found = found[found["sufficed"].notna() | found["early"]]
        before, right = ~(found["held"] >= found["sufficed"]), found["graph"]
        if len(found):
            yield from shares(entry, {
                "after it, and right": ~before & right, "after it, and wrong": ~before & ~right,
                "before it, and right": before & right, "before it, and wrong": before & ~right,
            })  # fmt: skip


def commitments(view: View) -> list[Row]:
    """Return the means of all moments, a row for each run."""
    rows: list[Row] = []
    for entry in free(view):
        found = moments(entry)
        known = found.dropna(subset=["sufficed"])
        rows.append({
            "system": entry.system, "suite": entry.suite, "origin": entry.origin,
            "n": len(found), "interventions made": found["made"].mean(),
            "stopped early": found["early"].mean(), "evidence sufficed in": len(known),
            "after interventions": known["sufficed"].mean(),
            "made too many": (known["made"] - known["sufficed"]).mean(),
            "final graph held since": found["held"].mean(),
            "last hypothesis fits own data": _answered(entry)["final_consistent"].mean(),
        })  # fmt: skip
    return rows


def verified(view: View) -> list[Row]:
    """Compare runs with and without one explicit check of the hypothesis."""
    listed = entries(view)
    rows: list[Row] = []
    for entry in (entry for entry in listed if entry.run.parameters.get("verify")):
        parameters = {k: v for k, v in entry.run.parameters.items() if k != "verify"}
        for other in listed:
            alike = [(e.suite, e.run.model, e.run.profile, e.run.seed) for e in (entry, other)]
            if alike[0] != alike[1] or dict(other.run.parameters) != parameters:
                continue
            # The parameter is part of an instance's id, so worlds are paired by their place.
            ours, theirs = (by_place(one.run.frame) for one in (entry, other))
            found = difference(ours, theirs, "accuracy", rate=True)
            rows.append({
                "system": entry.system, "suite": entry.suite, "accuracy without": found.second,
                "accuracy with": found.first, "difference": found.estimate, "low": found.low,
                "high": found.high, "n": found.n,
            })  # fmt: skip
    return rows
