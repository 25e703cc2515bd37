"""Play parity cases through the terminal, as a person who types."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterator, Sequence

from rich.console import Console

from whybench.episode.action import ActionSpec
from whybench.interfaces.parity.cases import Call, ParityCase
from whybench.interfaces.parity.interface import Played
from whybench.interfaces.play import play_terminal
from whybench.interfaces.session import Session


def typed(call: Call, specs: tuple[ActionSpec, ...]) -> str:
    """Return a call as a line of text. If words cannot express it, the line is JSON.

    A call with a missing argument needs JSON, because the terminal answers too few words with a
    usage line.
    """
    name, args = call
    spec = next((spec for spec in specs if spec.name == name), None)
    arguments = spec.arguments if spec else ()
    names = [argument.name for argument in arguments]
    whole = len(args) >= sum(not argument.optional for argument in arguments)
    plain = all(isinstance(v, str) and v == v.strip() and v.isprintable() for v in args.values())
    if (
        spec is None
        or not whole
        or list(args) != names[: len(args)]
        or not plain
        or not all(args.values())
    ):
        return json.dumps({"name": name, "args": args})
    if len(names) == 1:
        return " ".join([name, *args.values()])
    return " ".join([name, *map(_word, args.values())])


def _word(value: str) -> str:
    """Return one of several arguments. JSON is unchanged; other text is quoted if necessary."""
    try:
        return value if value[0] in "{[" and json.loads(value) is not None else shlex.quote(value)
    except ValueError:
        return shlex.quote(value)


class TerminalInterface:
    """`whybench play SUITE INDEX`, without the person."""

    name = "terminal"
    leaves = True

    def play(self, cases: Sequence[ParityCase]) -> Iterator[Played]:
        """Type each call. The end of input leaves the episode open."""
        console = Console(file=io.StringIO())
        for case in cases:
            session = Session(case.instance)
            calls = iter(case.calls)

            def ask(_prompt: str, session: Session = session, calls: Iterator[Call] = calls) -> str:
                call = next(calls, None)
                if call is None:
                    raise EOFError
                return typed(call, session.episode.actions)

            play_terminal(session.episode, session.template, console, ask)
            yield session.trace.to_json(), session.score().to_json(), None


INTERFACE = TerminalInterface()
