"""The report's section on CausaLab."""

from __future__ import annotations

from whybench.report.families import (
    causalab_commitment,
    causalab_failures,
    causalab_plane,
    causalab_sizes,
)
from whybench.report.families.causalab_rows import every, row_of
from whybench.report.filling import named, written
from whybench.report.forms import Row, read
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return all that is shown of CausaLab."""
    parts = (causalab_commitment, causalab_failures, causalab_plane, causalab_sizes)
    return written(read(__package__, "causalab.toml"), named(*parts) | globals(), view)


def unscored(view: View) -> list[Row]:
    """Return the runs of which no episode was scored."""
    return [
        {"run": row_of(entry), "count": len(entry.run.frame)}
        for entry in every(view)
        if entry.run.frame["accuracy"].isna().all()
    ]
