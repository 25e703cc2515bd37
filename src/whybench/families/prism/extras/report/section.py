"""The report's section on Prism."""

from __future__ import annotations

from whybench.families.prism.extras.report import limits, rungs, surfaces
from whybench.report.filling import named, written
from whybench.report.forms import read
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return the parts of the section."""
    return written(read(__package__, "section.toml"), named(surfaces, rungs, limits), view)
