"""Show the progress of a long command: a bar on a terminal, otherwise a line every 30 seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

EVERY = 30.0
"""Seconds between two lines."""

T = TypeVar("T")

Advance = Callable[[int], None]
"""Called with the number of further units that are done."""


@contextmanager
def progress(total: int, what: str, unit: str = "instances") -> Iterator[Advance]:
    """Show on stderr how much is done."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = (*Progress.get_default_columns()[:-1], MofNCompleteColumn())
        with Progress(
            *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
        ) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.advance(task, done)
        return
    yield _lines(total, what, unit)


def tracked(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield items, and show how many are done."""
    with progress(total, what) as advance:
        for item in items:
            yield item
            advance(1)


def _lines(total: int, what: str, unit: str) -> Advance:
    """Return a function that prints progress lines. A run of less than 30 seconds prints none."""
    started = told = time.monotonic()
    done = 0

    def advance(more: int) -> None:
        nonlocal done, told
        done += more
        now = time.monotonic()
        if now - told < EVERY or not done:
            return
        told = now
        rate = done / (now - started)
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        line = (
            f"{what}: {done:,}/{total:,} {unit} ({done / total:.0%}), {speed} {unit}/s, "
            f"{duration((total - done) / rate)} left"
        )
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - the one place that prints it

    return advance


def duration(seconds: float) -> str:
    """Format a duration.

    >>> duration(8), duration(215), duration(7260)
    ('8 s', '3 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
