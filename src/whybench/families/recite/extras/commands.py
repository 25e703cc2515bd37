"""The commands `whybench recite …`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from whybench.interfaces.command_line import plain_errors, refused

app = typer.Typer(
    help="ReCITE: prepare papers, correct judge scores, fix the commit of the texts.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command(
    epilog="\b\nExample:\n  whybench recite prepare paper.pdf --annotations edges --out texts"
)
def prepare(
    papers: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="PDF files.")],
    annotations: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="Folder of edge lists NAME.csv.")
    ],
    out: Annotated[
        Path,
        typer.Option(file_okay=False, help="Folder for the results. A used folder is resumed."),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model, as Inspect names it, or STEP=MODEL with a step variables, markdown, "
            "normalise or explicitness. Repeat for more."
        ),
    ] = None,
    details: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="JSON file with title, domains, date and so on."
        ),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum tokens of a reply.")
    ] = None,
) -> None:
    """Turn annotated papers into texts for `recite/standard`."""
    import anyio

    from whybench.families.recite.extras import prepare as interface

    async def run() -> interface.Outcome:
        chosen = dict(_step_and_model(one) for one in model or ())
        return await interface.prepare(
            papers, annotations, out, chosen, details=details, max_tokens=max_tokens
        )

    with plain_errors():  # a file that does not fit
        try:
            found = anyio.run(run)
        except RuntimeError as error:  # a missing extra
            raise refused(error) from error
    typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    if found.failed:
        raise typer.Exit(1)


def _step_and_model(given: str) -> tuple[str, str]:
    step, equals, name = given.partition("=")
    return (step, name) if equals else ("", given)


@app.command(
    epilog="\b\nExample:\n  whybench recite judged run.eval --exam exam.eval\n"
    "  whybench recite judged one.eval two.eval --as-published"
)
def judged(
    logs: Annotated[
        list[Path], typer.Argument(exists=True, dir_okay=False, help="Logs with judge scores.")
    ],
    exam: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Log of the judge's exam. Repeat for more."),
    ] = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published", help="Table 3 of the paper: mean ± SD as judged, without an exam."
        ),
    ] = False,
) -> None:
    """Show judge scores, corrected by the judge's exam."""
    from whybench.families.recite.extras.judge.as_published import table_3
    from whybench.judge.judged_logs import judged_tables

    names = [str(path) for path in logs]
    with plain_errors():
        if as_published and exam:
            raise ValueError("Table 3 uses no exam. Leave out --exam or --as-published.")
        if as_published:
            typer.echo(table_3(names))
            return
        exams = [str(path) for path in exam or ()]
        tables = [table for name in names for table in judged_tables(name, exams)]
    typer.echo("\n\n".join(table.markdown() for table in tables))


@app.command(epilog="\b\nExample:\n  whybench recite revision ReCITE")
def revision(
    name: Annotated[str, typer.Argument(help="Data set: ReCast or ReCITE.")],
    commit: Annotated[str, typer.Option(help="Commit; default: the newest one on the hub.")] = "",
) -> None:
    """Fix the commit of the published texts, in this installation."""
    from whybench.families.recite.world.published import hub

    with plain_errors():
        try:
            place = hub.fix(name, commit)
        except (OSError, ImportError) as error:  # no connection, or a missing extra
            raise refused(error) from error
    typer.echo(f"{place.repository} is read at {place.revision} from now on.")
