"""What a system's data allowed, and what other data would have: own, optimal, other runs'."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from whybench.report.charts import dots
from whybench.report.families.causalab_rows import Entry, command, entries, told
from whybench.report.places import places
from whybench.report.section import Figure, Part, Table
from whybench.report.view import View

COMPARED = ("accuracy", "edge_f1")


def allowed(view: View, listed: Sequence[Entry]) -> Table:
    """Hold scores against what exact inference gets out of the same data."""
    rows = [
        {
            "system": entry.system,
            "suite": entry.suite,
            "regime": entry.regime or "the suite's",
            "origin": entry.origin,
            "n": view.estimate(entry.run, "accuracy").n,
            "accuracy": told(view.estimate(entry.run, "accuracy")),
            "its data allowed": told(view.estimate(entry.run, "inferable")),
            "edge F1": told(view.estimate(entry.run, "edge_f1")),
            "its data allowed an edge F1 of": told(view.estimate(entry.run, "inferable_edge_f1")),
        }
        for entry in listed
    ]
    return Table(
        "causalab-allowed",
        "What was reached, and what exact inference from the same data reaches",
        pd.DataFrame(rows),
        "Means with 95 % intervals. Accuracy can exceed what the data allowed: by luck, or because "
        "a prediction need only be within the tolerance.",
    )


def evidence(view: View) -> Part:
    """Compare own experiments with those of the exact agent and of other runs."""
    listed = entries(view, evidence=None)
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in listed:
        groups.setdefault((*entry.setting, entry.suite, entry.regime), []).append(entry)
    kept: list[tuple[Entry, set[object]]] = []
    for group in groups.values():
        shared = set.intersection(*(set(places(entry.run.frame)) for entry in group))
        if shared and len({entry.run.evidence for entry in group}) > 1:
            kept += [(entry, shared) for entry in group]
    if not kept:
        what = "The same system on the exact agent's experiments"
        return command(what, "main_4", " -T evidence=optimal")
    rows = []
    for entry, shared in kept:
        for metric in COMPARED:
            found = view.estimate(entry.run, metric, places(entry.run.frame).isin(shared))
            rows.append(
                {
                    "row": f"{entry.row}: {metric}",
                    "evidence": entry.run.evidence,
                    "score": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "n": found.n,
                }
            )
    frame = pd.DataFrame(rows)
    said = "; ".join(
        f"{row.row}, {row.evidence} evidence {row.score:.2f} (n {row.n})"
        for row in frame.itertuples(index=False)
    )
    return Figure(
        "causalab-evidence",
        "Own, optimal and other runs' experiments",
        f"{said}.",
        dots(
            frame, x="score", y="row", color="evidence", low="low", high="high",
            x_title="score", y_sort=list(dict.fromkeys(frame["row"])),
        ),
        frame,
        "What a system gains on optimal evidence, it loses by its own experiments; what is still "
        "missing there is lost in inference. Only instances that were played with each evidence "
        "count: n in the table. Bars are 95 % intervals.",
    )  # fmt: skip
