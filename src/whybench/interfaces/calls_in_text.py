"""Read a tool call that a model wrote as text, in a code block, in tags or bare."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whybench.causal.canonical import Json
from whybench.episode.action import IN_TEXT, MALFORMED, Action, ActionSpec, parse_call
from whybench.episode.cleaning import clean_text
from whybench.episode.prompts.extraction import LONGEST, Found, json_objects


def read_text(text: str, specs: tuple[ActionSpec, ...]) -> Action:
    """Return the action of a reply without a tool call: its one call in text, else malformed."""
    text, notes = clean_text(text)
    asked = f"call {' or '.join(spec.name for spec in specs)}"
    action = call_in_text(text, specs) or Action.malformed(asked)
    return replace(action, cleaned=notes) if notes else action


def call_in_text(text: str, specs: tuple[ActionSpec, ...]) -> Action | None:
    """Return the call in a text, marked `in_text`; None unless there is exactly one known call.

    A call is a JSON object with `name` or `tool`, and `arguments` or `args`. What surrounds it does
    not matter. An object inside the arguments of a call is not another call.
    """
    calls: list[tuple[Found, str, Mapping[str, Json]]] = []
    for found in json_objects(text):  # last to first, so that an outer object comes later
        if (call := _call(found.value)) is not None:
            while calls and calls[-1][0].end <= found.end:
                calls.pop()
            calls.append((found, *call))
    if len(calls) != 1 or calls[0][1] not in {spec.name for spec in specs}:
        return None
    action = parse_call(*calls[0][1:])
    return None if action.name == MALFORMED else replace(action, form=IN_TEXT)


_TAG = re.compile(
    r"<\|?(?:tool|function)_?calls?\b|\[TOOL_CALLS\]|<function=|<\|python_tag\|>", re.I
)
"""Marks that chat templates put around tool calls."""


def looks_like_a_call(text: str, specs: tuple[ActionSpec, ...]) -> bool:
    """Return whether a text seems to hold tool calls, readable or not.

    A call is a mark of a chat template, or the name of an action as a JSON value or before an open
    bracket with arguments, as in a program.

    >>> specs = (ActionSpec("hold", ""),)
    >>> [looks_like_a_call(text, specs) for text in ("hold(shape='a')", "I hold (it) now.")]
    [True, False]
    """
    text = text[-LONGEST:]
    if _TAG.search(text) or any(_call(found.value) for found in json_objects(text)):
        return True
    names = "|".join(re.escape(spec.name) for spec in specs)
    quoted = rf"""["'](?:name|tool|function|action|tool_name)["']\s*:\s*["'](?:{names})["']"""
    called = rf"""\b(?:{names})\((?:\)|\s*["'{{\[\d-]|\s*\w{{2,64}}\s*[=:),])"""
    return re.search(f"{quoted}|{called}", text) is not None


def _call(value: Mapping[str, Any]) -> tuple[str, Mapping[str, Json]] | None:
    """Return name and arguments if an object has the form of a call, otherwise None."""
    names = [value[key] for key in ("name", "tool") if key in value]
    given = [value[key] for key in ("arguments", "args") if key in value]
    if len(names) != 1 or len(given) != 1:
        return None
    [name], [args] = names, given
    if isinstance(args, str):  # as the interfaces of some models write it
        try:
            args = json.loads(args)
        except (ValueError, RecursionError):
            return None
    return (name, args) if isinstance(name, str) and isinstance(args, Mapping) else None
