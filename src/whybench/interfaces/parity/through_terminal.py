"""A person who types."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence

from rich.console import Console

from whybench.core.canonical import Json
from whybench.episode.action import ActionSpec, called
from whybench.interfaces.lines import read_action
from whybench.interfaces.parity.cases import Call, Case
from whybench.interfaces.play import play_terminal
from whybench.interfaces.session import Session


def typed(call: Call, specs: tuple[ActionSpec, ...]) -> str:
    """Return the line that asks for a call: as short as a person would type it, else as JSON."""
    name, args = call
    short = " ".join([name, *(str(value) for value in args.values())])
    if "\n" not in short and read_action(short, specs) == called(name, args):
        return short
    return json.dumps({"name": name, "args": args})


class TerminalDoor:
    """`whybench play SUITE INDEX`, without the person."""

    name = "terminal"
    leaves = True

    def play(self, cases: Sequence[Case]) -> Iterator[tuple[Json, Json]]:
        """Type each call; an end of input leaves the episode open."""
        console = Console(file=io.StringIO())
        for case in cases:
            session = Session(case.instance)
            calls = iter(case.calls)

            def ask(_prompt: str, session: Session = session, calls: Iterator[Call] = calls) -> str:
                call = next(calls, None)
                if call is None:
                    raise EOFError
                return typed(call, session.episode.actions)

            play_terminal(session.episode, session.skin, console, ask)
            yield session.trace.to_json(), session.score().to_json()


DOOR = TerminalDoor()
