"""Command groups that import a command's module only when the command is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from whybench.cli.table import COMMANDS, Entry
from whybench.episode.declaration import nearest
from whybench.interfaces.command_line import refused


class Group(TyperGroup):
    """A group that suggests the nearest commands for a misspelt name."""

    def paths(self) -> dict[str, str]:
        """Return the full name of every command, with its last word."""
        return {name: name for name in self.commands}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or print the nearest names and exit."""
        if args[0].startswith("-") or self.get_command(ctx, args[0]) is not None:
            return super().resolve_command(ctx, args)
        names = self.paths()
        short = nearest(args[0], names.values())
        tried = [path for one in short for path, last in names.items() if last == one]
        listed = ", ".join(tried or self.list_commands(ctx))
        raise refused(f"Unknown command {args[0]!r}. Try {listed}.")


class Lazy(Group):
    """A group of commands from a table."""

    def __init__(self, *, entries: Mapping[str, Entry] | None = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._entries = entries or {}

    def entries(self) -> Mapping[str, Entry]:
        """Return all commands of the group by name."""
        return self._entries

    def entry(self, name: str) -> Entry | None:
        """Return the command of this name, or None."""
        return self._entries.get(name)

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the table."""
        return list(self.entries())

    def get_command(self, _ctx: Any, name: str) -> Any:
        """Import and return the command of this name, or return None."""
        entry = self.entry(name)
        return None if entry is None else load(name, entry)

    def paths(self) -> dict[str, str]:
        """Return the commands of the group and of its subgroups."""
        return dict(_paths(self.entries()))

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """List the commands from the table without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries().items()])

    def invoke(self, ctx: Any) -> Any:
        """Call a command. After Ctrl-C, print how to resume it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            entry = self.entry(ctx.invoked_subcommand or "") or Entry("")
            raise refused(f"\nStopped. {entry.stopped}", 130) from error


class Root(Lazy):
    """The commands of the table, and a group for every family that declares commands."""

    def entry(self, name: str) -> Entry | None:
        """Return a command. Families are read only if the name is not in the table."""
        return COMMANDS.get(name) or self.entries().get(name)

    def entries(self) -> Mapping[str, Entry]:
        """Return the commands of the table and the commands that families declare in `extras`."""
        from whybench.episode.registry import families

        places = {
            name: families().declared(name).get("extras", {}).get("commands") for name in families()
        }
        return dict(COMMANDS) | {
            name: Entry(f"Commands of the family {name}.", place)
            for name, place in places.items()
            if place is not None
        }


def load(name: str, entry: Entry) -> Any:
    """Import the command of a table entry: a group, a family's own group, or a function."""
    if entry.members:
        return Lazy(
            name=name, help=entry.help, entries=entry.members, no_args_is_help=True,
            rich_markup_mode=None,
        )  # fmt: skip
    found = EntryPoint(name, entry.place, "").load()
    if isinstance(found, typer.Typer):
        found.info.cls = Group
        return get_command(found)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(name, epilog=f"\b\nExample:\n  {entry.example}")(found)
    return get_command(alone)


def _paths(entries: Mapping[str, Entry], lead: str = "") -> Iterator[tuple[str, str]]:
    """Yield every command as it is written after `whybench`, with its last word."""
    for name, entry in entries.items():
        yield lead + name, name
        yield from _paths(entry.members, f"{lead}{name} ")
