"""Comparing what a stored certificate claims with what a checker found."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from whybench.causal.canonical import Json


def differences(
    stored: Mapping[str, Json], found: Mapping[str, Json], where: str = ""
) -> list[str]:
    """Return a sentence for each claim that is missing, or is not what was found.

    >>> differences({"bits": 1.0, "fewest": 0}, {"bits": 2.0, "fewest": 0})
    ['bits: 1.0 is stored, 2.0 was found']
    """
    return [
        f"{where}{name}: {stored.get(name)!r} is stored, {value!r} was found"
        for name, value in found.items()
        if name not in stored or not same(stored[name], value)
    ]


def unknown(stored: Mapping[str, Json], known: Mapping[str, Json], where: str = "") -> list[str]:
    """Return a sentence for each claim that a checker knows nothing of."""
    return [
        f"{where}{name}: nothing is known that could prove it"
        for name in sorted({*stored} - {*known})
    ]


def same(stored: Json, found: Json) -> bool:
    """Tell whether two values are the same, numbers up to rounding; a flag is no number."""
    if isinstance(found, bool) or isinstance(stored, bool) or found is None or stored is None:
        return stored is found
    if isinstance(found, int | float) and isinstance(stored, int | float):
        return isclose(stored, found, rel_tol=1e-9, abs_tol=1e-9)
    return bool(stored == found)
