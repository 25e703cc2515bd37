"""Let a person play an episode in a terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from whybench.episode.episode import Episode
from whybench.interfaces.lines import read_action, usage

HELP, QUIT = "help", "quit"
"""Commands of the terminal. If the episode has actions of these names, the actions win."""


def play_terminal(
    episode: Episode, template: str, console: Console, ask: Callable[[str], str] = input
) -> None:
    """Let a person play an episode. `quit` and the end of input leave it unfinished."""
    console.print(Panel(Text(episode.instructions(template)), title=episode.instance.id))
    _print_help(episode, console)
    own = {HELP, QUIT} - {spec.name for spec in episode.actions}
    while not episode.done:
        try:
            line = ask("> ")
        except EOFError:
            return
        word = line.strip().casefold()
        if word in own:
            if word == QUIT:
                return
            _print_help(episode, console)
            continue
        observation = episode.step(read_action(line, episode.actions))
        style = "red" if observation.is_error else ""
        console.print(
            episode.describe(observation, template), style=style, highlight=False, markup=False
        )


def _print_help(episode: Episode, console: Console) -> None:
    for spec in episode.actions:
        line = " ".join([spec.name, *(usage(argument) for argument in spec.arguments)])
        console.print(Text.assemble("  ", (line, "bold"), f"  {spec.meaning}"))
    console.print(Text(f"  {HELP} shows this list again, {QUIT} leaves the episode unfinished"))
