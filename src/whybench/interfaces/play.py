"""A person in a terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from whybench.episode.episode import Episode
from whybench.interfaces.lines import read_action, usage


def play_terminal(
    episode: Episode, skin: str, console: Console, ask: Callable[[str], str] = input
) -> None:
    """Let a person play an episode; an end of input leaves it open."""
    console.print(Panel(Text(episode.brief(skin)), title=episode.instance.id))
    for spec in episode.actions:
        line = " ".join([spec.name, *(usage(argument) for argument in spec.arguments)])
        console.print(Text.assemble("  ", (line, "bold"), f"  {spec.meaning}"))
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
