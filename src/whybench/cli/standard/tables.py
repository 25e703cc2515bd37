"""`whybench table`: one table of systems by families, to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from whybench.cli.options import AsJson
from whybench.cli.reports import Logs, Trust, tell_differences
from whybench.episode.cleaning import visible
from whybench.interfaces.command_line import needing_extra, plain_errors

if TYPE_CHECKING:
    from whybench.report.runs import Logs as ReadLogs

FORMATS = ("text", "markdown", "latex", "csv", "json")


def table(
    logs: Logs,
    form: Annotated[str, typer.Option("--format", help=f"Format: {', '.join(FORMATS)}.")] = "text",
    trust_scores: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Print one table: a row per system, a column per family, and the whole."""
    with needing_extra("report"):
        from whybench.report.runs import read_runs
    with plain_errors():
        found = read_runs(logs, trust=trust_scores)
        tell_differences(found)
        print_standings(found, "json" if as_json else form)


def print_standings(logs: ReadLogs, form: str) -> None:
    """Print the table of systems by families."""
    from whybench.report.standings.build import standings
    from whybench.report.standings.formats import formatted

    if form not in FORMATS:
        raise ValueError(f"Unknown format {form!r}. Use {', '.join(FORMATS)}.")
    typer.echo(visible(formatted(standings(logs), form)))
