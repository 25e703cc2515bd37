"""`whybench parity`: whether all doors lead to the same room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

Doors = Annotated[list[str] | None, typer.Argument(help="Doors to try; all that are installed.")]
Instances = Annotated[int, typer.Option(min=1, help="Instances of each family.")]
Of = Annotated[list[str] | None, typer.Option("--family", help="Only these families.")]


def parity(
    names: Doors = None,
    instances: Instances = 20,
    family: Of = None,
) -> None:
    """Play random legal and illegal calls through every door; traces and scores must be equal."""
    from whybench.episode.family import families
    from whybench.interfaces.asking import print_table
    from whybench.interfaces.parity.cases import cases
    from whybench.interfaces.parity.check import differences
    from whybench.interfaces.parity.doors import doors, registered

    installed = doors()
    if left_out := [name for name in registered() if name not in installed]:
        typer.echo(f"not installed, left out: {', '.join(left_out)}", err=True)
    _known("door", names, installed)
    _known("family", family, families())
    rows, failed = [], False
    for name in family or families():
        made = {
            leave: list(cases(families()[name], instances, leave=leave))
            for leave in {installed[n].leaves for n in names or installed}
        }
        for door in (installed[n] for n in names or installed):
            played = made[door.leaves]
            found = list(differences(door, played))
            failed |= bool(found)
            calls = sum(len(case.calls) for case in played)
            rows.append([name, door.name, str(len(played)), str(calls), str(len(found))])
            for line in found[:5]:
                typer.echo(line, err=True)
    print_table(["family", "door", "episodes", "calls", "differences"], rows)
    raise typer.Exit(failed)


def _known(what: str, given: list[str] | None, known: Iterable[str]) -> None:
    """Refuse names that nothing is installed under."""
    there = list(known)
    unknown = [name for name in given or () if name not in there]
    if unknown:
        typer.echo(f"no {what} {unknown[0]!r}: there are {', '.join(there)}", err=True)
        raise typer.Exit(2)
