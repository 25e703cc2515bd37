"""Filters on the columns of difficulty, such as `bits <= 6 and tokens < 2000`.

The grammar is small, and no text is evaluated as code:

    filter     = term { "or" term }
    term       = factor { "and" factor }
    factor     = "not" factor | "(" filter ")" | comparison
    comparison = COLUMN ("<" | "<=" | ">" | ">=" | "=" | "!=") NUMBER

A comparison with a figure that has no meaning for an instance is false.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from whybench.curriculum.columns import COLUMNS, figure
from whybench.episode.instance import Instance

Figures = Callable[[str], float | None]
Test = Callable[[Figures], bool]

LONGEST, DEEPEST = 500, 30
"""Maximum number of characters of a filter, and of its parentheses and `not`."""

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
_WORD = re.compile(r"<=|>=|!=|[<>=()]|[a-z_]+|-?\d+(?:\.\d+)?|\S")


@dataclass(frozen=True, slots=True)
class Where:
    """A filter on the difficulty of instances.

    Examples:
        >>> import whybench as wb
        >>> where = wb.Where("bits <= 20 and size = 4")
        >>> where.admits(wb.load_suite("causallink/advanced")[0])
        True

    Raises:
        ValueError: The text is not a filter. The message says what was expected.

    """

    text: str
    """The filter as it was given."""

    def __post_init__(self) -> None:
        _parsed(self.text)

    def admits(self, instance: Instance, known: Mapping[str, float | None] | None = None) -> bool:
        """Return whether an instance passes. Only columns that the result depends on are computed.

        Args:
            instance: The instance.
            known: Figures that need not be computed, such as those of a stored set.

        Returns:
            Whether it passes.

        """
        given = known or {}
        return _parsed(self.text)(
            lambda name: given[name] if name in given else figure(instance, name)
        )


@lru_cache(maxsize=256)
def _parsed(text: str) -> Test:
    parser = _Parser(text)
    if len(text) > LONGEST or parser.words.count("(") + parser.words.count("not") > DEEPEST:
        raise ValueError(
            f"A filter has at most {LONGEST} characters, and {DEEPEST} parentheses and `not`."
        )
    return parser.whole()


class _Parser:
    """Recursive descent over the words of a filter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = [*_WORD.findall(text), ""]
        self.at = 0

    def whole(self) -> Test:
        test = self.either()
        self.take([""], "`and`, `or` or the end")
        return test

    def either(self) -> Test:
        return self.joined("or", self.both, any)

    def both(self) -> Test:
        return self.joined("and", self.factor, all)

    def joined(
        self, word: str, part: Callable[[], Test], fold: Callable[[Iterable[bool]], bool]
    ) -> Test:
        tests = [part()]
        while self.found(word):
            tests.append(part())
        return lambda figures: fold(test(figures) for test in tests)

    def factor(self) -> Test:
        if self.found("not"):
            test = self.factor()
            return lambda figures: not test(figures)
        if self.found("("):
            test = self.either()
            self.take([")"], "`)`")
            return test
        name = self.take(COLUMNS, f"a column ({', '.join(COLUMNS)})")
        compare = _COMPARE[self.take(_COMPARE, f"one of {' '.join(_COMPARE)}")]
        limit = self.number()

        def compared(figures: Figures) -> bool:
            value = figures(name)
            return value is not None and compare(value, limit)

        return compared

    def number(self) -> float:
        try:
            limit = float(self.words[self.at])
        except ValueError:
            raise self.error("a number") from None
        self.at += 1
        return limit

    def found(self, word: str) -> bool:
        """Take a word if it comes next."""
        if self.words[self.at] != word:
            return False
        self.at += 1
        return True

    def take(self, words: Iterable[str], expected: str) -> str:
        """Take one of some words, or raise an error."""
        word = self.words[self.at]
        if word not in words:
            raise self.error(expected)
        self.at += 1
        return word

    def error(self, expected: str) -> ValueError:
        word = self.words[self.at]
        return ValueError(
            f"Cannot read the filter {self.text!r} at {f'`{word}`' if word else 'its end'}. "
            f"Expected {expected}. Example: bits <= 6 and tokens < 2000"
        )
