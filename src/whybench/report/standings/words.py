"""Write numbers and lists for tables and pages: two decimals, a true minus, `86 %`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whybench.report.standings.model import Estimate

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def two(value: float, sign: bool = False) -> str:
    """Return a score.

    >>> two(0.744), two(-0.02), two(-0.001), two(0.1, sign=True), two(math.nan)
    ('0.74', '−0.02', '0.00', '+0.10', '–')
    """
    if math.isnan(value):
        return "–"
    text = f"{round(value, 2) + 0.0:.2f}".replace("-", "−")
    return f"+{text}" if sign and float(f"{value:.2f}") > 0 else text


def per_cent(share: float, decimals: int = 0) -> str:
    """Return a share; a space keeps number and sign apart.

    >>> per_cent(0.856), per_cent(0.0031, 1), per_cent(math.nan)
    ('86 %', '0.3 %', '–')
    """
    return "–" if math.isnan(share) else f"{100 * share:.{decimals}f} %"


def between(found: Estimate) -> str:
    """Return an interval.

    >>> between(Estimate(0.07, 0.03, 0.11))
    '0.03 to 0.11'
    """
    return f"{two(found.low)} to {two(found.high)}"


def number(count: int) -> str:
    """Return a small number as a word.

    >>> number(6), number(12)
    ('six', '12')
    """
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else str(count)


def every(count: int) -> str:
    """Return all families.

    >>> every(1), every(2), every(6)
    ('the one family', 'both families', 'all six families')
    """
    if count <= 2:
        return "both families" if count == 2 else "the one family"
    return f"all {number(count)} families"


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
