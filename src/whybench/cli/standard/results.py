"""`whybench results` and `whybench site`. The commands import heavy modules when they run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from whybench.cli.options import AsJson
from whybench.cli.reports import Logs, Trust, tell_differences
from whybench.interfaces.command_line import needing_extra, plain_errors, print_json


class Form(StrEnum):
    """What result files look like."""

    WHYBENCH = "whybench"
    EVERY_EVAL_EVER = "every-eval-ever"
    HUB = "hub"


def results(
    logs: Logs,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path(
        "results"
    ),
    form: Annotated[
        Form, typer.Option("--format", help="Form of the files. `hub` is not validated.")
    ] = Form.WHYBENCH,
    schema: Annotated[
        Path | None,
        typer.Option(help="Copy of Every Eval Ever's eval.schema.json, to validate files against."),
    ] = None,
    trust_scores: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write a result file for each system in logs."""
    with needing_extra("report"):
        from whybench.report.results.exports import write_every_eval_ever, write_hub
        from whybench.report.results.files import write_results
        from whybench.report.results.make import results as results_of
        from whybench.report.runs import read_runs
    with plain_errors():
        if schema is not None and form is not Form.EVERY_EVAL_EVER:
            raise ValueError(f"--schema needs --format {Form.EVERY_EVAL_EVER}.")
        found = read_runs(logs, trust=trust_scores)
        tell_differences(found)
        made = results_of(found)
        if form is Form.EVERY_EVAL_EVER:
            written = write_every_eval_ever(made, output, schema)
        else:
            written = (write_hub if form is Form.HUB else write_results)(made, output)
    paths = [str(path) for path in written]
    if as_json:
        print_json(paths)
    else:
        typer.echo("\n".join(paths))


def site(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of result files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the site.")] = Path(
        "public"
    ),
    checked: Annotated[
        list[str] | None,
        typer.Option(help="File whose figures you compared with its logs. Repeat for more."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a static leaderboard from result files."""
    with needing_extra("report"):
        from whybench.report.results.site import build_site
    with plain_errors():
        page, count = build_site(folder, output, checked or ())
    if as_json:
        print_json({"page": str(page), "results": count})
    else:
        typer.echo(f"Wrote {page} with {count} results.")
