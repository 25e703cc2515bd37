"""Find JSON objects in what a model wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

LONGEST = 200_000
"""Only the last so many characters of a reply are searched."""

MOST_TRIES = 2_000
"""Opening braces tried before giving up: hostile text must not cost quadratic time."""


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, first to last, skipping whatever stands between them.

    >>> list(json_objects('I think {"a": 1} is wrong, so {"a": 2}.'))
    [{'a': 1}, {'a': 2}]
    """
    text = text[-LONGEST:]
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(MOST_TRIES):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def is_bare_object(text: str) -> bool:
    """Tell whether a text is one JSON object and nothing else."""
    try:
        return isinstance(json.loads(text[: LONGEST + 1]), dict)
    except (ValueError, RecursionError):
        return False
