"""Arguments of actions, which may be values or their text."""

from __future__ import annotations

import json
import re

from whybench.causal.canonical import Record, thaw

_DIGITS = re.compile("[0-9]{1,9}")

LONGEST_TEXT = 20_000
"""Characters of the text of an argument."""


def read_count(value: object, most: int) -> int:
    """Return how many drones an argument asks for, or raise ValueError."""
    count = 0
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        count = int(value)
    elif isinstance(value, int | float) and value is not True:
        count = next((n for n in range(1, most + 1) if n == value), 0)
    if not 1 <= count <= most:
        raise ValueError(f"`count` is a whole number from 1 to {most}")
    return count


def read_object(args: Record, name: str) -> dict[str, object] | None:
    """Return an argument that is an object, or the JSON text of one."""
    value = args.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    else:
        value = thaw(value)
    if not isinstance(value, dict):
        raise ValueError(f"`{name}` is an object, or its JSON text")
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        raise ValueError(f"`{name}` holds characters that are none") from None
    return value
