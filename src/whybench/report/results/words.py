"""Write what the front page of a report does not show: prices, counts, ranges, sort keys."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whybench.report.standings.model import Estimate
from whybench.report.standings.words import between, per_cent, two


def figure(value: float, decimals: int = 0) -> str:
    """Return a figure that is not negative; a dash if it is not known.

    >>> figure(12345.6), figure(3.25, 1), figure(math.nan)
    ('12,346', '3.2', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.{decimals}f}"


def money(value: float) -> str:
    """Return a price.

    >>> money(12.345), money(123456.0), money(math.nan)
    ('$12.35', '$123,456', '–')
    """
    return "–" if math.isnan(value) else f"${figure(value, 2 if value < 1000 else 0)}"


def interval(found: Estimate) -> str:
    """Return an interval; a dash if it is not known."""
    return "–" if math.isnan(found.low) else between(found)


def span(values: Sequence[float]) -> str:
    """Return the range of some numbers, or the one number.

    >>> span([0.5, 0.5]), span([0.25, 0.5]), span([math.nan])
    ('0.50', '0.25–0.50', '–')
    """
    known = [value for value in values if not math.isnan(value)] or [math.nan]
    return "–".join(dict.fromkeys([two(min(known)), two(max(known))]))


def key(value: float) -> str:
    """Return the sort key of a number; empty if it is not known, so that it comes last."""
    return "" if math.isnan(value) else repr(float(value))


FILTERS = {
    "figure": figure,
    "interval": interval,
    "key": key,
    "money": money,
    "per_cent": per_cent,
    "two": two,
}
