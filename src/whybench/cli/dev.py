"""`whybench dev …`: checks and servers for developers."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from whybench.cli.options import AsJson
from whybench.episode.declaration import known
from whybench.episode.registry import families
from whybench.interfaces.command_line import plain_errors, print_json, print_table, refused
from whybench.interfaces.progress import progress

PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "glossary.md", PACKAGE.parents[1] / "docs" / "glossary.md")
"""The glossary in a wheel and in a checkout."""

TERM = re.compile(r"^### (.+)\n+((?:(?!#).*\n?)*)", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def parity(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INTERFACE]...", help="Interfaces to compare. Default: all that are installed."
        ),
    ] = None,
    instances: Annotated[int, typer.Option(min=1, help="Instances per family.")] = 20,
    family: Annotated[
        list[str] | None, typer.Option(help="Only this family. Repeat for more.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare traces and scores across all interfaces.

    Calls are random, legal and illegal ones.
    """
    from whybench.interfaces.parity.cases import parity_cases
    from whybench.interfaces.parity.check import parity_differences
    from whybench.interfaces.parity.interface import interfaces, registered

    installed = interfaces()
    if left_out := [name for name in registered() if name not in installed]:
        typer.echo(f"Skipped, because not installed: {', '.join(left_out)}.", err=True)
    with plain_errors():
        tried = [installed[known("interface", n, installed)] for n in names or installed]
        played = [known("family", n, families()) for n in family or families()]
    rows = []
    with progress(len(tried) * len(played), "parity", "comparisons") as advance:
        for name in played:
            made = {
                leave: list(parity_cases(families()[name], instances, leave=leave))
                for leave in {interface.leaves for interface in tried}
            }
            for interface in tried:
                found = list(parity_differences(interface, made[interface.leaves]))
                calls = sum(len(case.calls) for case in made[interface.leaves])
                rows.append((name, interface.name, len(made[interface.leaves]), calls, len(found)))
                for line in found[:5]:
                    typer.echo(line, err=True)
                advance(1)
    columns = ("family", "interface", "episodes", "calls", "differences")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, [[str(cell) for cell in row] for row in rows])
    raise typer.Exit(any(row[-1] for row in rows))


def local_model(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 8765,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads for the model.")] = None,
) -> None:
    """Serve a small local model; no API key is needed."""
    from whybench.interfaces import local_model as interface

    try:
        interface.run(port=port, threads=threads or interface.THREADS)
    except RuntimeError as error:
        raise refused(error, 1) from error


def terms() -> dict[str, str]:
    """Return each term of the glossary with its definition as plain text."""
    text = next(place for place in PLACES if place.is_file()).read_text("utf-8")
    return {
        term.strip(): LINK.sub(r"\1", " ".join(body.split())) for term, body in TERM.findall(text)
    }


def glossary(
    word: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="Term to define.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Define a term of WhyBench, or list all terms."""
    found = terms()
    if word:
        with plain_errors():
            term = known("term", " ".join(word).lower().replace("_", " "), found)
        found = {term: found[term]}
    if as_json:
        print_json(found)
    elif word:
        typer.echo(fill(next(iter(found.values())), 80))
    else:
        typer.echo(fill(", ".join(found), 80))
