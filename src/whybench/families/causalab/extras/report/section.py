"""The report's section on CausaLab."""

from __future__ import annotations

from whybench.families.causalab.extras.report import commitment, failures, plane, sizes
from whybench.families.causalab.extras.report.rows import every, row_of
from whybench.report.filling import named, written
from whybench.report.forms import Row, read
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return the parts of the section."""
    parts = (commitment, failures, plane, sizes)
    return written(read(__package__, "section.toml"), globals() | named(*parts), view)


def unscored(view: View) -> list[Row]:
    """Return the runs without a scored episode."""
    return [
        {"run": row_of(entry), "count": len(entry.run.frame)}
        for entry in every(view)
        if entry.run.frame["accuracy"].isna().all()
    ]
