"""Write standings as one table: text, Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence

from whybench.report.standings.model import Cell, Estimate, Standings, System
from whybench.report.standings.words import per_cent, two

DASH = "–"

RULE = (
    "Score 0 is the floor (the best cheap guesser of the audit), 1 the ceiling (the exact "
    "experimenter). Intervals: 95 %, over hidden systems. The overall score is the plain mean of "
    "the families, because each asks the question in its own way. `understood`: share of right "
    "answers that the evidence bears out. `efficiency`: experiments of the exact agent divided by "
    "those of the system, on understood answers. `unusable`: share of episodes that ended because "
    "a reply could not be used."
)


COLUMNS = (
    "system", "family", "score", "low", "high", "raw", "floor", "ceiling", "understood", "right",
    "efficiency", "experiments", "input_tokens", "output_tokens", "cost", "unusable", "episodes",
    "hidden_systems",
)  # fmt: skip
"""Columns of the CSV format."""


def formatted(found: Standings, form: str) -> str:
    """Return the table in a format."""
    return FORMATS[form](found)


def _spanned(found: Estimate) -> str:
    """Return a figure with its interval."""
    if not found.known:
        return DASH
    return f"{two(found.value)} [{two(found.low)}, {two(found.high)}]"


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "not run"
    share = "floor" if cell.is_floor else per_cent(cell.share.value)
    return f"{_spanned(cell.score)} · {share}"


def head(found: Standings) -> list[str]:
    """Return the names of the columns."""
    last = ("understood", "efficiency", "cost", "tokens in", "tokens out", "unusable")
    return ["system", "overall", *found.families, *last]


def row(system: System, families: Sequence[str]) -> list[str]:
    """Return the cells of a system."""
    ran = len(families) - len(system.missing)
    return [
        system.name,
        f"{ran} of {len(families)}" if system.missing else _spanned(system.overall),
        *(_cell(system.cells.get(family)) for family in families),
        per_cent(system.understood.value),
        two(system.mean("efficiency")),
        two(system.total("cost")),
        _many(system.total("input_tokens")),
        _many(system.total("output_tokens")),
        per_cent(system.unusable),
    ]


def notes(found: Standings) -> list[str]:
    """Return what a reader needs to know below the table."""
    first: dict[str, Cell] = {}
    for system in found.systems:
        for family, cell in system.cells.items():
            first.setdefault(family, cell)
    bounds = "; ".join(
        f"{family}: {two(c.floor)} ({c.floor_name}) to {two(c.ceiling)} of {c.metric}"
        for family, c in first.items()
    )
    named = f"Release {found.release}, set {found.set}. " if found.release else ""
    odd = [
        f"{system.name}, {family}: "
        + ", ".join(f"{name} {per_cent(s)}" for name, s in c.outcomes.items() if name != "answered")
        for system in found.systems
        for family, c in system.cells.items()
        if c.unusable >= 0.1
    ]
    told = [named + RULE, f"Floor and ceiling: {bounds}.", *found.remarks]
    return [*told, *(f"Ends without an answer: {one}." for one in odd)]


def _text(found: Standings) -> str:
    """Return a block for each system, because a line per system is too long for a terminal."""
    lines = []
    for system in found.systems:
        cells = dict(zip(head(found), row(system, found.families), strict=True))
        lines.append(f"{cells.pop('system')}   overall {cells.pop('overall')}")
        width = max(len(name) for name in found.families)
        lines += [f"  {name:<{width}}  {cells.pop(name)}" for name in found.families]
        lines += ["  " + ", ".join(f"{name} {value}" for name, value in cells.items()), ""]
    return "\n".join([*lines, *notes(found)])


def _markdown(found: Standings) -> str:
    names = head(found)
    lines = [names, ["---"] * len(names), *(row(one, found.families) for one in found.systems)]
    table = "\n".join("| " + " | ".join(_escaped(c) for c in line) + " |" for line in lines)
    return "\n\n".join([table, *(_escaped(note) for note in notes(found))])


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _latex(found: Standings) -> str:
    names = head(found)
    rows = [names, *(row(one, found.families) for one in found.systems)]
    lines = [" & ".join(_tex(cell) for cell in line) + r" \\" for line in rows]
    rules = [rf"\begin{{tabular}}{{l{'r' * (len(names) - 1)}}}", r"\toprule", lines[0], r"\midrule"]
    end = [r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in notes(found))]
    return "\n".join([*rules, *lines[1:], *end])


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "−": "$-$", "–": "--", "·": r"$\cdot$",
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(mark, mark) for mark in text)


def _csv(found: Standings) -> str:
    """Return a line per system and family, and one for the whole, with bare numbers."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(COLUMNS)
    for system in found.systems:
        write.writerow([system.name, "overall", *_bare(system.overall)])
        for family, c in system.cells.items():
            told = [*_bare(c.score), *map(_figure, (c.raw.value, c.floor, c.ceiling))]
            told += [_figure(c.understood.value), str(c.right)]
            told += map(
                _figure,
                (c.efficiency, c.experiments, c.input_tokens, c.output_tokens, c.cost, c.unusable),
            )
            write.writerow([system.name, family, *told, c.episodes, c.clusters])
    return out.getvalue().rstrip("\n")


def _bare(found: Estimate) -> list[str]:
    return [_figure(value) for value in found]


def _figure(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def _json(found: Standings) -> str:
    return json.dumps(found.to_json() | {"rule": RULE}, indent=1, allow_nan=False)


def _many(value: float) -> str:
    return DASH if math.isnan(value) else f"{value:,.0f}"


FORMATS: dict[str, Callable[[Standings], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
    "json": _json,
}
