"""How much work a call is: counted, not timed, so that a busy machine changes nothing.

What is spent inside one function of C, a regular expression for example, is not seen here:
`scripts/bench_hostile.py` holds bars in seconds for that.
"""

import sys
from collections.abc import Callable
from typing import Any


def calls(function: Callable[..., Any], *args: Any) -> int:
    """Return how many functions, of Python and of C, are called within one call."""
    count = 0

    def seen(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        function(*args)
    finally:
        sys.setprofile(before)
    return count
