"""ReCITE's figures by graph: documents on one graph are not independent, so each graph counts once.

`ladder` has every graph at five levels, so fifteen documents on three graphs are three cases.
Tests and bounds of differences and correlations therefore use the means of graphs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import pandas as pd

from whybench.families.recite.extras.analyses.cutoff import around_cutoff
from whybench.families.recite.extras.analyses.shape import shape_correlations
from whybench.families.recite.extras.analyses.sizes import quarters, quartile_gap, reasoning
from whybench.families.recite.extras.report.rows import (
    OTHER_SCORE,
    SCORE,
    STANDARD,
    beside,
    models,
    opposite,
    systems,
)
from whybench.report.entries import Entry
from whybench.report.forms import Row, Shown
from whybench.report.view import View
from whybench.stats.interval import mean_interval

FEWEST = 6
"""With fewer graphs no p-value is given."""

FEWEST_PARTED = 8
"""Fewer graphs are not split into quarters: the outer quarters would hold one graph each."""

RESAMPLES = 2_000
"""Of permutation tests in a report."""

SIZES = {"characters": ("length of the text", "by_quartile_text"),
         "edges": ("edges", "by_quartile_edges"),
         "nodes": ("nodes", "by_quartile_nodes")}  # fmt: skip
"""Covariate → what it is, and the published suite of its quarters."""

QUARTERS = ("smallest quarter", "second", "third", "largest quarter")
FOURTHS = ("shortest", "second", "third", "longest")
METRICS = ("nodes", "edges", "density")


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
    """Return a p-value; NaN for too few graphs."""
    return p if graphs >= FEWEST else math.nan


def _quarters(
    system: str, graphs: pd.DataFrame, covariate: str, names: Sequence[str], by: str
) -> Iterator[Row]:
    """Yield the mean score of each quarter of the graphs, split as in `quartile_gap`."""
    places = pd.Series(quarters(column(graphs, covariate)), dtype=float).reindex(graphs.index)
    for at, name in enumerate(names):
        own = graphs[places == at]
        if len(own):
            found = mean_interval(own[SCORE], bounds=(0, 1))
            yield {
                "system": system, by: name, "metric": SCORE, "value": found.estimate,
                "low": found.low, "high": found.high,
                "documents": int(own["documents"].sum()), "graphs": len(own), "published": False,
            }  # fmt: skip


# Size.


@lru_cache(maxsize=1)
def _parted(view: View) -> list[tuple[Entry, str, pd.DataFrame, list[Row]]]:
    """Return each system's graphs by each size that splits them, with their quarters."""
    found = []
    for entry in systems(view.runs):
        joined = view.joined(entry.run)
        for covariate, (what, _) in SIZES.items():
            graphs = by_graph(joined, SCORE, covariate)
            rows = list(_quarters(entry.system, graphs, covariate, QUARTERS, "quarter"))
            if len(graphs) >= FEWEST_PARTED and rows:
                found.append((entry, covariate, graphs, [{"size": what, **row} for row in rows]))
    return found


def gaps(view: View) -> Shown:
    """Return the largest quarter minus the smallest, beside Table 5 if it applies."""
    rows: list[Row] = []
    for entry, covariate, graphs, parted in _parted(view):
        what = SIZES[covariate][0]
        found = quartile_gap(column(graphs, SCORE), column(graphs, covariate), what, RESAMPLES)
        gap, outer = found.found, (QUARTERS[0], QUARTERS[-1])
        rows.append({
            "system": entry.system, "size": what, "metric": SCORE, "value": gap.estimate,
            "low": gap.low, "high": gap.high,
            "documents": sum(row["documents"] for row in parted if row["quarter"] in outer),
            "graphs": sum(gap.n), "permutation p": tested(gap.permutation_p, sum(gap.n)),
            "published": False,
        })  # fmt: skip
    cells = [
        row
        for what, suite in (SIZES.values() if rows else ())
        for row in beside(view, systems(view.runs), suite, "performance_delta", size=what)
    ]
    grey = f"{OTHER_SCORE} Table 5 prints two decimals and does not name its score."
    return Shown(pd.DataFrame([*rows, *cells]), {"grey": grey if cells else ""})


def quarter_means(view: View, size: str = "") -> list[Row]:
    """Return the mean of every quarter, or of those by one size alone."""
    return [row for *_, rows in _parted(view) for row in rows if size in ("", row["size"])]


def correlations(view: View) -> Shown:
    """Correlate covariates of graphs with the score, over graphs; add Table 13 if it applies."""
    rows: list[Row] = []
    drawn = systems(view.runs)
    for entry in drawn:
        graphs = by_graph(view.joined(entry.run), SCORE, *METRICS)
        if len(graphs) < 3:
            continue
        shapes = {
            str(graph): {metric: float(row[metric]) for metric in METRICS}
            for graph, row in graphs.iterrows()
        }
        rows += [
            {
                "system": entry.system, "covariate": found.metric,
                "documents": int(graphs["documents"].sum()), "graphs": found.pearson.n,
                "Pearson r": found.pearson.value,
                "p (Holm)": tested(found.pearson_holm, found.pearson.n),
                "Spearman ρ": found.spearman.value,
                "p of ρ (Holm)": tested(found.spearman_holm, found.spearman.n),
                "published": False,
            }
            for found in shape_correlations(column(graphs, SCORE), shapes, METRICS)
        ]  # fmt: skip
    note = ""
    if rows and STANDARD in opposite(entry.run for entry in drawn):
        rows += _published_correlations(view)
        note = " The paper's p-values are not corrected."
    return Shown(pd.DataFrame(rows), {"theirs": note})


def _published_correlations(view: View) -> Iterator[Row]:
    """Yield Table 13, which is about the same texts, but about no single system."""
    for metric in METRICS:
        found = view.published.cells("recite", suite="topology_f1_correlation", condition=metric)
        cells = {cell.metric: cell for cell in found}
        yield {
            "system": "ten systems (published, Table 13)", "covariate": metric,
            "documents": next((cell.n for cell in cells.values()), None),
            "Pearson r": cells["pearson_r"].value, "Spearman ρ": cells["spearman_rho"].value,
            "published": True,
        }  # fmt: skip


# Dates and cut-offs.


def _dated(view: View) -> Iterator[tuple[Entry, pd.DataFrame, str | None]]:
    """Yield the runs of models on dated texts, each with its model's cut-off."""
    cutoffs: Mapping[str, str] = view.options.get("cutoffs") or {}
    for entry in models(view):
        joined, model = view.joined(entry.run), entry.run.model
        if "date" in joined and joined["date"].notna().any():
            yield entry, joined, cutoffs.get(model, cutoffs.get(model.rpartition("/")[2]))


def around(view: View) -> Iterator[Row]:
    """Compare graphs before and after a cut-off; a model that saw one document saw its graph."""
    for entry, joined, day in _dated(view):
        if day is None:
            continue
        graphs = by_graph(joined, SCORE)
        dated = joined.dropna(subset="date")
        dates = dated["date"].groupby(dated["cluster"].astype(str)).min().to_dict()
        scores = column(graphs, SCORE)
        found = around_cutoff(scores, dates, str(day), entry.system, RESAMPLES)
        gap = found.found
        yield {
            "system": entry.system, "cut-off": found.date,
            "documents": int(graphs["documents"].sum()), "graphs before": gap.n[1],
            "before": found.before, "graphs after": gap.n[0], "after": found.after,
            "after − before": gap.estimate, "low": gap.low, "high": gap.high,
            "Welch p": tested(gap.welch_p, sum(gap.n)),
            "permutation p": tested(gap.permutation_p, sum(gap.n)),
            "graphs left out (no clear date)": found.undated,
        }  # fmt: skip


def undated(view: View) -> list[Row]:
    """Return one row with the models whose cut-off is not known, if any."""
    found = sorted({entry.run.model for entry, _, day in _dated(view) if day is None})
    return [{"models": ", ".join(found)}] if found else []


# Length of reasoning (Table 19, Figures 9 and 10 of the paper).


def _reasoned(view: View) -> Iterator[tuple[Entry, str, pd.DataFrame]]:
    """Yield the runs of models that recorded tokens, by graph."""
    for entry in models(view):
        frame = entry.run.frame
        columns = ("reasoning_tokens", "output_tokens")
        tokens = next((n for n in columns if n in frame and frame[n].nunique() > 1), None)
        if tokens is not None:
            yield entry, tokens, by_graph(frame, SCORE, tokens)


def by_length(view: View) -> list[Row]:
    """Return the score by quarters of each system's graphs, by tokens spent on a document."""
    return [
        row
        for entry, tokens, graphs in _reasoned(view)
        if len(graphs) >= FEWEST_PARTED
        for row in _quarters(entry.system, graphs, tokens, FOURTHS, "length")
    ]


def lengths(view: View) -> Iterator[Row]:
    """Correlate length of reasoning with the score."""
    for entry, tokens, graphs in _reasoned(view):
        found = reasoning(column(graphs, SCORE), column(graphs, tokens), entry.system)
        yield {
            "system": entry.system, "tokens of": tokens.removesuffix("_tokens"),
            "documents": int(graphs["documents"].sum()), "graphs": found.found.n,
            "median tokens": found.median, "Pearson r": found.found.value,
            "p": tested(found.found.p, found.found.n),
        }  # fmt: skip
