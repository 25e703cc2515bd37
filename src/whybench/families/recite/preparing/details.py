"""What people tell about papers, checked before anything is asked or written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whybench.families.recite.preparing.shelf import is_writable

TEXTS = ("title", "source", "url", "abstract", "publication_date")
DETAILS = ("id", *TEXTS, "domains")
"""What may be told about a paper; all of it may be left out."""


def read_details(given: Mapping[str, Any] | Path | None) -> Mapping[str, Any]:
    """Return details by the names of papers, from a mapping or a JSON file of one."""
    told: Any = {} if given is None else given
    named = "the details"
    if isinstance(told, Path):
        named = told.name
        try:
            told = json.loads(told.read_text("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{named} is no JSON ({error}): mend it there") from error
    if not isinstance(told, Mapping):
        raise ValueError(
            f"{named} must be an object from names of papers to their details, such as "
            f'{{"NAME": {{"title": "…"}}}}, not {_kind(told)}'
        )
    return told


def details_of(name: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of one paper, each of its type.

    >>> details_of("a", {"a": {"domains": "Medicine"}})
    {'domains': ('Medicine',)}
    """
    given = told.get(name, {})
    place = f"details of {name}"
    if not isinstance(given, Mapping):
        raise ValueError(f'{place}: give an object such as {{"title": "…"}}, not {_kind(given)}')
    if unknown := sorted(str(key) for key in given if key not in DETAILS):
        raise ValueError(f"{place}: no {unknown[0]!r}; try {', '.join(DETAILS)}")
    for key in TEXTS:
        if not isinstance(given.get(key, ""), str):
            raise ValueError(f"{place}: `{key}` must be a text, not {_kind(given[key])}")
    if type(given.get("id", 0)) is not int:
        raise ValueError(f"{place}: `id` must be a whole number, not {_kind(given['id'])}")
    found = dict(given)
    if "domains" in given:
        found["domains"] = _domains(given["domains"], place)
    if not is_writable(found):
        raise ValueError(f"{place}: a text has half a character (a lone surrogate): type it anew")
    return found


def _domains(given: object, place: str) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(
        isinstance(one, str) and one.strip() for one in listed
    ):
        raise ValueError(f'{place}: `domains` must be a list of names, such as ["Medicine"]')
    return tuple(listed)


def _kind(value: object) -> str:
    """Return a value in short, with what it is to JSON."""
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return f"{kinds.get(type(value), type(value).__name__)} ({str(value)[:40]!r})"
