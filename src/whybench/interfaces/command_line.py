"""Helpers for commands: NAME=VALUE options, missing extras, error messages and printing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from whybench.episode.cleaning import visible


@contextmanager
def needing_extra(extra: str) -> Iterator[None]:
    """Wrap imports that need an extra. If it is missing, the command prints how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        need = f"Install the extra `{extra}`: pip install 'whybench[{extra}]'"
        raise refused(f"{error}. {need}", 1) from error


@contextmanager
def plain_errors() -> Iterator[None]:
    """Print an error of the user as a message without a traceback, and exit."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        raise refused(error) from error


def refused(why: object, code: int = 2) -> typer.Exit:
    """Print on stderr why a command ends, and return the exit to raise."""
    typer.echo(visible(str(why)), err=True)
    return typer.Exit(code)


def pairs(given: Sequence[str] | None) -> dict[str, str]:
    """Read NAME=VALUE options as a dictionary, or raise ValueError.

    >>> pairs(["model=a/b", "budget=3"])
    {'model': 'a/b', 'budget': '3'}
    """
    split = [pair.partition("=") for pair in given or ()]
    if wrong := [name for name, equals, _ in split if not equals]:
        raise ValueError(f"{wrong[0]!r} has no value. Write NAME=VALUE.")
    names = [name for name, _, _ in split]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{twice[0]!r} is given twice. Give it once.")
    return {name: value for name, _, value in split}


def read_values(given: Sequence[str] | None) -> dict[str, Any]:
    """Read NAME=VALUE as Inspect reads `-T`: a value is YAML, and commas separate a list.

    >>> read_values(["analysis=false", "budget=3", "theme=shapes", "judge=a/b,c/d"])
    {'analysis': False, 'budget': 3, 'theme': 'shapes', 'judge': ['a/b', 'c/d']}
    """
    found: dict[str, Any] = {}
    for name, text in pairs(given).items():
        value = _yaml(text)
        if isinstance(value, str) and "," in value:
            value = value.split(",")
        found[name.replace("-", "_")] = value
    return found


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{text!r} is not valid YAML. Quote it if it is a string.") from error


def plain(value: object) -> str:
    """Format a value for a table."""
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on the terminal."""
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(*(Column(Text(name), overflow="fold") for name in columns))  # names stay whole
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))  # no markup, no escape sequences
    Console().print(table, highlight=False)


def print_json(value: object) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(value, indent=2, allow_nan=False))


def print_figures(figures: dict[str, Any], as_json: bool) -> None:
    """Print named figures as one JSON document or as a table."""
    if as_json:
        print_json(figures)
    else:
        print_table(("figure", "value"), [[key, plain(value)] for key, value in figures.items()])
