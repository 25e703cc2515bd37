"""Tables of cases: many small ones as one test, a few of many slow ones in the default tier."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def together(names: str | Sequence[str], cases: Iterable[Any] | Callable[[], Iterable[Any]]) -> Any:
    """Call a test on every case, as `pytest.mark.parametrize` would, and report all that fail.

    Cases share their fixtures, so the test must leave these as they were. Tables may be stacked.
    A table that takes long to make is given as a function.
    """
    cases = cases if callable(cases) else list(cases)
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(**fixtures: Any) -> None:
            table = list(cases() if callable(cases) else cases)
            assert table, "a table without cases"
            failures = []
            for number, case in enumerate(table):
                try:
                    values = case if len(names) > 1 else (case,)
                    test(**fixtures, **dict(zip(names, values, strict=True)))
                except pytest.skip.Exception as error:
                    raise AssertionError("leave a case that cannot be run out") from error
                except Exception as error:  # noqa: BLE001 - it is raised below
                    error.add_note(f"in case {number} of {test.__name__}: {str(case)[:200]}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} cases", failures)

        asked = inspect.signature(test).parameters
        left = [one for name, one in asked.items() if name not in names]
        every.__signature__ = inspect.Signature(left)  # pytest gives the fixtures that are left
        return every

    return decorated


def sampled(cases: Iterable[Any], most: int = 1) -> list[Any]:
    """Return cases as parameters: the first ones in the default tier, the others slow."""
    return [
        pytest.param(*values, marks=[] if number < most else pytest.mark.slow)
        for number, case in enumerate(cases)
        for values in [case if isinstance(case, tuple) else (case,)]
    ]
