"""What commands share: options KEY=VALUE, the extras they need, and how they print."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer


@contextmanager
def needing_extra(extra: str) -> Iterator[None]:
    """Import inside this: without the extra the command says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        need = f"this needs the extra `{extra}`: pip install 'whybench[{extra}]'"
        typer.echo(f"{error}: {need}", err=True)
        raise typer.Exit(1) from error


def pairs(given: Sequence[str] | None) -> dict[str, str]:
    """Return options KEY=VALUE by their keys, or raise ValueError.

    >>> pairs(["model=a/b", "skin=plain"])
    {'model': 'a/b', 'skin': 'plain'}
    """
    split = [pair.partition("=") for pair in given or ()]
    if any(not equals for _, equals, _ in split):
        raise ValueError("give KEY=VALUE, such as model=NAME")
    if len({key for key, _, _ in split}) < len(split):
        raise ValueError("a key is given twice")
    return {key: value for key, _, value in split}


def read_values(given: dict[str, str]) -> dict[str, Any]:
    """Read values as Inspect reads task arguments: numbers and truth values, else texts.

    >>> read_values({"analysis": "false", "budget": "3", "skin": "plain"})
    {'analysis': False, 'budget': 3, 'skin': 'plain'}
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def plain(value: object) -> str:
    """Return a figure as a table shows it."""
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    Console().print(table, highlight=False)


def print_json(value: object) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))
