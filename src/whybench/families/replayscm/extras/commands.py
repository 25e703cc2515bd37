"""The commands `whybench replayscm …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whybench.interfaces.command_line import plain_errors

app = typer.Typer(
    help="ReplaySCM: alternatives and counterexamples from your own logs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Logs = Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="Log files.")]


@app.command(
    epilog="\b\nExample:\n  whybench replayscm alternatives logs/*.eval --out tasks\n"
    "  inspect eval whybench/replayscm -T suite=alt_ord -T profile=published -T data=tasks"
)
def alternatives(
    logs: Logs,
    out: Annotated[
        Path | None, typer.Option(file_okay=False, help="Folder for the problems.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Model whose answers are left out. Repeat for more.")
    ] = None,
) -> None:
    """Make Alternative-SCM problems from answers; show Table G.2.

    Answers on `ord_match` and `hid_match` that fit without being the gold SCM become known pairs.
    Logs on `alt_ord` and `alt_hid` give Table G.2, with leave-model-out rows.
    """
    from whybench.families.replayscm.extras.protocol import alternative_tasks, mined

    with plain_errors():
        read = mined.read_logs(map(str, logs))
        found = list(mined.tried(read))
        known = mined.alternatives(found, without or ())
        rows = list(alternative_tasks.relations(read, known))
        count = sum(map(len, known.values()))
        typer.echo(f"{count} alternatives to {len(known)} problems, in {len(found)} attempts.")
        if out is not None:
            made = alternative_tasks.write_tasks(found, out, without or ())
            for suite, (path, pairs, size) in made.items():
                typer.echo(f"{suite}: {size} problems, {pairs} known pairs, {path}")
    if rows:
        typer.echo("\n" + alternative_tasks.markdown(rows))


@app.command(
    epilog="\b\nExample:\n  whybench replayscm counterexamples logs/*.eval --out audited\n"
    "  inspect eval whybench/replayscm -T suite=hid_cex -T profile=published -T data=audited"
)
def counterexamples(
    logs: Logs,
    out: Annotated[Path, typer.Option(file_okay=False, help="Folder for the problems.")],
) -> None:
    """Add worlds that rule out every alternative in the answers.

    Answers on `_match`, `_ext` and `_cex` count. The problems start from the worlds of `_cex`.
    """
    from whybench.families.replayscm.extras.protocol import mined
    from whybench.families.replayscm.extras.protocol.counterexamples import write_audited

    with plain_errors():
        found = list(mined.tried(mined.read_logs(map(str, logs))))
        made = write_audited(found, out)
        if not made:
            raise ValueError("No log here plays ord_match, ord_ext, ord_cex or their hid_ forms.")
    for suite, one in made.items():
        typer.echo(
            f"{suite}: {one.problems} problems, {one.alternatives} alternatives ruled out by "
            f"{one.added} more worlds, {one.path}"
        )
