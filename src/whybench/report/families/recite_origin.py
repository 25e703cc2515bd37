"""ReCITE by field of knowledge, and by date against a model's cut-off."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from whybench.families.recite.analyses.cutoff import around_cutoff
from whybench.families.recite.traits import SEPARATOR
from whybench.report import charts
from whybench.report.families.recite_graphs import ONCE, RESAMPLES, by_graph, column, tested
from whybench.report.families.recite_rows import (
    SCORE,
    Row,
    estimated,
    framed,
    in_words,
    missing,
    series,
    systems,
)
from whybench.report.section import Figure, Part, Remark, Section, Table
from whybench.report.view import View


def domain_section(view: View) -> Section:
    """Show the score by field; a document of several fields counts in each."""
    rows: list[Row | None] = []
    for one in systems(view.runs):
        named = view.joined(one[1]).get("domain", pd.Series(dtype=str)).dropna()
        fields = named.map(lambda text: frozenset(str(text).split(SEPARATOR)))
        for field in sorted({field for own in fields for field in own}):
            where = fields.map(lambda own, field=field: field in own)
            rows.append(
                estimated(
                    view,
                    one,
                    SCORE,
                    where.reindex(one[1].frame.index, fill_value=False),
                    field=field,
                )
            )
    frame = framed(rows)
    if not len(frame):
        return Section("recite-domain", "Fields", parts=(missing("scores by field", ""),))
    chart = charts.dots(frame, x="value", y="field", low="low", high="high", x_title=SCORE)
    figure = Figure(
        "recite-fields", "By field of knowledge", f"{SCORE} by field. {in_words(frame, 'field')}",
        chart, frame, "Made documents have one field, published texts may have several.",
    )  # fmt: skip
    return Section("recite-domain", "Fields", parts=(figure,))


def date_section(view: View) -> Section:
    """Show scores of published texts from before and after a model's cut-off."""
    cutoffs: Mapping[str, str] = view.options.get("cutoffs") or {}
    years: list[Row | None] = []
    rows: list[Row] = []
    undated: list[str] = []
    for one in series(run for run in view.runs if not run.reference):
        joined = view.joined(one[1])
        if "date" not in joined or joined["date"].dropna().empty:
            continue
        year = joined["date"].str[:4]
        years += [
            estimated(view, one, SCORE, year == name, year=name)
            for name in sorted(year.dropna().unique())
        ]
        day = _cutoff(one[1].model, cutoffs)
        if day is None:
            undated.append(one[1].model)
            continue
        rows.append(_around(one[0], joined, str(day)))
    parts: list[Part] = []
    if rows:
        note = (
            "A model that remembers a document scores higher before its cut-off. With few "
            "documents on one side a difference shows little either way: read its bounds. "
            f"{ONCE} A graph told by several documents has the date of the first."
        )
        parts.append(
            Table("recite-cutoff", "Before and after the cut-off", pd.DataFrame(rows), note)
        )
    frame = framed(years)
    if len(frame):
        chart = charts.lines(
            frame, x="year", y="value", low="low", high="high", y_title=SCORE,
            x_title="year of publication", x_sort=sorted(frame["year"].unique()),
        )  # fmt: skip
        alt = f"{SCORE} by year of publication. {in_words(frame, 'year')}"
        parts.append(Figure("recite-years", "By year of publication", alt, chart, frame))
    else:
        parts.append(
            missing(
                "scores by date of publication",
                "-T profile=published -T data=hub",
                "made documents have no date",
            )
        )
    if undated:
        told = ", ".join(sorted(set(undated)))
        parts.append(Remark(f"No cut-off was given for {told}: use `--cutoff MODEL=DATE`."))
    return Section("recite-date", "Date of publication", parts=tuple(parts))


def _around(system: str, joined: pd.DataFrame, day: str) -> Row:
    """Compare graphs from before and after a day; who saw one document has seen its graph."""
    graphs = by_graph(joined, SCORE)
    dated = joined.dropna(subset="date")
    dates = dated["date"].groupby(dated["cluster"].astype(str)).min().to_dict()
    found = around_cutoff(column(graphs, SCORE), dates, day, system, RESAMPLES)
    gap = found.found
    return {
        "system": system, "cut-off": found.date, "documents": int(graphs["documents"].sum()),
        "graphs before": gap.n[1], "before": found.before, "graphs after": gap.n[0],
        "after": found.after, "after − before": gap.estimate, "low": gap.low, "high": gap.high,
        "Welch p": tested(gap.welch_p, sum(gap.n)),
        "permutation p": tested(gap.permutation_p, sum(gap.n)),
        "graphs left out (no clear date)": found.undated,
    }  # fmt: skip


def _cutoff(model: str, cutoffs: Mapping[str, str]) -> str | None:
    """Return a model's cut-off, under its whole name or without its provider."""
    return cutoffs.get(model, cutoffs.get(model.rpartition("/")[2]))
