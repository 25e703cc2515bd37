"""`whybench report` and `whybench reference`. The commands import heavy modules when they run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whybench.cli.options import (
    AsJson,
    Limit,
    Parameters,
    Profile,
    Seed,
    Suites,
    check_names,
)
from whybench.episode.cleaning import visible
from whybench.episode.registry import families, load_suite, split_path
from whybench.interfaces.command_line import (
    needing_extra,
    pairs,
    plain_errors,
    print_json,
    read_values,
    refused,
)
from whybench.interfaces.progress import progress

if TYPE_CHECKING:
    from whybench.episode.family import Suite
    from whybench.report.runs import Logs as ReadLogs

Logs = Annotated[list[str], typer.Argument(metavar="LOGS...", help="Logs, or folders of logs.")]

Trust = Annotated[
    bool,
    typer.Option("--trust-scores", help="Use the stored scores without replaying the actions."),
]


def tell_differences(*logs: ReadLogs) -> None:
    """Print on stderr what the check of the scores found."""
    from whybench.report.replay.check import said

    for line in dict.fromkeys(line for one in logs for line in said(one)):
        typer.echo(visible(line), err=True)


def report(
    logs: Logs,
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the page.")] = Path(
        "report.html"
    ),
    title: Annotated[str, typer.Option(help="Title of the page.")] = "WhyBench report",
    others: Annotated[
        Path | None, typer.Option(help="CSV of other benchmarks: model, then one column each.")
    ] = None,
    cutoff: Annotated[
        list[str] | None, typer.Option(help="Training cutoff as MODEL=YYYY-MM-DD. Repeat for more.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=0, help="Annotated episodes per run.")] = 4,
    certified: Annotated[
        int, typer.Option(min=1, help="Instances to certify per setting, for the ceiling.")
    ] = 4,
    reveal: Annotated[
        bool, typer.Option(help="Include episodes of private splits. The page then shows answers.")
    ] = False,
    trust_scores: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Write a report on logs, with its tables and figures."""
    with needing_extra("report"):
        from whybench.report.build import Wishes, build
        from whybench.report.chapters.outcomes import lost_replies
        from whybench.report.chapters.ranks import read_others
        from whybench.report.page.files import write
        from whybench.report.runs import read_runs
        from whybench.report.view import Limits
    with plain_errors():
        if any("=" not in pair for pair in cutoff or ()):
            raise ValueError("--cutoff needs a model and a date. Write MODEL=YYYY-MM-DD.")
        wishes = Wishes(
            title=title,
            others={} if others is None else read_others(others),
            cutoffs=pairs(cutoff),
            limits=Limits(certified=certified, told=episodes),
            reveal=reveal,
        )
        with progress(3, f"report {output.name}", "steps") as advance:
            found = read_runs(logs, trust=trust_scores)
            advance(1)
            output.parent.mkdir(parents=True, exist_ok=True)
            if not found.runs:
                why = "; ".join(f"{name}: {reason}" for name, reason in found.left_out)
                raise ValueError(
                    "The logs contain no finished run. " + (f"Skipped: {why}." if why else "")
                )
            made = build(found, wishes)
            advance(1)
            written = write(made, output)
            advance(1)
    told = {
        "page": str(written.page),
        "bytes": written.size,
        "tables": len(written.tables),
        "figures": len(written.figures),
        "lost_replies": lost_replies(found.runs),
        "differences": [str(one) for one in found.differences],
    }
    tell_differences(found)
    if as_json:
        print_json(told)
    else:
        typer.echo(
            f"Wrote {told['page']} ({written.size / 1e6:.1f} MB), {told['tables']} table files "
            f"and {told['figures']} figure files."
        )
        for sentence in lost_replies(found.runs):
            typer.echo(visible(sentence))


def reference(
    suites: Suites,
    agents: Annotated[
        str, typer.Option(help="Reference agents, separated by commas.")
    ] = "null,random,exact",
    log_dir: Annotated[Path, typer.Option(help="Folder for the logs.")] = Path("logs"),
    profile: Profile = "certified",
    seed: Seed = "public",
    parameters: Parameters = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Write Inspect logs of reference agents."""
    names = agents.split(",")
    with plain_errors():
        given = read_values(parameters)
        for path in suites:
            check_names(path, names)
        asked = [_asked(path, profile, seed, given) for path in suites]

        from whybench.interfaces.inspectai.runner import reference_logs

        made = []
        with progress(len(asked) * len(names), "reference", "logs") as advance:
            for (suite, arguments), agent in product(asked, names):
                try:
                    made += reference_logs(suite, [agent], log_dir, limit, arguments)
                except RuntimeError as error:
                    raise refused(error, 1) from error
                advance(1)
    logs = [log.removeprefix("file://") for log in made]
    if as_json:
        print_json(logs)
    else:
        typer.echo("\n".join(logs))


def _asked(
    path: str, profile: str, seed: str, given: Mapping[str, Any]
) -> tuple[Suite, dict[str, Any]]:
    """Return a suite, and the given values that are task arguments, not parameters.

    The address of a stored set (`data=`) is a task argument too.
    """
    from whybench.interfaces.stored.plan import is_set

    declared = families().declared(split_path(path)[0])
    parameters = {
        name: value
        for name, value in given.items()
        if name in declared["parameters"] and not (name == "data" and is_set(str(value)))
    }
    rest = {name: value for name, value in given.items() if name not in parameters}
    return load_suite(path, profile=profile, seed=seed, parameters=parameters), rest
