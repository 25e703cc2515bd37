"""Find JSON objects in a model's reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST = 200_000
"""Only this many characters at the end of a reply are searched."""

MOST_READ = 3 * LONGEST // 2
"""The most characters read in all, so that hostile text cannot cost quadratic time."""

TRY = 40
"""The extra cost of every opening brace, besides the characters read from it."""

DEEP = 1_500
"""The cost of an object that is nested too deeply to read."""


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object in a text, with its position."""

    value: dict[str, Any]
    start: int
    end: int


def json_objects(text: str) -> Iterator[Found]:
    """Yield the JSON objects in a text, last to first, nested objects before the outer one.

    >>> [found.value for found in json_objects('I think {"a": 1} is wrong, so {"a": 2}.')]
    [{'a': 2}, {'a': 1}]
    """
    cut = max(0, len(text) - LONGEST)
    text = text[cut:]
    decoder = json.JSONDecoder()
    left, at = MOST_READ, len(text)
    while left > 0 and (at := text.rfind("{", 0, at)) >= 0:
        rest = text[at:]  # an error counts the lines before it, so let there be none
        try:
            value, end = decoder.raw_decode(rest)
        except json.JSONDecodeError as error:
            left -= error.pos + TRY
        except (ValueError, RecursionError):
            left -= DEEP
        else:
            left -= end + TRY
            yield Found(value, cut + at, cut + at + end)


def is_bare_object(text: str) -> bool:
    """Return whether a text is one JSON object and nothing else."""
    try:
        return isinstance(json.loads(text[: LONGEST + 1]), dict)
    except (ValueError, RecursionError):
        return False
