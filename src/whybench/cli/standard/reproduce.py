"""`whybench reproduce`: a table of a paper with a row for a new model."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whybench.cli.options import AsJson
from whybench.cli.standard.run import Connections, ModelArgs, ModelUrl
from whybench.episode.cleaning import visible
from whybench.interfaces.command_line import (
    needing_extra,
    plain_errors,
    print_json,
    print_table,
    read_values,
    refused,
)

if TYPE_CHECKING:
    from whybench.report.papers.model import Item, Paper, Wanted
    from whybench.report.view import View


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="Family of the paper.")],
    number: Annotated[
        str | None, typer.Argument(metavar="N", help="Table or figure: 4, F.7, 'figure 2'.")
    ] = None,
    show_list: Annotated[
        bool, typer.Option("--list", help="List every table and figure, with state and cost.")
    ] = False,
    model: Annotated[
        list[str] | None, typer.Option(help="Model as Inspect names it. Repeat for more.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first instances of each run, for a trial.")
    ] = None,
    log_dir: Annotated[
        Path | None, typer.Option(help="Folder for the logs. Default: runs/PAPER.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="Format: markdown, csv, json.")
    ] = "markdown",
    page: Annotated[
        Path | None, typer.Option("--page", help="Also write a report with this table.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Temperature instead of the paper's.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Longest reply instead of the paper's.")
    ] = None,
    task_args: Annotated[
        list[str] | None,
        typer.Option("-T", metavar="NAME=VALUE", help="Argument of the tasks, such as data=DIR."),
    ] = None,
    model_args: ModelArgs = None,
    model_base_url: ModelUrl = None,
    connections: Connections = 10,
    as_json: AsJson = False,
) -> None:
    """Continue a paper's table with a new model, or list the paper's tables."""
    with needing_extra("report"):
        from whybench.report.papers.fill import fill
        from whybench.report.papers.formats import FORMATS, formatted, listed
        from whybench.report.papers.model import load_paper
    with plain_errors():
        found = load_paper(paper)
        if show_list or number is None:
            _list(listed(found), as_json)
            return
        form = "json" if as_json else form
        if form not in FORMATS:
            raise ValueError(f"Unknown format {form!r}. Use {', '.join(FORMATS)}.")
        item = found.find(number)
        own = {"temperature": temperature, "max_tokens": max_tokens}
        sampling = dict(found.sampling) | {k: v for k, v in own.items() if v is not None}
        folder = log_dir or Path("runs") / paper
        if model and item.state == "none":
            raise ValueError(f"{item.label} cannot be continued. {item.reason}")
        ended = True
        if model:
            options = {
                "limit": limit,
                "max_connections": connections,
                "max_samples": connections,
                "model_args": read_values(model_args),
                "model_base_url": model_base_url,
                **sampling,
            }
            ended = _play(model, found.wanted(item), folder, read_values(task_args), options)
        view = _view(paper, folder, model) if model or folder.is_dir() else None
        made = fill(found, item, view)
        typer.echo(visible(formatted(made, form, _settings(found, sampling, limit))))
        if page is not None:
            _page(found, item, folder, page)
    if not ended:
        raise refused("Some samples failed. The same command plays them again.", 1)


def _list(rows: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(list(rows))
        return
    print_table(
        ("item", "place", "state", "samples", "tokens", "title"),
        [
            [
                f"{row['kind']} {row['number']}",
                row["place"],
                row["state"] if row["result"] else "no result",
                _many(row["samples"]),
                _many(row["tokens"]),
                row["title"],
            ]
            for row in rows
        ],
    )
    for row in rows:
        if row["reason"] and row["state"] != "full":
            typer.echo(f"{row['kind']} {row['number']}: {row['reason']}")


def _many(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _settings(paper: Paper, sampling: Mapping[str, Any], limit: int | None) -> str:
    """Return what was set for the new rows."""
    applied = ", ".join(f"{name} {value}" for name, value in sampling.items()) or "none"
    few = f" Only {limit} instances of each run." if limit else ""
    return f"Sampling settings of the new rows: {applied}. {paper.sampling_note}{few}"


def _play(
    models: Sequence[str],
    wanted: Sequence[Wanted],
    folder: Path,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
) -> bool:
    """Play what is missing, and return whether all samples ended."""
    from whybench.interfaces.inspectai.runner import play, task_of
    from whybench.interfaces.inspectai.tasks import tasks

    todo = {}
    for run in wanted:
        declared = task_of(run.suite)
        name = run.task or declared.name
        named = {} if "suite" in declared.fixed else {"suite": run.suite.partition("/")[2]}
        todo[run.key] = tasks()[name](**named, **dict(run.args) | dict(given))
    with contextlib.redirect_stdout(sys.stderr):  # words of the engine
        ended, logs = play(models, todo, str(folder), display="none", **options)
    if any(log.status == "cancelled" for log in logs):
        raise refused(f"\nStopped. Logs are in {folder}. The same command goes on.", 130)
    return ended


def _view(family: str, folder: Path, models: Sequence[str] | None) -> View | None:
    """Return the runs of a family in a folder; those of some models if they are named."""
    from whybench.report.build import Wishes, viewed
    from whybench.report.runs import Logs, read_runs

    found = read_runs([folder])
    runs = tuple(run for run in found.runs if not models or run.model in models)
    views = viewed(Logs(runs, found.exams), Wishes()) if runs else []
    return next((view for view in views if view.family.name == family), None)


def _page(paper: Paper, item: Item, folder: Path, page: Path) -> None:
    """Write a report on the logs of a folder; its section has the paper's tables."""
    from whybench.report.build import Wishes, build
    from whybench.report.page.files import write
    from whybench.report.runs import read_runs

    made = build(read_runs([folder]), Wishes(title=f"{paper.family}: {item.label}"))
    written = write(made, page)
    typer.echo(f"Wrote {written.page}.", err=True)
