"""ReplaySCM's section: the paper's tables and figures, with the reader's own systems."""

from __future__ import annotations

from whybench.families.replayscm.extras.report import kinds, lab, ladders, tables
from whybench.families.replayscm.extras.report.rows import Tried
from whybench.report.filling import named, written
from whybench.report.forms import read
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return everything that the runs of ReplaySCM show, by subject."""
    parts = named(kinds, lab, ladders, tables)
    return written(read(__package__, "section.toml"), parts, Tried.of(view))
