"""ReCITE by shape: density and cycles of the gold graph, beside the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from whybench.families.recite.analyses.bins import edge_names
from whybench.families.recite.analyses.shape import DENSITIES
from whybench.report import charts
from whybench.report.families.recite_beside import OTHER_SCORE, beside, not_beside
from whybench.report.families.recite_rows import (
    SCORE,
    Row,
    Series,
    binned_rows,
    estimated,
    framed,
    in_words,
    missing,
    systems,
)
from whybench.report.section import Figure, Part, Section
from whybench.report.view import View


def shape_section(view: View) -> Section:
    """Show the score by density (Table 14) and by cycles (Table 15)."""
    names = ("sparse", "moderate", "dense")

    def density(one: Series) -> list[Row | None]:
        values = view.joined(one[1]).get("density", pd.Series(dtype=float))
        return binned_rows(view, one, values, DENSITIES, names, "density") if len(values) else []

    def cycles(one: Series) -> list[Row | None]:
        held = view.joined(one[1]).get("cyclic", pd.Series(dtype=bool))
        if held.empty:
            return []
        return [
            estimated(view, one, SCORE, held == (name == "cyclic"), cycles=name)
            for name in ("acyclic", "cyclic")
        ]

    cuts = ", ".join(
        f"{name} {cut}" for name, cut in zip(names, edge_names(DENSITIES), strict=True)
    )
    parts: list[Part] = [
        _overlaid(view, density, "density", "by_density_", names, "recite-density", "Density",
                  f"Arrows by places for one: {cuts}."),
        _overlaid(view, cycles, "cycles", "by_cyclicity_", ("acyclic", "cyclic"), "recite-cycles",
                  "Graphs with and without cycles", ""),
    ]  # fmt: skip
    figures = [part for part in parts if isinstance(part, Figure)]
    if figures and not any(figure.frame["published"].any() for figure in figures):
        parts.append(not_beside("Tables 14 and 15"))
    return Section("recite-shape", "Shape of the graph", parts=tuple(parts))


def _overlaid(
    view: View,
    rows_of: Callable[[Series], list[Row | None]],
    by: str,
    suite: str,
    names: Sequence[str],
    id: str,  # noqa: A002 - a part's own word
    title: str,
    note: str,
) -> Part:
    """Draw own estimates by kind of graph, the published ones among them where they belong."""
    drawn = systems(view.runs)
    own = [row for one in drawn for row in rows_of(one)]
    if not any(own):
        return missing(title.lower(), "")
    cells = [
        row for name in names for row in beside(view, drawn, f"{suite}{name}", "f1", **{by: name})
    ]
    frame = framed([*own, *cells])
    chart = charts.lines(
        frame, x=by, y="value", low="low", high="high", x_sort=names, x_title=by,
        y_title=f"{SCORE} (published: judge's F1)" if cells else SCORE,
        published="published", height=340,
    )  # fmt: skip
    told = f"{note} {OTHER_SCORE}".strip() if cells else note
    return Figure(id, title, f"{SCORE} by {by}. {in_words(frame, by)}", chart, frame, told)
