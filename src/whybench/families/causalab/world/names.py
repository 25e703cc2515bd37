"""Names of quantities: the pool from which they are drawn, and the accepted spellings."""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from importlib.resources import files

_UNIT = re.compile(r"\([^)]*\)")
_FILLER = re.compile(r"[^a-z0-9]+")


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    text = (files(__package__ or "") / "names.json").read_text("utf-8")
    found: dict[str, dict[str, list[str]]] = json.loads(text)
    return found


@cache
def pool() -> tuple[str, ...]:
    """Return the names of properties."""
    return tuple(_table()["properties"])


@cache
def _spellings() -> dict[str, str]:
    table = _table()
    known = dict.fromkeys(table["frequency"], "frequency")
    for name, others in table["properties"].items():
        known |= dict.fromkeys((name, *others), name)
    return known


@lru_cache(maxsize=1024)
def canonical(name: str) -> str:
    """Return the one spelling of a name, so that pH, ph and "pH value" are the same.

    >>> canonical("Temperature (°C)"), canonical("pH"), canonical("Resonance Frequency (Hz)")
    ('temperature', 'ph', 'frequency')
    """
    bare = _FILLER.sub("", _UNIT.sub("", name[:80]).casefold())
    return _spellings().get(bare, bare)


def is_frequency(name: str) -> bool:
    """Tell whether a name means the frequency."""
    return canonical(name) == "frequency"
