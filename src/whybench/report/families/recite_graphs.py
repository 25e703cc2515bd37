"""ReCITE's figures by graph: documents on one graph are alike, so each graph counts once.

A ladder tells every graph at five levels; fifteen documents on three graphs are three cases, not
fifteen. Tests and bounds of differences and correlations therefore rest on the means of graphs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from whybench.families.recite.analyses.sizes import quarters
from whybench.report.families.recite_rows import SCORE, Row
from whybench.stats.interval import mean_interval

FEWEST = 6
"""Fewer graphs than these get no p-value."""

FEWEST_PARTED = 8
"""Fewer graphs than these are not parted into quarters: the outer ones would hold one each."""

RESAMPLES = 2_000
"""Of permutation tests in a report."""

ONCE = (
    "Each graph counts once: epochs are averaged, then the documents on a graph. "
    f"Below {FEWEST} graphs no p-value is given."
)


def by_graph(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return means by graph (`cluster`) over the rows that have all the columns.

    Epochs are averaged first, then documents; the column `documents` counts those.
    """
    if not set(columns) <= set(frame.columns):
        return pd.DataFrame(columns=[*columns, "documents"], dtype=float)
    numbers = frame[list(columns)].apply(pd.to_numeric, errors="coerce").astype(float).dropna()
    rows = frame.loc[numbers.index]
    texts = numbers.groupby([rows["cluster"].astype(str), rows["instance"]]).mean()
    return texts.groupby(level=0).mean().assign(documents=texts.groupby(level=0).size())


def column(frame: pd.DataFrame, name: str) -> dict[str, float]:
    """Return a column of `by_graph` as the analyses take it."""
    return {str(graph): float(value) for graph, value in frame[name].items()}


def tested(p: float, graphs: int) -> float:
    """Return a p-value; nan where it would rest on too few graphs."""
    return p if graphs >= FEWEST else math.nan


def quarter_rows(
    system: str, graphs: pd.DataFrame, trait: str, names: Sequence[str], by: str
) -> list[Row]:
    """Return the mean score of each quarter of the graphs, parted as `quartile_gap` parts them."""
    places = pd.Series(quarters(column(graphs, trait)), dtype=float).reindex(graphs.index)
    rows = []
    for at, name in enumerate(names):
        own = graphs[places == at]
        if len(own):
            found = mean_interval(own[SCORE])
            rows.append({
                "system": system, by: name, "metric": SCORE, "value": found.estimate,
                "low": float(np.clip(found.low, 0, 1)), "high": float(np.clip(found.high, 0, 1)),
                "documents": int(own["documents"].sum()), "graphs": len(own), "published": False,
            })  # fmt: skip
    return rows
