"""The Boolean language: parse, print, evaluate many rows at once, truth tables.

    expression = variable | "(" variable ")" | "(" operator expression … ")"

`not` takes one argument; `and`, `or`, `xor` and `iff` take two or more. `xor` is true if an odd
number of its arguments are true, `iff` if all of them are equal. There are no constants.

A table over n variables is an integer of 2**n bits: bit r is the value on the assignment in which
variable v is `r >> v & 1`. Columns of any number of rows are integers of the same kind. So one
evaluation works for a truth table and for a thousand rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple, TypeAlias

OPERATORS = ("not", "and", "or", "xor", "iff")

LONGEST = 20_000
"""The most characters of a formula; no sensible one has a thousand."""

Tree: TypeAlias = "int | tuple[str | Tree, ...]"
"""A formula as nested tuples: a variable's number, or an operator and its arguments."""

_TOKEN = re.compile(r"\(\s*[^\s()]*|\)|[^\s()]+")
"""An opening parenthesis with the word that follows it, a closing one, or a word."""
_BROKEN = re.compile(r"[\t\r\n]")


class FormulaError(ValueError):
    """Raised for a text that is not a legal formula of the language; the message says why."""


class Formula(NamedTuple):
    """A parsed formula, in postfix order so that nothing here recurses."""

    program: tuple[int | tuple[str, int], ...]
    """A variable's number, or an operator with the number of its arguments."""
    mentions: int
    """The set of variables that occur in it, needed or not."""

    @property
    def size(self) -> int:
        """The number of operators and variables in it."""
        return len(self.program)

    @property
    def depth(self) -> int:
        """The longest path from the top to a variable; 1 for a single variable."""
        stack: list[int] = []
        for item in self.program:
            if isinstance(item, int):
                stack.append(1)
            else:
                stack[-item[1] :] = [1 + max(stack[-item[1] :])]
        return stack[0]


def parse(text: str, variables: Mapping[str, int]) -> Formula:
    """Read a formula over named variables.

    >>> parse("(and X1 (not X2))", {"X1": 0, "X2": 1})
    Formula(program=(0, 1, ('not', 1), ('and', 2)), mentions=3)
    """
    if len(text) > LONGEST:
        raise FormulaError(f"a formula of {len(text)} characters is too long to read")
    text = text.strip()
    if _BROKEN.search(text):
        raise FormulaError("a formula stands on one line, without tabs")
    words = _TOKEN.findall(text)
    program: list[int | tuple[str, int]] = []
    heads: list[str] = []
    bases: list[int] = []  # for each open parenthesis, how many values there were before it
    values = 0
    for word in words:
        v = variables.get(word)
        if v is not None:
            program.append(v)
            values += 1
        elif word[0] == "(":
            heads.append(word[1:].lstrip())
            bases.append(values)
        elif word != ")":
            raise FormulaError(f"{word[:20]!r} is not a variable that may stand here")
        elif not heads:
            raise FormulaError("a closing parenthesis that closes nothing")
        else:
            head, count = heads.pop(), values - bases.pop()
            if (count > 1 and head in _OPEN) or (count == 1 and head == "not"):
                program.append((head, count))
            else:
                _check(head, count, variables)
                program.append(variables[head])
            values += 1 - count
    if heads:
        raise FormulaError("a closing parenthesis is missing")
    if values != 1:
        raise FormulaError("something follows the end of the formula" if words else "it is empty")
    return Formula(tuple(program), _mentions(program))


def _mentions(program: Sequence[int | tuple[str, int]]) -> int:
    found = 0
    for item in set(program):
        if item.__class__ is int:
            found |= 1 << item
    return found


_OPEN = frozenset(OPERATORS[1:])
"""Operators that take two arguments or more."""


def _check(head: str, count: int, variables: Mapping[str, int]) -> None:
    """Accept a variable in parentheses; raise an error for anything else."""
    if not head:
        after = "must follow an opening parenthesis" if count else "is missing: this closes nothing"
        raise FormulaError(f"an operator or a variable {after}")
    if not count:
        if head not in variables:
            raise FormulaError(f"{head[:20]!r} is not a variable that may stand here")
    elif head == "not":
        raise FormulaError(f"`not` takes one argument, not {count}")
    elif head in OPERATORS:
        raise FormulaError(f"`{head}` takes two or more arguments, not {count}")
    else:
        raise FormulaError(f"{head[:20]!r} is no operator: use {', '.join(OPERATORS)}")


def evaluate(formula: Formula, columns: Sequence[int], every: int) -> int:
    """Return the column of a formula's values; `every` is the column that is 1 in all rows.

    >>> evaluate(parse("(iff a b)", {"a": 0, "b": 1}), (0b1100, 0b1010), 0b1111)
    9
    """
    stack: list[int] = []
    for item in formula.program:
        if item.__class__ is int:
            stack.append(columns[item])
            continue
        operator, count = item  # type: ignore[misc]  # not an int: the class was looked at
        if count == 1:
            stack[-1] ^= every
            continue
        value = stack.pop()
        if operator == "iff":
            either = value
            for _ in range(count - 1):
                argument = stack.pop()
                value &= argument
                either |= argument
            value |= every ^ either
        elif operator == "and":
            for _ in range(count - 1):
                value &= stack.pop()
        elif operator == "or":
            for _ in range(count - 1):
                value |= stack.pop()
        else:
            for _ in range(count - 1):
                value ^= stack.pop()
        stack.append(value)
    return stack[0]


def formula_of(tree: Tree) -> Formula:
    """Return a tree as a formula, without writing and reading it."""
    program: list[int | tuple[str, int]] = []
    _flatten(tree, program)
    return Formula(tuple(program), _mentions(program))


def _flatten(tree: Tree, program: list[int | tuple[str, int]]) -> None:
    if isinstance(tree, int):
        program.append(tree)
        return
    for child in _arguments(tree):
        _flatten(child, program)
    program.append((str(tree[0]), len(tree) - 1))


def render(tree: Tree, names: Sequence[str]) -> str:
    """Write a tree as a formula.

    >>> render(("and", 0, ("not", 1)), ["X1", "X2"])
    '(and X1 (not X2))'
    """
    if isinstance(tree, int):
        return names[tree]
    return f"({tree[0]} {' '.join(render(child, names) for child in _arguments(tree))})"


def relabelled(tree: Tree, to: Sequence[int]) -> Tree:
    """Return a tree with variable v renamed `to[v]`."""
    if isinstance(tree, int):
        return to[tree]
    return (tree[0], *(relabelled(child, to) for child in _arguments(tree)))


def _arguments(tree: tuple[str | Tree, ...]) -> Iterable[Tree]:
    return tree[1:]  # type: ignore[return-value]  # only the head is an operator's name


@cache
def columns(n: int) -> tuple[int, ...]:
    """Return the columns of the truth table over n variables.

    >>> [bin(column) for column in columns(2)]
    ['0b1010', '0b1100']
    """
    return tuple(sum(1 << r for r in range(1 << n) if r >> v & 1) for v in range(n))


@cache
def everywhere(n: int) -> int:
    """Return the table over n variables that is true everywhere."""
    return (1 << (1 << n)) - 1


def truth_table(formula: Formula, n: int) -> int:
    """Return a formula's truth table over n variables."""
    return evaluate(formula, columns(n), everywhere(n))


def essential(truth: int, n: int, among: int | None = None) -> int:
    """Return the variables whose flip can change a function; only those in `among` are tried.

    >>> essential(truth_table(parse("(or a (and b (not b)))", {"a": 0, "b": 1}), 2), 2)
    1
    """
    found, tried = 0, -1 if among is None else among
    for bit, where_zero in zip(_BITS, _zeros(n), strict=False):
        if tried & bit and (truth >> bit ^ truth) & where_zero:
            found |= bit
    return found


_BITS = tuple(1 << v for v in range(64))


@cache
def _zeros(n: int) -> tuple[int, ...]:
    """Return for each of n variables the assignments in which it is 0."""
    return tuple(everywhere(n) ^ column for column in columns(n))


def projected(truth: int, variables: Sequence[int]) -> int:
    """Return a function's table over some variables alone; the others are held at 0.

    >>> bin(projected(0b1100_1100_1100_1100, [1]))
    '0b10'
    """
    small = 0
    for r in range(1 << len(variables)):
        at = sum(1 << v for i, v in enumerate(variables) if r >> i & 1)
        small |= (truth >> at & 1) << r
    return small


def lifted(small: int, variables: Sequence[int], n: int) -> int:
    """Return the table over n variables of a function given over some of them.

    >>> lifted(0b10, [1], 2) == columns(2)[1]
    True
    """
    of, every = columns(n), everywhere(n)
    level = [every if small >> r & 1 else 0 for r in range(1 << len(variables))]
    for v in variables:
        level = [
            low ^ ((low ^ high) & of[v]) for low, high in zip(level[::2], level[1::2], strict=True)
        ]
    return level[0]


def transposed(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    """Turn columns into rows, or rows into columns: bit i of number j is bit j of number i.

    >>> transposed((0b01, 0b11, 0b10), 2)
    (3, 6)
    """
    width, side_by_side = len(numbers), 0
    for j, number in enumerate(numbers):
        side_by_side |= _spread(number, width) << j
    every = (1 << width) - 1
    return tuple([side_by_side >> at & every for at in range(0, width * count, width)])


@lru_cache(maxsize=1 << 16)
def _spread(number: int, width: int) -> int:
    """Return the bits of a number, each so far from the next."""
    return sum(1 << width * i for i in range(number.bit_length()) if number >> i & 1)
