"""`whybench report` and `whybench reference`. Heavy imports wait inside the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from whybench.interfaces.asking import needing_extra, pairs, read_values

Logs = Annotated[list[str], typer.Argument(metavar="LOGS...", help="logs, or folders of logs")]


def report(
    logs: Logs,
    output: Annotated[Path, typer.Option("--output", "-o", help="the page")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="the page's title")] = "WhyBench report",
    others: Annotated[
        Path | None, typer.Option(help="CSV of other benchmarks' scores: model, then a column each")
    ] = None,
    cutoff: Annotated[
        list[str] | None, typer.Option(help="MODEL=YYYY-MM-DD: end of its training data; repeat")
    ] = None,
    episodes: Annotated[int, typer.Option(min=0, help="episodes to open in the page, per run")] = 4,
    certified: Annotated[
        int, typer.Option(min=1, help="instances to certify per setting, for the ceiling")
    ] = 4,
    reveal: Annotated[
        bool, typer.Option(help="tell episodes of private splits too: the page then has the truth")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print what was written")] = False,
) -> None:
    """Write a page on logs, with its tables (CSV, Parquet) and figures (SVG, PNG)."""
    with needing_extra("report"):
        from whybench.report.build import Wishes, build
        from whybench.report.page.files import write
        from whybench.report.ranks import read_others
        from whybench.report.runs import read_runs
        from whybench.report.view import Limits
    cutoffs = [pair.partition("=") for pair in cutoff or ()]
    if any(not date for _, _, date in cutoffs):
        raise typer.BadParameter("a cut-off is given as MODEL=YYYY-MM-DD")
    try:
        wishes = Wishes(
            title=title,
            others={} if others is None else read_others(others),
            cutoffs={model: date for model, _, date in cutoffs},
            limits=Limits(certified=certified, told=episodes),
            reveal=reveal,
        )
        found = read_runs(logs)
        output.parent.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    if not found.runs:
        raise typer.BadParameter(f"no finished run in these logs: {found.left_out}")
    written = write(build(found, wishes), output)
    told = {
        "page": str(written.page),
        "bytes": written.size,
        "tables": len(written.tables),
        "figures": len(written.figures),
    }
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        typer.echo(
            f"{told['page']}: {written.size / 1e6:.1f} MB; beside it {told['tables']} files of "
            f"tables and {told['figures']} of figures"
        )


def reference(
    suites: Annotated[list[str], typer.Argument(metavar="SUITE...", help="family/suite")],
    agents: Annotated[
        str, typer.Option(help="reference agents, with commas between")
    ] = "null,random,exact",
    log_dir: Annotated[Path, typer.Option(help="where the logs go")] = Path("logs"),
    profile: Annotated[str, typer.Option(help="certified or published")] = "certified",
    salt: Annotated[str, typer.Option(help="another salt gives other instances")] = "public",
    knob: Annotated[list[str] | None, typer.Option(help="name=value; repeat for more")] = None,
    arg: Annotated[
        list[str] | None, typer.Option("-T", help="task argument name=value; repeat for more")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="only the first so many")] = None,
) -> None:
    """Make Inspect logs of reference agents: floors and ceilings for a report."""
    from whybench.episode.family import find_suite
    from whybench.interfaces.inspectai.reference import reference_logs

    for path in suites:
        try:
            suite = find_suite(path, profile=profile, salt=salt, knobs=pairs(knob))
            args = read_values(pairs(arg))
            made = reference_logs(suite, agents.split(","), log_dir, limit, args)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        except RuntimeError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
        for log in made:
            typer.echo(log.removeprefix("file://"))
