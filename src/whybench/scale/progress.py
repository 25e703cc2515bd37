"""How far a long run is: a bar on a terminal, else a line every now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

EVERY = 30.0
"""Seconds between two lines."""


class Advance(Protocol):
    """Called whenever more rows are done."""

    def __call__(self, rows: int) -> None:
        """Take note of so many further rows."""


@contextmanager
def progress(total: int, what: str, unit: str = "rows") -> Iterator[Advance]:
    """Show how much is done, on the error channel."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda rows: bar.advance(task, rows)
        return
    started = told = time.monotonic()
    done = 0

    def advance(rows: int) -> None:
        nonlocal done, told
        done += rows
        now = time.monotonic()
        if now - told >= EVERY or done == total:
            told = now
            seconds = max(now - started, 1e-9)
            rate = f"{done / seconds:,.1f} a second, {seconds:,.0f} s"
            line = f"{what}: {done:,} of {total:,} {unit}, {rate}"
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - the one place that tells

    yield advance
