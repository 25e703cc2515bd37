"""The section of a report with the paper's tables that its runs continue."""

from __future__ import annotations

from whybench.report.papers.fill import fill
from whybench.report.papers.model import load_paper, papers
from whybench.report.section import Section
from whybench.report.view import View

INTRO = (
    "Tables with the paper's numbers, columns and order. New rows are first, and published rows "
    "are below. `whybench reproduce` plays what a table needs."
)


def paper_section(view: View) -> Section | None:
    """Return the tables to which a view adds rows; None if there are none."""
    name = view.family.name
    if name not in papers() or all(run.profile != "published" for run in view.runs):
        return None
    paper = load_paper(name)
    tables = [item for item in paper.items if item.kind == "table" and item.columns]
    made = [fill(paper, item, view) for item in tables if paper.wanted(item)]
    kept = [one.table() for one in made if one.new]
    return Section(f"{name}-paper", "The paper's tables", INTRO, tuple(kept)) if kept else None
