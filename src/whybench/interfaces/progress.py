"""How far a long command is: a bar with the time left on a terminal, else a line a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

EVERY = 60.0
"""Seconds between two lines."""

T = TypeVar("T")

Advance = Callable[[int], None]
"""Called with the number of further units that are done."""


@contextmanager
def progress(total: int, what: str, unit: str = "instances") -> Iterator[Advance]:
    """Show how much is done, on the error channel."""
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
    """Yield items, and show how many of them are done."""
    with progress(total, what) as advance:
        for item in items:
            yield item
            advance(1)


def _lines(total: int, what: str, unit: str) -> Advance:
    """Return what writes a line every now and then; a run of less than a minute writes none."""
    started = told = time.monotonic()
    done = 0

    def advance(more: int) -> None:
        nonlocal done, told
        done += more
        now = time.monotonic()
        if now - told < EVERY or not done:
            return
        told = now
        left = (now - started) * (total - done) / done
        line = f"{what}: {done:,} of {total:,} {unit}, {now - started:,.0f} s, {left:,.0f} s left"
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - the one place that tells

    return advance
