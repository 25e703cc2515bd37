"""Format a frame as table cells: a text for every value, and a key for sorting."""

from __future__ import annotations

import json
import math
import numbers
from dataclasses import dataclass

import numpy as np
import pandas as pd

MISSING = "–"

SHORT = 28
"""Longest text, in characters, that is kept on one line."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One formatted value."""

    text: str
    key: str
    """Sort key; empty for a missing value, which always comes last."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A formatted frame."""

    heads: tuple[str, ...]
    numeric: tuple[bool, ...]
    """Whether a column holds only numbers, and so is right-aligned."""
    compact: tuple[bool, ...]
    """Whether all texts of a column fit on one line."""
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    """Number of rows of the frame, including those not shown."""


def grid(frame: pd.DataFrame, most: int) -> Grid:
    """Return the first `most` rows of a frame as cells."""
    columns = [list(frame.iloc[:, place]) for place in range(frame.shape[1])]
    numeric = [all(_absent(v) or _number(v) for v in column) for column in columns]
    numeric = [
        right and any(not _absent(v) for v in column)
        for right, column in zip(numeric, columns, strict=True)
    ]
    shown = [_column(column[:most], _counts(column)) for column in columns]
    return Grid(
        tuple(str(name) for name in frame.columns),
        tuple(numeric),
        tuple(all(len(cell.text) <= SHORT for cell in column) for column in shown),
        tuple(zip(*shown, strict=True)) if shown else (),
        len(frame),
    )


def words(value: object, *, whole: bool = False, grouped: bool = False) -> str:
    """Return a value as text: few decimals, yes or no, a dash for a missing value.

    Numbers from 10,000 have commas, so years have none. With `grouped`, numbers from 1,000 have
    commas, for a column that also has larger numbers.

    >>> [words(v) for v in (0.5, 12, 8870, 12345, True, None, "x", 0.0001, [1, "a"])]
    ['0.500', '12', '8870', '12,345', 'yes', '–', 'x', '<0.001', '[1, "a"]']
    >>> words(8870, grouped=True), words(1841.625), words(184.1625)
    ('8,870', '1,842', '184.2')
    """
    if _absent(value):
        return MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral) or (whole and isinstance(value, float | np.floating)):
        number = round(float(value)) if isinstance(value, float | np.floating) else int(value)
        return f"{number:,}" if abs(number) >= (1000 if grouped else 10_000) else str(number)
    if isinstance(value, numbers.Real):
        return _decimals(float(value))
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, pd.Timestamp):
        return str(value.isoformat(sep=" "))
    return str(value)


def _decimals(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0 < abs(value) < 0.0005:
        return "<0.001" if value > 0 else ">−0.001"
    places = 3 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:,.{places}f}".replace("-", "−")


def _column(column: list[object], whole: bool) -> list[Cell]:
    large = any(_number(v) and abs(v) >= 10_000 for v in column)  # type: ignore[arg-type]
    return [Cell(words(v, whole=whole, grouped=large), _key(v)) for v in column]


def _key(value: object) -> str:
    if _absent(value):
        return ""
    if isinstance(value, bool | np.bool_ | numbers.Real):
        return repr(float(value))
    return words(value)


def _counts(column: list[object]) -> bool:
    """Tell whether floats are counts: whole numbers that pandas widened because of gaps."""
    here = [v for v in column if not _absent(v)]
    floats = [float(v) for v in here if isinstance(v, numbers.Real) and _number(v)]
    return (
        len(floats) == len(here)
        and all(v.is_integer() for v in floats)
        and any(abs(v) > 1 for v in floats)
    )


def _number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def _absent(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or value is pd.NA or value is pd.NaT
