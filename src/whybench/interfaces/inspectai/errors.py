"""Report wrong arguments of a task in one line, as Inspect reports its own errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from inspect_ai._util.error import PrerequisiteError
from rich.markup import escape

P = ParamSpec("P")
T = TypeVar("T")


class ArgumentError(PrerequisiteError, ValueError):
    """Arguments that a task rejects. `inspect eval` prints this error without a traceback."""

    def __init__(self, why: str) -> None:
        super().__init__(escape(why))


def one_line_errors(make: Callable[P, T]) -> Callable[P, T]:
    """Turn a ValueError of a function that makes a task into a one-line message."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return make(*args, **kwargs)
        except PrerequisiteError:
            raise
        except ValueError as error:
            raise ArgumentError(str(error)) from error

    return made
