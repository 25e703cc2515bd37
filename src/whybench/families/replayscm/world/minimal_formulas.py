"""Smallest formulas with not, and, or, xor, iff of all Boolean functions of up to four inputs.

A table is an int; bit r is its value on the assignment that gives input i the value (r >> i) & 1.
A formula is a tree: an int is a leaf (an input), a tuple is (operator, argument, argument, …).
Every operator except `not` takes two or more arguments. xor is odd parity; iff is true if all its
arguments are equal. Size counts operators and leaves, so ("and", 0, 1, 2) has size 4. There are no
constants.

Algorithm: dynamic programming by size. Every argument of a smallest formula may itself be a
smallest formula of its table. So the tables of size s are those not yet found that are `not` of a
table of size s − 1, or an operator applied to tables whose sizes add up to s − 1.

*And, or, xor* are associative, so only the value of a list of arguments matters. The list cost of f
is the least total size of one or more tables that the operator joins to f. Take a cheapest list of
two or more tables and remove its smallest table. The rest is a cheapest list of its own value,
because a cheaper one would make f cheaper. So a list of cost c joins a table of size b ≤ c/2 with a
value of list cost c − b. Nested lists become flat lists of any length.

*Iff* of three or more arguments is not a chain of smaller iffs: it is (and of all) or not (or of
all). Only the pair (and of all, or of all) of a list matters. Lists grow argument by argument, with
rising sizes. Three kinds of lists need not grow further, and nothing is lost:

- a list whose pair is also the pair of another list with the same sizes;
- a list whose last argument did not change the pair, because the shorter list is equivalent and
  cheaper;
- a list whose pair is (never, always), because it and all its extensions are the constant 0, which
  has size 3.

The algorithm assumes no bound on the number of arguments. It examines all lists of one total size
before those of the next, until it has found every table. This happens at size 14. Lists of total
size 14 or more are not examined; they could only give formulas of size 15 or more. The longest iff
in the resulting catalogue has four arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from whybench.causal.boolean import Tree

Tables: TypeAlias = NDArray[np.uint16]

INPUTS = (0xAAAA, 0xCCCC, 0xF0F0, 0xFF00)
"""The tables of the four inputs themselves."""

_TABLES = 1 << 16
_ALWAYS = _TABLES - 1
_REPEAT = (0xFFFF, 0x5555, 0x1111, 0x0101, 0x0001)
"""Times a table over m inputs, the four-input table that ignores the other inputs."""
_CHUNKS = (0, 256, 2048, _TABLES)
"""Places at which a search through the tables by size checks whether it has a match."""
_FEW = 6
"""With at most this many don't-care bits, trying all their values is faster."""
_FEW_EACH = 8
"""The same where many functions are looked up at once."""


def sizes() -> NDArray[np.uint8]:
    """Return the smallest size of a formula for every four-input table.

    >>> int(sizes()[0xAAAA & 0xCCCC & 0xF0F0]), int(sizes().max())
    (4, 14)
    """
    return _catalogue().size


def by_size() -> Tables:
    """Return all four-input tables sorted by (size, table).

    >>> [hex(table) for table in by_size()[:4]]
    ['0xaaaa', '0xcccc', '0xf0f0', '0xff00']
    """
    return _independent(4)


@cache
def tree(table: int) -> Tree:
    """Return one smallest formula, always the same; it mentions essential inputs only.

    The constants have no essential input and mention input 0.

    >>> tree(0xAAAA & ~0xCCCC), tree(0)
    (('and', 0, ('not', 1)), ('xor', 0, 0))
    """
    if not 0 <= table <= _ALWAYS:
        raise ValueError(f"{table} is not a four-input table. Give a number from 0 to 65535.")
    if table in INPUTS:
        return INPUTS.index(table)
    operator, arguments = _catalogue().made(table)
    return (operator, *(tree(argument) for argument in arguments))


def smallest_matching(care: int, value: int, inputs: int) -> tuple[int, int]:
    """Return the table and the size of the smallest function with `value`'s bits where `care` is 1.

    Both are ints over 2**inputs bits. The function depends on the first `inputs` inputs at most;
    among several of the smallest size it has the smallest table, here as a four-input table.

    >>> smallest_matching(0b1001, 0b1000, 2)  # 0 when both are 0, 1 when both are 1: input 0 does
    (43690, 1)
    """
    care, value = _widened(care, value, inputs)
    size = _catalogue().size
    free = care ^ _ALWAYS
    if inputs == 4 and free.bit_count() <= _FEW:
        subsets = _subsets()
        tables = ((subsets[free >> 8] << 8)[:, None] | (subsets[free & 255] | value)).ravel()
        table = int(tables[size[tables].argmin()])
        return table, int(size[table])
    for chunk in _chunks(inputs):
        match = (chunk & care) == value
        first = match.argmax()
        if match[first]:
            table = int(chunk[first])
            return table, int(size[table])
    raise AssertionError("every table is in the catalogue, so one matches")


def smallest_sizes(
    care: NDArray[np.int64], value: NDArray[np.int64], inputs: int
) -> NDArray[np.int64]:
    """Return the sizes that `smallest_matching` returns, for many functions at once.

    >>> smallest_sizes(np.array([0b1001, 0b1111]), np.array([0b1000, 0b1000]), 2).tolist()
    [1, 3]
    """
    size, repeat = _catalogue().size, _REPEAT[inputs]
    value = (value & care) * repeat
    care = care * repeat
    found = np.zeros(len(care), dtype=np.int64)
    for count, some in _by_free_bits(care ^ _ALWAYS):
        if inputs == 4 and count <= _FEW_EACH:
            tables, free = value[some][:, None], care[some] ^ _ALWAYS
            for _ in range(count):
                bit = free & -free
                tables = np.concatenate((tables, tables | bit[:, None]), axis=1)
                free ^= bit
            found[some] = size[tables].min(axis=1)
            continue
        waiting = some
        for chunk in _chunks(inputs):
            match = (chunk & care[waiting, None]) == value[waiting, None]
            first = match.argmax(axis=1)
            hit = match[np.arange(len(waiting)), first]
            found[waiting[hit]] = size[chunk[first[hit]]]
            waiting = waiting[~hit]
            if not len(waiting):
                break
    return found


def _by_free_bits(free: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield places in an array by how many bits are 1."""
    counts = sum(free >> i & 1 for i in range(16)) + np.zeros_like(free)
    for count in np.unique(counts):
        yield int(count), np.flatnonzero(counts == count)


def matching(care: int, value: int, inputs: int, most: int) -> Tables:
    """Return all tables of size `most` or less that match, sorted by (size, table).

    `care`, `value` and `inputs` are those of `smallest_matching`.

    >>> [tree(int(table)) for table in matching(0b1001, 0b1000, 2, 3)]
    [0, 1, ('and', 0, 1), ('or', 0, 1)]
    """
    care, value = _widened(care, value, inputs)
    tables = _independent(inputs)[: _count(inputs, most)]
    matches: Tables = tables[(tables & care) == value]
    return matches


def _widened(care: int, value: int, inputs: int) -> tuple[int, int]:
    """Return care and value as four-input tables, the value 0 where nobody cares."""
    if not 0 <= inputs <= 4:
        raise ValueError(f"{inputs} inputs: the catalogue has 0 … 4")
    if not 0 <= care < 1 << (1 << inputs):
        raise ValueError(f"care {care} is no set of assignments of {inputs} inputs")
    repeat = _REPEAT[inputs]
    return care * repeat, (value & care) * repeat


@cache
def _independent(inputs: int) -> Tables:
    """Return the tables that ignore all but the first `inputs` inputs, by (size, table)."""
    order = np.argsort(_catalogue().size, kind="stable").astype(np.uint16)
    tables: Tables = order[
        (order & ((1 << (1 << inputs)) - 1)) * np.uint16(_REPEAT[inputs]) == order
    ]
    tables.flags.writeable = False
    return tables


@cache
def _count(inputs: int, most: int) -> int:
    """Return how many of `_independent` have size `most` or less."""
    return int((_catalogue().size[_independent(inputs)] <= most).sum())


@cache
def _chunks(inputs: int) -> tuple[Tables, ...]:
    """Cut `_independent` into growing chunks: most searches end in the first."""
    tables = _independent(inputs)
    return tuple(tables[start:end] for start, end in pairwise(_CHUNKS) if start < len(tables))


@cache
def _subsets() -> tuple[Tables, ...]:
    """Return, for each set of bits of a byte, all its subsets in rising order."""
    every = np.arange(256, dtype=np.uint16)
    return tuple(every[every & ~byte == 0] for byte in every)


@dataclass
class _Lists:
    """The cheapest lists of arguments of one associative operator, by the value they join to."""

    join: Callable[[np.uint16, Tables], Tables]
    cost: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(_TABLES, np.uint8))
    """List cost of each value; 0 while unknown."""
    head: Tables = field(default_factory=lambda: np.zeros(_TABLES, np.uint16))
    """The smallest table of the list, if it has two or more."""
    rest: Tables = field(default_factory=lambda: np.zeros(_TABLES, np.uint16))
    """The value of the others."""
    of_cost: list[Tables] = field(default_factory=lambda: [np.zeros(0, np.uint16)])

    def extend(self, of_size: list[Tables]) -> Tables:
        """Find all values of the next cost; return those that need two arguments or more."""
        cost = len(self.of_cost)
        single = of_size[cost][self.cost[of_size[cost]] == 0]
        self.cost[single] = cost
        found = [np.zeros(0, np.uint16)]
        for part in range(1, cost // 2 + 1):
            rests = self.of_cost[cost - part]
            for head in of_size[part]:
                values = self.join(head, rests)
                new = np.flatnonzero(self.cost[values] == 0)
                if new.size:
                    fresh, first = np.unique(values[new], return_index=True)
                    self.cost[fresh], self.head[fresh] = cost, head
                    self.rest[fresh] = rests[new[first]]
                    found.append(fresh)
        joined = np.concatenate(found)
        self.of_cost.append(np.concatenate([single, joined]))
        return joined

    def arguments(self, value: int, size: NDArray[np.uint8]) -> tuple[int, ...]:
        """Return the cheapest list that joins to the value."""
        if self.cost[value] == size[value]:
            return (value,)
        return (int(self.head[value]), *self.arguments(int(self.rest[value]), size))


@dataclass
class _Catalogue:
    """The tables found so far, and how each is made from smaller ones."""

    size: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(_TABLES, np.uint8))
    """Size of each table; 0 while unknown."""
    of_size: list[Tables] = field(default_factory=lambda: [np.zeros(0, np.uint16)])
    operator: dict[int, str] = field(default_factory=dict)
    lists: dict[str, _Lists] = field(
        default_factory=lambda: {
            "and": _Lists(np.bitwise_and),
            "or": _Lists(np.bitwise_or),
            "xor": _Lists(np.bitwise_xor),
        }
    )
    iff_arguments: dict[int, tuple[int, ...]] = field(default_factory=dict)
    iff_lists: dict[tuple[int, int], list[Tables]] = field(default_factory=dict)
    """By total and largest size: arrays whose rows are lists of arguments, sizes rising."""

    def add(self, operator: str, tables: Tables) -> Tables:
        """Give the tables that are new the size at hand; return them."""
        new = np.unique(tables[self.size[tables] == 0])
        self.size[new] = len(self.of_size)
        self.operator.update(dict.fromkeys(new.tolist(), operator))
        return new

    def grow(self) -> None:
        """Find all tables of the next size."""
        found = [self.add("not", ~self.of_size[-1])]
        for operator, lists in self.lists.items():
            found.append(self.add(operator, lists.extend(self.of_size)))
        found.append(self.add_iff(len(self.of_size) - 1))
        self.of_size.append(np.sort(np.concatenate(found)))

    def add_iff(self, total: int) -> Tables:
        """Add the tables that iff makes of two or more arguments with this total size."""
        found = [np.zeros(0, np.uint16)]
        for last in range(1, total):
            for rows in self.iff_prefixes(total - last, last):
                both, either = _pairs(rows, self.of_size[last])
                equal = (both | ~either).ravel()
                new = np.flatnonzero(self.size[equal] == 0)
                tables, first = np.unique(equal[new], return_index=True)
                row, column = np.divmod(new[first], len(self.of_size[last]))
                lists = np.column_stack([rows[row], self.of_size[last][column]])
                found.append(self.add("iff", tables))
                self.iff_arguments.update(
                    zip(tables.tolist(), map(tuple, lists.tolist()), strict=True)
                )
        return np.concatenate(found)

    def iff_prefixes(self, total: int, last: int) -> list[Tables]:
        """Return the lists of a total size that an argument of size `last` may follow."""
        tops = range(1, min(total, last) + 1)
        return [rows for top in tops for rows in self.iff_rows(total, top)]

    def iff_rows(self, total: int, top: int) -> list[Tables]:
        """Return the lists of a total size whose last argument has size `top`."""
        if (total, top) not in self.iff_lists:
            tables = self.of_size[top]
            blocks = [tables[:, None]] if total == top else []
            for rows in self.iff_prefixes(total - top, top):
                both, either = _pairs(rows, tables)
                before = np.bitwise_and.reduce(rows, 1), np.bitwise_or.reduce(rows, 1)
                same = (both == before[0][:, None]) & (either == before[1][:, None])
                keep = np.flatnonzero(~same & ((both != 0) | (either != _ALWAYS)))
                pairs = both.ravel()[keep].astype(np.uint32) << 16 | either.ravel()[keep]
                row, column = np.divmod(keep[np.unique(pairs, return_index=True)[1]], len(tables))
                blocks.append(np.column_stack([rows[row], tables[column]]))
            self.iff_lists[total, top] = blocks
        return self.iff_lists[total, top]

    def made(self, table: int) -> tuple[str, tuple[int, ...]]:
        """Return the operator and the arguments of a table that is no input."""
        operator = self.operator[table]
        if operator == "not":
            return operator, (table ^ _ALWAYS,)
        if operator == "iff":
            return operator, self.iff_arguments[table]
        return operator, self.lists[operator].arguments(table, self.size)


def _pairs(rows: Tables, tables: Tables) -> tuple[Tables, Tables]:
    """Return and, or of all arguments, for every list in `rows` with every table added."""
    both = np.bitwise_and.reduce(rows, axis=1)[:, None] & tables
    either = np.bitwise_or.reduce(rows, axis=1)[:, None] | tables
    return both, either


@cache
def _catalogue() -> _Catalogue:
    """Find a smallest formula for every table: about half a second, once per process."""
    catalogue = _Catalogue()
    inputs = np.array(INPUTS, np.uint16)
    catalogue.size[inputs] = 1
    catalogue.of_size.append(inputs)
    while not catalogue.size.all():
        catalogue.grow()
    catalogue.iff_lists.clear()
    catalogue.size.flags.writeable = False
    return catalogue
