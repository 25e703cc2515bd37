"""Read an action from one line of text, for interfaces in which an agent writes."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from whybench.episode.action import Action, ActionSpec, Argument, parse_call
from whybench.episode.cleaning import LONGEST_ACTION, clean_text
from whybench.interfaces.calls_in_text import call_in_text


def read_action(line: str, specs: tuple[ActionSpec, ...]) -> Action:
    """Read a line such as `hold circle`: an action's name, then its arguments in order.

    If the action has one argument, the rest of the line is the argument. An argument in braces
    keeps its quotes and spaces. A line can also be a call in JSON:
    {"name": "hold", "args": {"shape": "circle"}}. Other text is searched for one tool call.
    """
    line, notes = clean_text(line)
    action = _read(line, specs)
    return replace(action, cleaned=notes) if notes else action


def _read(line: str, specs: tuple[ActionSpec, ...]) -> Action:
    if len(line) > LONGEST_ACTION:
        return call_in_text(line, specs) or Action.malformed("the line is too long")
    if (call := _call(line)) is not None:
        written = call_in_text(line, specs) if "arguments" in call else None
        return written or parse_call(call["name"], call.get("args", {}))
    name, _, rest = line.strip().partition(" ")
    spec = next((spec for spec in specs if spec.name == name.casefold()), None)
    if spec is None:
        start = f"start the line with {' or '.join(s.name for s in specs)}"
        return call_in_text(line, specs) or Action.malformed(start)
    if len(spec.arguments) == 1 and rest.strip():
        return parse_call(spec.name, {spec.arguments[0].name: rest.strip()})
    words = _words(rest)
    needed = sum(not argument.optional for argument in spec.arguments)
    if not needed <= len(words) <= len(spec.arguments):
        wanted = " ".join(usage(argument) for argument in spec.arguments)
        return Action.malformed(f"write {spec.name} {wanted}")
    names = (argument.name for argument in spec.arguments)
    return parse_call(spec.name, dict(zip(names, words, strict=False)))


def _call(line: str) -> dict[str, Any] | None:
    """Return the call if the line is a call in JSON, otherwise None."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if "name" in found else None


def _words(rest: str) -> list[str]:
    """Split arguments at spaces. Quotes and braces hold an argument together; braces are kept."""
    words: list[str] = []
    while rest := rest.strip():
        if rest[0] in "{[":
            end = _end_of_json(rest)
            words.append(rest[:end])
            rest = rest[end:]
            continue
        part, braced, after = _before_braces(rest)
        try:
            words += shlex.split(part)
        except ValueError:
            words += part.split()
        rest = braced + after
    return words


def _end_of_json(text: str) -> int:
    """Return the end of the JSON value at the start of a text, or the end of the text."""
    try:
        return json.JSONDecoder().raw_decode(text)[1]
    except (ValueError, RecursionError):
        return len(text)


def _before_braces(rest: str) -> tuple[str, str, str]:
    """Split before the first brace that follows a space and is not in quotes."""
    quote = ""
    for place, character in enumerate(rest):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "{[" and rest[place - 1].isspace():
            return rest[:place], character, rest[place + 1 :]
    return rest, "", ""


def usage(argument: Argument) -> str:
    """Return an argument in the notation of usage lines."""
    return f"[{argument.meaning}]" if argument.optional else f"<{argument.meaning}>"
