"""ReplaySCM's section: the paper's tables and figures with the reader's systems among them."""

from __future__ import annotations

from whybench.report.families import (
    replayscm_kinds,
    replayscm_lab,
    replayscm_ladders,
    replayscm_tables,
)
from whybench.report.families.replayscm_rows import Tried
from whybench.report.filling import named, written
from whybench.report.forms import read
from whybench.report.section import Section
from whybench.report.view import View


def section(view: View) -> Section:
    """Return all that the runs of ReplaySCM show, by subject."""
    parts = named(replayscm_kinds, replayscm_lab, replayscm_ladders, replayscm_tables)
    return written(read(__package__, "replayscm.toml"), parts, Tried.of(view))
