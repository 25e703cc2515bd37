"""Guessers that take printed figures for arrows: correlations, and regressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from whybench.families.recite.agents import words
from whybench.families.recite.agents.learned import Draw, Training
from whybench.families.recite.agents.words import STOP, Arrow, Read, named_in
from whybench.families.recite.world.world import View

LEVELS = tuple(level / 20 for level in range(1, 17))
"""Sizes of a correlation that are tried as a limit."""
RATIOS = (1.0, 1.6, 2.0, 2.6, 3.3, 5.0)
"""Coefficients over their standard errors that are tried as a limit."""
_TABLE = re.compile(r"^Table (\d+)\.[^\n]*\n\n((?:\|[^\n]*(?:\n|$))+)", re.M)
_NUMBER = re.compile(r"[-−]?\d+\.\d+")
_ABOUT = re.compile(r"^(?:r|correlat\w*|associat\w*|go|together|slope|tend)$")


def _rows(table: str) -> list[list[str]]:
    """Return the cells of a table without its head."""
    lines = table.strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _value(cell: str) -> float | None:
    found = _NUMBER.fullmatch(cell)
    return float(cell.replace("−", "-")) if found else None


@lru_cache(maxsize=2048)
def printed_correlations(view: View) -> Mapping[Arrow, float]:
    """Return the correlations that a document prints, in words or in tables."""
    read = words.read(view)
    found: dict[Arrow, float] = {}
    for sentence in read.sentences:
        names = list(dict.fromkeys(name for _, name in sentence))
        first, last = sentence[0][0], sentence[-1][0]
        while first and read.words[first - 1] != STOP:
            first -= 1
        while last < len(read.words) and read.words[last] != STOP:
            last += 1
        about = any(_ABOUT.match(word) for word in read.words[first:last])
        values = [read.values[at] for at in range(first, last) if at in read.values]
        if about and len(names) > 1 and values and abs(values[0]) < 1:
            found[names[0], names[1]] = abs(values[0])
    for _, table in _TABLE.findall(view.text):
        rows = _rows(table)
        if rows and rows[0][0].startswith("("):
            named = [named_in(row[0], view) for row in rows]
            for row, name in zip(rows, named, strict=True):
                for other, cell in zip(named, row[1:], strict=False):
                    value = _value(cell)
                    if value is not None and name and other and name != other:
                        found[other[0], name[0]] = abs(value)
    return found


@lru_cache(maxsize=2048)
def printed_regressions(view: View) -> Mapping[Arrow, float]:
    """Return regressor, explained quantity → standard errors that the coefficient has."""
    found: dict[Arrow, float] = {}
    for number, table in _TABLE.findall(view.text):
        rows = [row for row in _rows(table) if len(row) == 4 and _value(row[1]) is not None]
        mention = re.compile(rf"\bTable {number}\b")
        effects = [
            name
            for line in view.text.splitlines()
            if mention.search(line) and not line.startswith(f"Table {number}. ")
            for part in re.split(r"(?<=[.)]) (?=[A-Z])", line)
            if mention.search(part)
            for name in named_in(part, view)
        ]
        for cell, coefficient, error, _ in rows if effects else []:
            value, spread = _value(coefficient), _value(error)
            for cause in named_in(cell, view):
                if value is not None and spread and cause != effects[0]:
                    found[cause, effects[0]] = abs(value / spread)
    return found


def correlated(training: Training) -> Draw:
    """Draw an arrow for every large correlation; learn how large, and which way."""

    def drawing(level: float, way: str) -> Draw:
        def draw(view: View, _: Read) -> Iterable[Arrow]:
            for (a, b), value in printed_correlations(view).items():
                if value >= level:
                    yield from {"both": [(a, b), (b, a)], "on": [(a, b)], "back": [(b, a)]}[way]

        return draw

    return training.best([drawing(x, way) for x in LEVELS for way in ("both", "on", "back")])


def regressed(training: Training) -> Draw:
    """Draw an arrow for every coefficient that is significant; learn at which level."""

    def drawing(level: float) -> Draw:
        return lambda view, _: [
            arrow for arrow, ratio in printed_regressions(view).items() if ratio >= level
        ]

    return training.best([drawing(level) for level in RATIOS])
