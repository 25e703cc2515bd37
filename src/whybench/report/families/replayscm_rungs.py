"""ReplaySCM's ladders as rows: a metric from rung to rung, published systems beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from whybench.report.families.replayscm_published import published
from whybench.report.families.replayscm_rows import Entry, chosen, drawn, with_own_evidence
from whybench.report.view import View

_KINDS = {"baseline": "published baseline"}


def rungs(
    view: View, listed: Iterable[Entry], ladder: Mapping[str, str], metric: str
) -> pd.DataFrame:
    """Return one metric along a ladder (pool → name of the rung), published systems included.

    Floors are left out, and published systems where no run stands on the ladder.
    """
    rows: list[dict[str, Any]] = []
    shown = drawn(view, chosen(with_own_evidence(listed), ladder))
    for entry in shown:
        found = view.estimate(entry.run, metric)
        if not math.isnan(found.estimate):
            rows.append(
                {
                    "system": entry.system,
                    "rung": ladder[entry.pool],
                    "pool": entry.pool,
                    "share": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "n": found.n,
                    "published": False,
                }
            )
    if not rows:
        return pd.DataFrame(rows)
    rows += [
        {
            "system": f"{cell.system} ({_KINDS.get(cell.system_kind, 'published')})",
            "rung": rung,
            "pool": pool,
            "share": cell.share,
            "low": math.nan,
            "high": math.nan,
            "n": cell.n,
            "published": True,
        }
        for pool, rung in ladder.items()
        for cell in published(view, pool, metric, shown)
        if cell.share is not None
    ]
    return pd.DataFrame(rows)


def in_words(frame: pd.DataFrame, what: str, most: int = 6) -> str:
    """Return the reader's own rows of a ladder in words, for who cannot see the picture."""
    own = frame[~frame["published"]]
    said = []
    for system, group in own.groupby("system", sort=False):
        steps = ", ".join(
            f"{row.rung} {row.share:.2f} (n {row.n})" for row in group.itertuples(index=False)
        )
        said.append(f"{system}: {steps}")
    more = f"; and {len(said) - most} more systems, in the table" if len(said) > most else ""
    theirs = frame[frame["published"]]
    if not theirs.empty:
        count = theirs["system"].nunique()
        more += f". Published: {theirs['share'].min():.2f} to {theirs['share'].max():.2f}"
        more += f" ({count} system{'s' if count > 1 else ''})"
    return f"{what}. {'; '.join(said[:most])}{more}."
