"""Records, interventions or both: regimes in the plane of accuracy and edge F1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import altair as alt
import pandas as pd

from whybench.families.causalab.params import regime
from whybench.report.charts import sized
from whybench.report.families.causalab_plane import AXES, HEIGHT, crosses, points
from whybench.report.families.causalab_rows import (
    Entry,
    command,
    entries,
    framed,
    own_row,
    published_range,
    published_rows,
    regimes_of,
    unlike,
)
from whybench.report.section import Figure, Part
from whybench.report.view import View

KINDS = ("records only", "interventions only", "both")
DASHES = ([1, 0], [2, 3], [7, 4])
MOST_SAID = 12
"""Points that are put in words."""


def frontiers(view: View) -> list[Part]:
    """Return the regimes of both sizes that the paper has."""
    listed = entries(view)
    return [_frontier(view, listed, k) for k in (4, 6)]


def kind(text: str) -> str:
    """Return what a regime lets an agent have.

    >>> [kind(text) for text in ("3o0i", "0o3i", "3o3i")]
    ['records only', 'interventions only', 'both']
    """
    records, interventions = regime(text)
    return KINDS[2] if records and interventions else KINDS[0] if records else KINDS[1]


def _frontier(view: View, listed: Iterable[Entry], k: int) -> Part:
    rows, like = [], []
    for entry in listed:
        found = [r for r in _regimes(view, entry, k) if not math.isnan(r["accuracy"])]
        rows += found
        like += [entry] if found else []
    if not rows:
        return command(f"The regimes of {k} nodes", f"scaling_{k}")
    rows += published_rows(view, f"scaling_{k}", AXES, like, parts=True)
    held = [row["regime"] for row in rows]
    frame = framed(rows).assign(
        regime=held,
        evidence=[kind(text) for text in held],
        budget=[sum(regime(text)) for text in held],
    )
    seen = {name: place for place, name in enumerate(dict.fromkeys(frame["system"]))}
    frame = frame.sort_values(
        ["system", "evidence", "budget"],
        key=lambda column: column.map(seen) if column.name == "system" else column,
        kind="stable",
    )
    last = frame.groupby(["system", "evidence"])["budget"].transform("max") == frame["budget"]
    drawn = frame.assign(label=frame["regime"].where(last, ""))
    dots, texts = points(drawn)
    texts.mark.dy = -9
    ways = alt.Chart(drawn).mark_line(strokeWidth=1.5, opacity=0.75).encode(
        x="accuracy:Q", y="edge_f1:Q", color=dots.encoding.color, order="budget:Q",
        strokeDash=alt.StrokeDash(
            "evidence:N", title=None, sort=list(KINDS),
            scale=alt.Scale(domain=list(KINDS), range=list(DASHES)),
        ),
    )  # fmt: skip
    own = frame[~frame["published"]]
    said = "; ".join(
        f"{row.system} with {row.regime}: accuracy {row.accuracy:.2f}, edge F1 {row.edge_f1:.2f} "
        f"(n {row.n})"
        for row in own.head(MOST_SAID).itertuples(index=False)
    )
    return Figure(
        f"causalab-frontier-{k}",
        f"Records, interventions or both: {k} nodes",
        f"Regimes in the plane of accuracy and edge F1. {said}.{_reached(frame)}",
        sized([ways, *crosses(drawn), dots, texts], height=HEIGHT),
        frame.drop(columns=["budget"]),
        "3o12i means 3 records and 12 interventions; lines join growing budgets and name the "
        "largest. Thin crosses, where points are few, are 95 % intervals. Hollow grey is "
        f"published, on other instances.{unlike(like)}",
    )


def _reached(frame: pd.DataFrame) -> str:
    """Say how far the published points reach."""
    accuracy, edges = (published_range(frame, axis) for axis in AXES)
    return f" Published: accuracy {accuracy}, edge F1 {edges}." if accuracy and edges else ""


def _regimes(view: View, entry: Entry, k: int) -> Iterator[dict[str, Any]]:
    if entry.suite == f"main_{k}" and entry.regime:
        yield own_row(view, entry, AXES) | {"regime": entry.regime}
    if entry.suite == f"scaling_{k}":
        held = regimes_of(entry.run.frame)
        for text in sorted(set(held) - {""}, key=regime):
            yield own_row(view, entry, AXES, held == text) | {"regime": text}
