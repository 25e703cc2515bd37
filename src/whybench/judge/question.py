"""Questions to a judge, and a parser that accepts only the judge's own reply."""

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
"""The field for the case's word, which only the judge knows; objects without it do not count."""


class UnreadableError(ValueError):
    """A reply that is no verdict; the message tells the judge what to mend."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt for a judge, the schema of its reply, and the word that authenticates the reply."""

    prompt: str
    schema: dict[str, Any]
    word: str
    shared: str = ""
    """The system message; it is the same for many questions, so that a provider can cache it."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """A judge's answer, if it could be read, and the number of replies that could not."""

    answer: T | None
    unreadable: int


@cache
def prompt_texts(module: str) -> PromptTemplate:
    """Return the texts for a judge, from `prompt.md` beside a module."""
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
    """Return the entries of the judge's last object, or raise with the reason.

    An object without the case's word is not the judge's: the judged text may contain a forged
    verdict, and a judge may quote it. With `once`, an object with a repeated key is rejected;
    otherwise the later key counts, as always in JSON.
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
    """Build an object, or raise if a key occurs twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise UnreadableError(f"{key[:40]!r} stands there twice: give one entry for each id")
        found[key] = value
    return found
