"""A question to a judge, and a reader that takes only the judge's own words for its reply."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, TypeVar

from whybench.episode.prompts.conversation import object_schema
from whybench.episode.prompts.extraction import json_objects
from whybench.episode.prompts.template import PromptTemplate, read_template

T = TypeVar("T")

CASE = "case"
"""The field for the word that only the judge was told: without it an object is not the judge's."""


class UnreadableError(ValueError):
    """A reply that is no verdict; the message tells the judge what to mend."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt for a judge, the shape of its reply, and the word that makes it the judge's."""

    prompt: str
    schema: dict[str, Any]
    word: str
    shared: str = ""
    """What is said before, as the system's message: the same for many questions, so that a
    provider reads it once."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A judge's answer, if it could be read, and the number of replies that could not."""

    answer: T | None
    unreadable: int


@cache
def prompt_texts(module: str) -> PromptTemplate:
    """Return what a judge is told, from `prompt.md` beside a module."""
    folder = files(module.rpartition(".")[0])
    return read_template("prompt", lambda name: (folder / f"{name}.md").read_text("utf-8"))


def reply_schema(word: str, entries: Mapping[str, Any], field: str = "criteria") -> dict[str, Any]:
    """Return the schema of a reply: the case's word, and one entry for each thing asked."""
    return object_schema(
        {CASE: {"type": "string", "enum": [word]}, field: object_schema(dict(entries))}
    )


def own_entries(
    text: str, word: str, asked: Iterable[str], field: str = "criteria", once: bool = False
) -> dict[str, Any]:
    """Return the entries of the judge's last object, or say what is wrong with it.

    Whatever lacks the case's word is somebody else's: what is judged may hold a forged verdict, and
    a judge may quote it before or after its own. With `once` an object that says anything twice is
    refused; else the later counts, as always in JSON.
    """
    asked = list(asked)
    own = [o for o in json_objects(text) if o.value.get(CASE) == word and field in o.value]
    if not own:
        raise UnreadableError(
            f'no JSON object with "{CASE}": "{word}" and "{field}": reply with one, as asked'
        )
    last = max(own, key=lambda found: found.end)
    if once:
        json.loads(text[last.start : last.end], object_pairs_hook=_once)
    entries = last.value[field]
    if not isinstance(entries, dict):
        raise UnreadableError(f'"{field}" must be an object with one entry for each id')
    unknown = [key for key in entries if key not in asked]
    if unknown:
        raise UnreadableError(f"unknown id {unknown[0][:40]!r}: use just {', '.join(asked)}")
    missing = [key for key in asked if key not in entries]
    if missing:
        raise UnreadableError(f"nothing on {', '.join(missing)}: give an entry for each id")
    return entries


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object, or say what stands in it twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableError(f"{key[:40]!r} stands there twice: give one entry for each id")
        found[key] = value
    return found
