"""The command line: `table` lists the commands, and `lazy` imports the one that is called."""

from __future__ import annotations

from typing import Annotated

import typer

from whybench.cli.lazy import Root

app = typer.Typer(
    cls=Root,
    help="Measure whether a language model or agent finds out why.",
    epilog="Example: whybench show causallink/advanced --index 3",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Find out whether a model finds out why."""
    if version:
        from whybench import __version__

        typer.echo(__version__)
        raise typer.Exit
