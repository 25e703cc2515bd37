"""Shares of a whole, drawn alike wherever ReplaySCM's attempts are sorted into kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from whybench.report import charts
from whybench.report.families.replayscm_rows import FAMILY
from whybench.report.section import Figure

MOST_ROWS = 36
"""Rows of a picture; models come first."""


def stacked(
    counts: Mapping[tuple[str, str], Counter[str]],
    kinds: Mapping[str, str],
    key: str,
    title: str,
    note: str,
) -> Figure | None:
    """Draw what became of attempts, as shares of a whole; a row is what was tried, and who did."""
    rows = [
        {
            "row": f"{where} (n {total}) · {who}",
            "kind": kind,
            "share": tally[kind] / total,
            "count": tally[kind],
        }
        for (where, who), tally in counts.items()
        if (total := sum(tally.values()))
        for kind in kinds
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    names = list(dict.fromkeys(frame["row"]))
    chart = charts.bars(
        frame,
        x="share",
        y="row",
        color="kind",
        order=list(kinds),
        palette=list(kinds.values()),
        x_title="share of attempts",
        y_sort=names,
    )
    said = []
    for name in names[:8]:
        counted = [r for r in rows if r["row"] == name and r["count"]]
        said.append(f"{name}: " + ", ".join(f"{r['kind']} {r['count']}" for r in counted))
    more = f"; and {len(names) - 8} more rows, in the table" if len(names) > 8 else ""
    return Figure(
        f"{FAMILY}-{key}", title, f"{title}. {'; '.join(said)}{more}.", chart, frame, note
    )
