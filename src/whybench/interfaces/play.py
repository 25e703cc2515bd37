"""A person in a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from whybench.episode.action import Action, ActionSpec
from whybench.episode.episode import Episode


def read_action(line: str, specs: tuple[ActionSpec, ...]) -> Action:
    """Read a line such as `hold circle`: an action's name, then its arguments in order.

    A single argument is all that follows, braces, quotes and spaces included.
    """
    name, _, rest = line.strip().partition(" ")
    spec = next((spec for spec in specs if spec.name == name.casefold()), None)
    if spec is None:
        return Action.malformed(f"start the line with {' or '.join(s.name for s in specs)}")
    if len(spec.arguments) == 1 and rest.strip():
        return Action.of(spec.name, **{spec.arguments[0].name: rest.strip()})
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if len(words) - 1 != len(spec.arguments):
        wanted = " ".join(f"<{argument.name}>" for argument in spec.arguments)
        return Action.malformed(f"write {spec.name} {wanted}")
    names = (argument.name for argument in spec.arguments)
    return Action.of(spec.name, **dict(zip(names, words[1:], strict=True)))


def play_terminal(
    episode: Episode, skin: str, console: Console, ask: Callable[[str], str] = input
) -> None:
    """Let a person play an episode; an end of input leaves it open."""
    console.print(Panel(Text(episode.brief(skin)), title=episode.instance.id))
    for spec in episode.actions:
        usage = " ".join([spec.name, *(f"<{argument.meaning}>" for argument in spec.arguments)])
        console.print(f"  [bold]{usage}[/bold]  {spec.meaning}", highlight=False)
    while not episode.done:
        try:
            line = ask("> ")
        except EOFError:
            return
        observation = episode.step(read_action(line, episode.actions))
        style = "red" if observation.is_error else ""
        console.print(
            episode.describe(observation, skin), style=style, highlight=False, markup=False
        )
