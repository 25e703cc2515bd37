"""The commands `whybench recite …`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from whybench.interfaces.command_line import plain_errors, refused

app = typer.Typer(
    help="ReCITE: prepare papers; correct judge scores.",
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
    model: Annotated[str | None, typer.Option(help="Model, as Inspect names it.")] = None,
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
        return await interface.prepare(
            papers, annotations, out, model, details=details, max_tokens=max_tokens
        )

    with plain_errors():  # a file that does not fit
        try:
            found = anyio.run(run)
        except RuntimeError as error:  # a missing extra
            raise refused(error) from error
    typer.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    if found.failed:
        raise typer.Exit(1)


@app.command(epilog="\b\nExample:\n  whybench recite judged run.eval --exam exam.eval")
def judged(
    log: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Log with judge scores.")
    ],
    exam: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help="Log of the judge's exam. Repeat for more."),
    ] = None,
) -> None:
    """Show judge scores, corrected by the judge's exam."""
    from whybench.judge.judged_logs import judged_tables

    with plain_errors():
        tables = judged_tables(str(log), [str(path) for path in exam or ()])
    typer.echo("\n\n".join(table.markdown() for table in tables))
