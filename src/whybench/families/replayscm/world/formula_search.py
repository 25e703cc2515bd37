"""Find small formulas of functions of more than four inputs by search.

The search splits off one input at the top. If the rows allow it, f is g joined to the input (or to
its negation) by one operator. Otherwise f is "if the input then g else h". Once four inputs are
left, the catalogue of smallest formulas gives the rest. The search tries all inputs at every level,
so the result is the smallest formula of this form. A smaller one of another form may exist.
"""

from __future__ import annotations

from functools import lru_cache

from whybench.causal.boolean import Tree
from whybench.families.replayscm.world.minimal_formulas import smallest_matching, tree

CATALOGUED = 4


def small_matching(care: int, value: int, inputs: int) -> tuple[Tree, int]:
    """Return a small formula, and its size, of a function with `value`'s bits where `care` is 1.

    Both are tables over `inputs` inputs, as for `smallest_matching`.

    >>> parity = 0x96696996
    >>> small_matching(2**32 - 1, parity, 5)
    (('xor', 4, 0, 1, 2, 3), 6)
    """
    return _search(care, value & care, tuple(range(inputs)))


@lru_cache(maxsize=65536)
def _search(care: int, value: int, inputs: tuple[int, ...]) -> tuple[Tree, int]:
    if len(inputs) <= CATALOGUED:
        table, size = smallest_matching(care, value, len(inputs))
        return _named(tree(table), inputs), size
    found: list[tuple[Tree, int]] = []
    for at in reversed(range(len(inputs))):
        low, high = _cofactors(care, value, at, len(inputs))
        rest = (*inputs[:at], *inputs[at + 1 :])
        found += _split_off(inputs[at], rest, low, high)
    return min(found, key=lambda pair: pair[1])


Part = tuple[int, int]


def _split_off(x: int, rest: tuple[int, ...], low: Part, high: Part) -> list[tuple[Tree, int]]:
    """Return formulas with x at the top; `low` and `high` are care and value at x = 0 and 1."""
    (care0, value0), (care1, value1) = low, high
    both = care0 & care1
    if not (value0 ^ value1) & both:
        return [_search(care0 | care1, value0 | value1, rest)]
    found: list[tuple[Tree, int]] = []
    negated: Tree = ("not", x)
    for literal, extra, this, other in ((x, 2, high, low), (negated, 3, low, high)):
        if not other[1]:
            found.append(_under("and", literal, _search(*this, rest), extra))
        if other[1] == other[0]:
            continue_with = _search(*this, rest)
            found.append(_under("or", ("not", x) if literal == x else x, continue_with, 5 - extra))
    if not (value0 ^ value1 ^ both) & both:
        found.append(_under("xor", x, _search(care0 | care1, value0 | (care1 & ~value1), rest), 2))
    if not found:
        (one, cost1), (zero, cost0) = _search(*high, rest), _search(*low, rest)
        tree_ = ("or", ("and", x, one), ("and", negated, zero))
        found.append((tree_, cost0 + cost1 + 6))
    return found


def _under(operator: str, literal: Tree, inner: tuple[Tree, int], extra: int) -> tuple[Tree, int]:
    """Join an input to what is left; an `and` within an `and` (`or`, `xor`) becomes one."""
    rest, size = inner
    if isinstance(rest, tuple) and rest[0] == operator:
        return (operator, literal, *rest[1:]), size + extra - 1
    return (operator, literal, rest), size + extra


def _cofactors(care: int, value: int, at: int, inputs: int) -> tuple[Part, Part]:
    """Return care and value where one input is 0, and where it is 1, over the other inputs."""
    parts = [[0, 0], [0, 0]]
    low_bits = (1 << at) - 1
    for r in range(1 << inputs):
        if care >> r & 1:
            small = (r & low_bits) | (r >> 1 & ~low_bits)
            part = parts[r >> at & 1]
            part[0] |= 1 << small
            part[1] |= (value >> r & 1) << small
    return (parts[0][0], parts[0][1]), (parts[1][0], parts[1][1])


def _named(made: Tree, inputs: tuple[int, ...]) -> Tree:
    """Return a tree of the catalogue over these inputs; a constant of none names the first."""
    if isinstance(made, int):
        return inputs[made] if inputs else 0
    return (made[0], *(_named(child, inputs) for child in made[1:]))  # type: ignore[arg-type]
