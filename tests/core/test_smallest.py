"""Smallest formulas: an exhaustive twin for three inputs, and a proof by enumeration for four."""

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache, reduce
from hashlib import sha256
from itertools import combinations, combinations_with_replacement, permutations, product
from operator import and_, or_, xor

import numpy as np
import pytest

from whybench.families.replayscm.world.minimal_formulas import (
    INPUTS,
    Tree,
    by_size,
    matching,
    sizes,
    smallest_matching,
    tree,
)

ALWAYS = 0xFFFF
A, B, C, D = INPUTS
OPERATORS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)


def apply(operator: str, arguments: list[int], always: int) -> int:
    """The language's own definition of each operator, on tables."""
    if operator == "not":
        (argument,) = arguments
        return always ^ argument
    assert len(arguments) >= 2
    if operator == "iff":  # nobody differs from the first
        return always ^ reduce(or_, (argument ^ arguments[0] for argument in arguments))
    return reduce({"and": and_, "or": or_, "xor": xor}[operator], arguments)


def evaluate(formula: Tree) -> int:
    if isinstance(formula, int):
        return INPUTS[formula]
    return apply(formula[0], [evaluate(argument) for argument in formula[1:]], ALWAYS)


def value_at(formula: Tree, bits: list[int]) -> int:
    """One assignment at a time, by counting ones."""
    if isinstance(formula, int):
        return bits[formula]
    ones = sum(value_at(argument, bits) for argument in formula[1:])
    arguments = len(formula) - 1
    return int(
        {
            "not": ones == 0,
            "and": ones == arguments,
            "or": ones > 0,
            "xor": ones % 2 == 1,
            "iff": ones in (0, arguments),
        }[formula[0]]
    )


def size_of(formula: Tree) -> int:
    return 1 if isinstance(formula, int) else 1 + sum(map(size_of, formula[1:]))


def leaves(formula: Tree) -> set[int]:
    return {formula} if isinstance(formula, int) else set().union(*map(leaves, formula[1:]))


def essential(table: int) -> set[int]:
    return {
        i
        for i in range(4)
        if any((table >> r & 1) != (table >> (r ^ 1 << i) & 1) for r in range(16))
    }


def permuted(table: int, order: tuple[int, ...]) -> int:
    rows = [sum((r >> i & 1) << order[i] for i in range(4)) for r in range(16)]
    return sum((table >> rows[r] & 1) << r for r in range(16))


def partitions(total: int, least: int = 1) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for part in range(least, total + 1):
        for others in partitions(total - part, part):
            yield (part, *others)


def twin_sizes(inputs: list[int], always: int) -> dict[int, int]:
    """Sizes by trying every operator on every multiset of smaller tables, total by total."""
    size = dict.fromkeys(inputs, 1)
    of_size = {1: list(inputs)}
    while len(size) <= always:
        total = max(of_size)
        made = {always ^ table for table in of_size[total]}
        for parts in partitions(total):
            if len(parts) < 2:
                continue
            groups = [
                combinations_with_replacement(of_size[part], count)
                for part, count in Counter(parts).items()
            ]
            for chosen in product(*groups):
                arguments = [table for group in chosen for table in group]
                made |= {apply(op, arguments, always) for op in ("and", "or", "xor", "iff")}
        of_size[total + 1] = sorted(made - size.keys())
        size |= dict.fromkeys(of_size[total + 1], total + 1)
    return size


def test_three_inputs_agree_with_the_exhaustive_twin():
    twin = twin_sizes([0b10101010, 0b11001100, 0b11110000], 255)
    assert twin == {table: int(sizes()[table * 0x0101]) for table in range(256)}


def test_two_inputs_agree_with_the_exhaustive_twin():
    twin = twin_sizes([0b1010, 0b1100], 15)
    assert twin == {table: int(sizes()[table * 0x1111]) for table in range(16)}


@pytest.mark.slow
def test_every_tree_says_its_table_in_its_size():
    size = sizes()
    for table in range(1 << 16):
        formula = tree(table)
        assert evaluate(formula) == table
        assert size_of(formula) == size[table]
        assert leaves(formula) == (essential(table) or {0})


def test_bit_r_is_the_value_when_input_i_is_bit_i_of_r():
    for table in random.Random(1).sample(range(1 << 16), 300):
        formula = tree(table)
        for r in range(16):
            assert value_at(formula, [r >> i & 1 for i in range(4)]) == table >> r & 1


def test_no_formula_is_smaller():
    """Sizes are lower bounds, by induction on formulas.

    Leaves have size 1. For an operator, it is enough that no application to tables beats the
    catalogue, the arguments counted with their sizes. Lists of total 13 or more make formulas of
    size 14 or more, and no table is larger. All shorter lists of distinct tables are tried. A list
    with a repeated table is never better: and, or, iff ignore the repetition, xor loses the pair,
    and what is left is a shorter list, one table, or a constant, which has size 3.
    """
    size = sizes()
    most = int(size.max()) - 2
    of_size = {s: np.flatnonzero(size == s).astype(np.uint16) for s in range(1, most)}
    assert of_size[1].tolist() == sorted(INPUTS)
    assert size[0] == size[ALWAYS] == 3
    assert (size[~np.arange(1 << 16, dtype=np.uint16)] <= size + 1).all()

    @cache
    def groups(s: int, count: int) -> tuple[np.ndarray, ...]:
        rows = np.array(list(combinations(of_size[s], count)), np.uint16).reshape(-1, count)
        return tuple(op.reduce(rows, axis=1) for op in OPERATORS)

    def tried(lists: tuple[np.ndarray, ...], arguments: int, total: int, least: int) -> int:
        tries = 0
        for s in range(least, min(most - total, most - 1) + 1):
            for count in range(1, (most - total) // s + 1):
                longer = tuple(
                    op.outer(one, other).ravel()
                    for op, one, other in zip(OPERATORS, lists, groups(s, count), strict=True)
                )
                cost = total + s * count
                if arguments + count >= 2:
                    both, either, parity = longer
                    for made in (both, either, parity, both | ~either):
                        assert (size[made] <= cost + 1).all()
                    tries += len(both)
                tries += tried(longer, arguments + count, cost, s + 1)
        return tries

    nothing = tuple(np.array([start], np.uint16) for start in (ALWAYS, 0, 0))
    assert tried(nothing, 0, 0, 1) == 6_228_023


@pytest.mark.parametrize(
    ("table", "size"),
    [
        (0, 3),  # (xor a a)
        (ALWAYS, 3),  # (iff a a)
        (C, 1),
        (ALWAYS ^ D, 2),
        (A & B & C, 4),
        (A ^ B ^ C ^ D, 5),
        (ALWAYS ^ A ^ B, 3),  # (iff a b)
        (0x8001, 5),  # (iff a b c d)
        (0x0001, 6),  # (not (or a b c d))
        ((ALWAYS ^ A) | B, 4),  # (or (not a) b)
        ((A & B) | (C & ~A), 7),  # (xor c (and a (xor b c)))
        (A & B | B & C | A & C, 7),  # (xor a (iff b c (not a)))
    ],
)
def test_sizes_by_hand(table: int, size: int):
    assert sizes()[table] == size


def test_sizes_ignore_the_names_of_inputs():
    size = sizes()
    for table in random.Random(2).sample(range(1 << 16), 200):
        assert {int(size[permuted(table, order)]) for order in permutations(range(4))} == {
            size[table]
        }


def test_order_and_distribution_of_sizes():
    size = sizes().tolist()
    assert by_size().tolist() == sorted(range(1 << 16), key=lambda table: (size[table], table))
    counts = [4, 4, 26, 52, 176, 436, 1263, 2769, 7080, 13351, 18128, 17002, 5085, 160]
    assert Counter(size) == dict(enumerate(counts, start=1))


def test_trees_stay_the_same():
    """Instances may be built from these trees: another choice among smallest ones changes them."""
    text = repr([tree(table) for table in range(1 << 16)])
    assert sha256(text.encode()).hexdigest()[:16] == "1aecbee5ab9946f4"


@pytest.mark.parametrize("inputs", [0, 1, 2, 3, 4])
def test_matching_agrees_with_filtering(inputs: int):
    rng = random.Random(inputs)
    rows = 1 << inputs
    size = sizes().tolist()
    repeat = ALWAYS // ((1 << rows) - 1)
    tables = sorted((size[table * repeat], table * repeat) for table in range(1 << rows))
    for trial in range(100):
        bits = rng.sample(range(rows), trial % (rows + 1))
        care, value = sum(1 << bit for bit in bits), rng.getrandbits(rows)
        mask = (1 << rows) - 1
        matches = [(s, table) for s, table in tables if (table ^ value) & mask & care == 0]
        assert smallest_matching(care, value, inputs) == matches[0][::-1]
        most = rng.randint(0, 15)
        found = matching(care, value, inputs, most)
        assert found.dtype == np.uint16
        assert found.tolist() == [table for s, table in matches if s <= most]


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="inputs"):
        smallest_matching(0, 0, 5)
    with pytest.raises(ValueError, match="care"):
        matching(16, 0, 2, 5)
    with pytest.raises(ValueError, match="table"):
        tree(1 << 16)


def test_the_catalogue_cannot_be_overwritten():
    for array in (sizes(), by_size()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
