"""Where CausaLab's episodes fail: prediction without mechanism, bad experiments, bad inference."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from whybench.episode.episode import ANSWERED
from whybench.families.causalab.extras.report.rows import entries, regime_of, row_of, setting_of
from whybench.report.chapters.understanding import FEWEST, WORTH_SAYING
from whybench.report.entries import Entry, cells, told
from whybench.report.forms import Row
from whybench.report.published.matching_by_index import places
from whybench.report.view import View

Split = Callable[[pd.DataFrame], dict[str, "pd.Series[bool]"]]
"""Function from scored rows to a mask for each kind of result."""

NONE = "no prediction"
MOST_NAMED = 3
"""Maximum number of suites in a warning about a system."""

COMPARED = ("accuracy", "edge_f1")


def shares(entry: Entry, masks: dict[str, pd.Series[bool]]) -> Iterator[Row]:
    """Return a row for each kind of result, with its share of a run's episodes."""
    for kind, mask in masks.items():
        yield {
            "run": row_of(entry), "origin": entry.origin, "kind": kind,
            "episodes": int(mask.sum()), "share": float(mask.mean()), "n": len(mask),
        }  # fmt: skip


def _ends(view: View, split: Split) -> list[Row]:
    scored = [(entry, entry.run.frame.dropna(subset=["accuracy"])) for entry in entries(view)]
    return [row for entry, rows in scored for row in shares(entry, split(rows))]


def both_ends(view: View) -> list[Row]:
    """Return the combined results of prediction and graph."""

    def split(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
        answered, right = rows["outcome"] == ANSWERED, rows["accuracy"] == 1
        graph = rows["shd"] == 0
        return {
            "both right": answered & right & graph,
            "right graph, wrong frequency": answered & ~right & graph,
            "right frequency, wrong graph": rows["without_mechanism"] == 1,
            "both wrong": answered & ~right & ~graph,
            NONE: ~answered,
        }

    return _ends(view, split)


def frequency_ends(view: View) -> list[Row]:
    """Return why frequencies were missed."""

    def split(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
        answered, right = rows["outcome"] == ANSWERED, rows["accuracy"] == 1
        experiments, inference = rows["bad_experiments"] == 1, rows["bad_inference"] == 1
        beyond = answered & ~right & ~experiments & ~inference
        return {"right": right, "bad experiments": experiments, "bad inference": inference,
                "beyond the dial": beyond, NONE: ~answered}  # fmt: skip

    return _ends(view, split)


def graph_ends(view: View) -> list[Row]:
    """Return why graphs were missed."""

    def split(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
        answered = rows["outcome"] == ANSWERED
        return {
            "right": answered & (rows["shd"] == 0),
            "bad experiments": rows["graph_bad_experiments"] == 1,
            "bad inference": rows["graph_bad_inference"] == 1,
            NONE: ~answered,
        }

    return _ends(view, split)


# Right frequencies with a wrong graph.


def called(view: View, who: str) -> Iterator[Row]:
    """Name the models, or the agents, whose right predictions often come with a wrong graph."""
    listed = [entry for entry in entries(view) if entry.run.reference == (who == "agents")]
    rows = [
        {
            "system": entry.system,
            "where": " ".join(filter(None, (entry.suite, regime_of(entry)))),
            "right": int((entry.run.frame["accuracy"] == 1).sum()),
            "lucky": int((scored["without_mechanism"] == 1).sum()),
            "forced": int(
                (scored["without_mechanism"].eq(1) & scored["graph_bad_inference"].eq(1)).sum()
            ),
        }
        for entry in listed
        for scored in [entry.run.frame.dropna(subset=["accuracy"])]
    ]
    for system, group in pd.DataFrame(rows).groupby("system", sort=False) if rows else ():
        marked = group[
            (group["right"] >= FEWEST) & (group["lucky"] >= WORTH_SAYING * group["right"])
        ]
        worst = (marked["lucky"] / marked["right"]).sort_values(ascending=False, kind="stable")
        named = [marked.loc[place] for place in worst.index[:MOST_NAMED]]
        if named:
            yield {
                "system": system, **group[["right", "lucky", "forced"]].sum(),
                "worst": "; ".join(f"{o['where']} {o['lucky']} of {o['right']}" for o in named),
            }  # fmt: skip


# What a system's data allowed, and what other data would have.


def allowed(view: View) -> list[Row]:
    """Compare scores with those of exact inference from the same data."""
    columns = {
        "accuracy": "accuracy", "its data allowed": "inferable", "edge F1": "edge_f1",
        "its data allowed an edge F1 of": "inferable_edge_f1",
    }  # fmt: skip
    return [
        {
            "system": entry.system, "suite": entry.suite,
            "regime": regime_of(entry) or "the suite's", "origin": entry.origin,
            "n": view.estimate(entry.run, "accuracy").n,
            **{name: told(view.estimate(entry.run, metric)) for name, metric in columns.items()},
        }
        for entry in entries(view)
    ]  # fmt: skip


def evidence(view: View) -> list[Row]:
    """Compare own experiments with those of the exact agent and of other runs."""
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries(view, evidence=None):
        key = (*setting_of(entry), entry.suite, regime_of(entry))
        groups.setdefault(key, []).append(entry)
    rows: list[Row] = []
    for group in groups.values():
        shared = set.intersection(*(set(places(entry.run.frame)) for entry in group))
        if not shared or len({entry.run.evidence for entry in group}) < 2:
            continue
        for entry in group:
            where = places(entry.run.frame).isin(shared)
            for metric in COMPARED:
                found = view.estimate(entry.run, metric, where)
                rows.append({
                    "row": f"{row_of(entry)}: {metric}", "evidence": entry.run.evidence,
                    **cells(found, "score"),
                })  # fmt: skip
    return rows
