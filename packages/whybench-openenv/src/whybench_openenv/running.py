"""Run a local server while a block runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

PATIENCE = 180.0
"""Seconds within which a server must start. Its libraries take long to load."""

_ADDRESS = re.compile(r"http://[0-9.]+:[0-9]+")


@contextmanager
def running(*arguments: str) -> Iterator[str]:
    """Run a server in its own process on a free port of 127.0.0.1, and yield the address.

    The arguments are those of `whybench-openenv`, such as `--suite`, `causallink/large`.
    """
    command = [sys.executable, "-m", "whybench_openenv", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - ours
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    """Return the address that a server prints."""
    alarm = Timer(PATIENCE, process.kill)
    alarm.start()
    try:
        line = process.stdout.readline() if process.stdout else ""
    finally:
        alarm.cancel()
    found = _ADDRESS.search(line)
    if found is None:
        raise RuntimeError("The server did not start. Its output is above.")
    return found[0]
