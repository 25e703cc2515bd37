"""Where a paper's front matter ends and its back matter begins, as far as its headings say so."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_NUMBER = r"(?:#+ *)?(?:\**)(?:(?:\d+(?:\.\d+)*|[ivx]+)\.? +)?"


@dataclass(frozen=True, slots=True)
class Matter:
    """What lies before `front` or from `back` on is not the body of a paper."""

    front: int
    back: int

    @property
    def edges(self) -> tuple[int, int]:
        """Both ends of the body."""
        return self.front, self.back

    def within(self, start: int) -> Matter:
        """Return the same places, counted from a later start."""
        return Matter(max(0, self.front - start), self.back - start)


def matter(text: str) -> Matter:
    r"""Find the ends of the body, by the headings on lines of their own.

    >>> body = "Abstract\nAll is well.\n" + "So it was seen, again and again.\n" * 5
    >>> paper = f"Title\nA. Author\n{body}References\n[1] Nobody."
    >>> found = matter(paper)
    >>> paper[found.front : found.back] == body
    True
    """
    data, size = _data(), len(text)
    first = next((m.start() for m in _headings("front_ends").finditer(text)), 0)
    front = first if first <= data["front_share"] * size else 0
    starts = (m.start() for m in _headings("back_begins").finditer(text))
    back = next((start for start in starts if start >= data["back_share"] * size), size)
    return Matter(front, back)


def is_back_heading(line: str) -> bool:
    """Tell whether a heading opens back matter.

    >>> is_back_heading("## 7. References"), is_back_heading("## Reference modes")
    (True, False)
    """
    return _headings("back_begins").match(line) is not None


def is_caption(line: str) -> bool:
    """Tell whether a line opens a caption."""
    return _caption().match(line.strip()) is not None


@cache
def _headings(name: str) -> re.Pattern[str]:
    named = "|".join(_data()[name])
    return re.compile(rf"^ *{_NUMBER}(?:{named})\** *(?::.*|\.)?$", re.IGNORECASE | re.MULTILINE)


@cache
def _caption() -> re.Pattern[str]:
    return re.compile(_data()["caption"], re.IGNORECASE)


@cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (files(__package__ or "") / "sections.json").read_text("utf-8")
    )
    return found
