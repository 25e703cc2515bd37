"""Knowing the limits: claims about open questions, probabilities, and modes."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from whybench.episode.score import CLAIMS
from whybench.families.prism.extras.analysis import gaps
from whybench.families.prism.extras.report.rows import (
    LABS,
    bounds,
    clusters,
    differences,
    each_run,
    labels,
    scores,
)
from whybench.report.entries import told
from whybench.report.forms import Row
from whybench.report.runs import Run
from whybench.report.view import View
from whybench.stats.clustered import slope

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Edges of the bins of exact probabilities between 0 and 1; both ends have bins of their own."""


def claimed(view: View) -> Iterator[Row]:
    """Return how often a system claims too much, too little, or the opposite."""
    for columns, run in each_run(view):
        found = {name: view.estimate(run, name) for name in CLAIMS}
        if found["over_claim"].n and found["under_claim"].n:
            yield {
                **columns,
                **{name: one.estimate for name, one in found.items()},
                **{f"{name} [95 %]": told(one) for name, one in found.items()},
                "open": found["over_claim"].n, "decided": found["under_claim"].n,
            }  # fmt: skip


def stated(view: View) -> Iterator[Row]:
    """Return how stated probabilities compare with exact ones."""
    for columns, run in each_run(view):
        p, best, gold = (labels(run, name) for name in ("probability", "posterior", "gold"))
        still_open = {one: x for one, x in p.items() if gold.get(one) == "cannot"}
        low, found, high = slope(still_open, best, clusters([run]))
        share = view.estimate(run, "stated")
        if p:
            yield {
                **columns, "stated": share.estimate,
                "Brier regret": told(view.estimate(run, "brier_regret")),
                "log regret": told(view.estimate(run, "log_regret")),
                "slope": found, "low": low, "high": high, "open, stated": len(still_open),
            }  # fmt: skip


def calibration(view: View) -> Iterator[Row]:
    """Return the mean stated probability by exact probability."""
    for columns, run in each_run(view):
        p, best = labels(run, "probability"), labels(run, "posterior")
        frame = pd.DataFrame({"stated": pd.Series(p), "exact": pd.Series(best)}).dropna()
        if frame.empty:
            continue
        inside = pd.cut(frame["exact"], BINS).astype(str)
        ends = frame["exact"].map({0.0: "0", 1.0: "1"})
        for name, rows in frame.groupby(ends.fillna(inside), sort=True):
            yield {
                **columns, "exact": float(rows["exact"].mean()),
                "stated": float(rows["stated"].mean()), "bin": str(name), "episodes": len(rows),
            }  # fmt: skip


MODES = (("fetched", "given"), ("own", "optimal"), ("yoked", "optimal"))
"""Modes that are compared: the cost of tools, and of selecting experiments."""


def mode_gaps(view: View) -> Iterator[Row]:
    """Return what it costs a system to fetch trials, and to choose them."""
    alike: dict[object, dict[str, Run]] = {}
    heads: dict[object, Row] = {}
    for columns, run in each_run(view):
        key = (run.model, *run.setting, run.protocol, run.template)
        alike.setdefault(key, {})[str(columns["mode"])] = run
        heads.setdefault(key, columns)
    for which, runs in alike.items():
        by = {mode: scores(run) for mode, run in runs.items()}
        yield from differences(heads[which], "mode", gaps(by, MODES, clusters(runs.values())))


KINDS = {
    "understood": "right and understood",
    "lucky": "right by luck",
    "premature": "claimed too early",
    "contradicted": "against the evidence",
}
"""Metric → its label in the figure."""


def grounds(view: View) -> Iterator[Row]:
    """Return what answers rest on, where it is known: in the laboratory, or with justifications."""
    for columns, run in each_run(view):
        found = {words: view.estimate(run, metric) for metric, words in KINDS.items()}
        asked = bool(run.parameters.get("justify")) or run.suite in LABS
        if not asked or not found[KINDS["understood"]].n:
            continue
        rest = 1 - sum(one.estimate for one in found.values())
        said = ", ".join(str(columns[one]) for one in ("system", "surface", "mode"))
        shared: Row = {"system": said, "suite": columns["suite"]}
        for kind, one in found.items():
            yield {
                **shared, "kind": kind, "share": one.estimate, **bounds(one), "episodes": one.n,
            }  # fmt: skip
        yield {
            **shared, "kind": "no answer", "share": max(0.0, rest), "episodes": len(run.frame),
        }  # fmt: skip
