"""Results that print as rows of a Markdown table, and how their numbers are written."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

UNDEFINED = "–"
"""What is shown for a number that cannot be had."""


class Row:
    """A result with a name for each of its cells."""

    __slots__ = ()
    HEAD: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """Return what the row shows, one text for each of `HEAD`."""

    def __str__(self) -> str:
        return line(self.cells())


def table(rows: Iterable[Row]) -> str:
    """Put results of one kind together as a Markdown table; no rows, no table."""
    listed = list(rows)
    if not listed:
        return ""
    if len({row.HEAD for row in listed}) > 1:
        raise ValueError("Rows of different kinds do not make a table. Give one kind at a time.")
    head = listed[0].HEAD
    return "\n".join([line(head), line("---" for _ in head), *map(str, listed)])


def line(cells: Iterable[str]) -> str:
    """Write one line of a Markdown table.

    >>> print(line(["a", "b"]))
    | a | b |
    """
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def number(value: float, digits: int = 3, sign: bool = False) -> str:
    """Write a number with so many decimals.

    >>> number(0.12345), number(0.5, 1, sign=True), number(math.nan), number(-0.0001, 2)
    ('0.123', '+0.5', '–', '0.00')
    """
    if math.isnan(value):
        return UNDEFINED
    return f"{value:{'+' if sign else ''}z.{digits}f}"


def p_value(p: float) -> str:
    """Write a p-value, a very small one as its power of ten.

    >>> p_value(0.0421), p_value(3e-31), p_value(0.0), p_value(math.nan)
    ('0.042', '3.0e-31', '< 1e-300', '–')
    """
    if math.isnan(p) or p >= 0.001:
        return number(p)
    return f"{p:.1e}" if p >= 1e-300 else "< 1e-300"


def between(low: float, high: float, digits: int = 3, sign: bool = False) -> str:
    """Write an interval.

    >>> between(-0.1, 0.25, 2)
    '-0.10 … 0.25'
    """
    if math.isnan(low) or math.isnan(high):
        return UNDEFINED
    return f"{number(low, digits, sign)} … {number(high, digits, sign)}"
