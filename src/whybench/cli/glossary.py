"""`whybench dev glossary`: the terms of `docs/glossary.md`, which the wheel includes."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from whybench.cli.options import AsJson
from whybench.episode.nearest import known
from whybench.interfaces.command_line import plain_errors, print_json

PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "glossary.md", PACKAGE.parents[1] / "docs" / "glossary.md")
"""The glossary in a wheel and in a checkout."""

TERM = re.compile(r"^### (.+)\n+((?:(?!#).*\n?)*)", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


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
