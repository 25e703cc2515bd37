"""A report that speaks to its judge: found by rule and reported, never scored.

Delimiters keep such text from working; this tells readers of a log that it was there. It looks at
the text as written and as it reads once disguises are taken off: invisible characters, look-alike
letters, full-width forms, letters set apart, base64.

It knows its patterns and little else: of ten attempts in words it had not been written for it found
one. So a flag is worth reading, and no flag means nothing.
"""

from __future__ import annotations

from functools import cache

from whybench.families.causalgame.report_checks import Report
from whybench.judge.text_normalization import Signs

LONGEST = 20_000
"""Characters of an answer that are looked at."""


def tampering(report: Report) -> tuple[str, ...]:
    """Return the signs of tampering in a report, none if there are none."""
    signs = _signs()
    texts = (text[:LONGEST] for _, text in report.answers)
    return tuple(sorted(set[str]().union(*(signs.found(t, signs.has) for t in texts))))


@cache
def _signs() -> Signs:
    return Signs(__package__ or "", "tampering.json")
