"""Suggest the nearest known names for a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(given: str, names: Iterable[str]) -> list[str]:
    """Return at most three names that resemble a given one, nearest first.

    >>> nearest("exakt", ["null", "random", "exact"])
    ['exact']
    """
    from difflib import get_close_matches

    return get_close_matches(given, list(names), 3)


def known(what: str, given: str, names: Iterable[str], of: str = "") -> str:
    """Return a name if it is known; otherwise raise ValueError with the nearest names, or all.

    >>> known("agent", "exakt", ["null", "exact"], "causallink")
    Traceback (most recent call last):
    ValueError: causallink has no agent 'exakt': try exact
    """
    there = list(names)
    if given in there:
        return given
    tried = ", ".join(nearest(given, there) or there) or "none"
    raise ValueError(f"{of} has no {what} {given!r}: try {tried}".removeprefix(" has "))


def in_one_line(error: ValueError) -> str:
    """Return the errors of a parameter check: name and message of each of pydantic's errors."""
    found = getattr(error, "errors", None)
    if not callable(found):
        return str(error)
    return "; ".join(
        f"parameter {'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}"
        for one in found()
    )
