"""Write a filled table as Markdown, CSV or JSON, and a paper's list of tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from whybench.report.papers.costs import cost
from whybench.report.papers.fill import Filled
from whybench.report.papers.model import Item, Paper
from whybench.report.section import Figure, Table

FORMATS = ("markdown", "csv", "json")


def formatted(made: Filled, form: str, settings: str = "") -> str:
    """Return a table in a format. `settings` says how the new rows were sampled."""
    if form == "csv":
        return _csv(made.columns, made.rows)
    if form == "json":
        told = {"number": made.item.number, "kind": made.item.kind, "title": made.item.title}
        more = {"columns": made.columns, "rows": made.rows, "new": made.new, "notes": made.notes}
        return json.dumps(told | more, ensure_ascii=False, indent=1)
    return _markdown(made, settings)


def _markdown(made: Filled, settings: str) -> str:
    blocks = [f"**{made.item.label}** {made.item.title}"]
    if made.rows:
        rows = [[_cell(row.get(name, "")) for name in made.columns] for row in made.rows]
        bold = [[f"**{row[0]}**", *row[1:]] for row in rows[: made.new]]
        blocks.append(lined(made.columns, [*bold, *rows[made.new :]]))
    for part in made.parts:
        if isinstance(part, Table | Figure):
            names = [str(name) for name in part.frame.columns]
            cells = [[_cell(_short(v)) for v in row] for row in part.frame.itertuples(index=False)]
            blocks += [f"{part.title}", lined(names, cells)]
    notes = [*made.notes, *([settings] if settings else [])]
    return "\n\n".join([*blocks, *(f"- {note}" for note in notes)])


def lined(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table."""
    lines = [list(columns), ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _short(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def listed(paper: Paper) -> list[dict[str, Any]]:
    """Return every table and figure of a paper with its state and cost."""
    return [_told(paper, item) for item in paper.items]


def _told(paper: Paper, item: Item) -> dict[str, Any]:
    samples, tokens = cost(paper, item)
    return {
        "number": item.number,
        "kind": item.kind,
        "title": item.title,
        "state": item.state,
        "reason": item.reason,
        "samples": samples,
        "tokens": tokens,
        "place": item.place,
        "result": item.result,
        "runs": [run.suite for run in paper.wanted(item)],
    }
