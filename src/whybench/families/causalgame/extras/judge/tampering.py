"""Detect reports that address their judge; found by rule, reported, never scored.

Quoting keeps such text from working. The flag tells readers of a log that it was there. The
detector examines the text as written, and again after normalization of invisible characters,
look-alike letters, full-width forms, spaced letters and base64.

It knows its patterns and little else. Of ten attempts in words for which it was not written, it
found one. A flag is therefore worth reading, but the absence of a flag means nothing.
"""

from __future__ import annotations

from functools import cache

from whybench.families.causalgame.report_checks import Report
from whybench.judge.text_normalization import Signs

LONGEST = 20_000
"""Number of characters of an answer that are examined."""


def tampering(report: Report) -> tuple[str, ...]:
    """Return the signs of tampering in a report; empty if there are none."""
    signs = _signs()
    texts = (text[:LONGEST] for _, text in report.answers)
    return tuple(sorted(set[str]().union(*(signs.found(t, signs.has) for t in texts))))


@cache
def _signs() -> Signs:
    return Signs(__package__ or "", "tampering.json")
