"""What the maker of problems promises, checked by reading the formulas anew.

Formulas are read, run and enumerated here by a few lines of their own: nothing of the package's
language, replay or catalogue is used, so that agreement is evidence.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any, TypeVar, get_args

import pytest
from tests.tables import together

from whybench.causal.seeds import Stream
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.world.generation.cover import covering_worlds, extra_worlds
from whybench.families.replayscm.world.generation.dilute import NEAR, Diluted, Dilution
from whybench.families.replayscm.world.generation.generate import STRATA, Problem, sample_problem
from whybench.families.replayscm.world.generation.identify import identifying_worlds
from whybench.families.replayscm.world.generation.rewindable_rng import Tape
from whybench.families.replayscm.world.generation.source import told_of
from whybench.families.replayscm.world.gold_scm import LEVELS, ROOTS, Latent, sample_latent
from whybench.families.replayscm.world.world import Disclosure, Rows, Table

PROBLEMS = range(20)
LATENTS = range(10)
BITS = (2, 8)
T = TypeVar("T")


@cache
def problem(index: int) -> Problem:
    return sample_problem("tests", "making", index)


@cache
def added(index: int) -> tuple[Table, ...]:
    return extra_worlds(problem(index), Tape("tests", "extra", index))


@cache
def identified(index: int) -> tuple[Latent, tuple[Table, ...]]:
    """An SCM of up to eight variables, and worlds that leave it alone; larger ones take long."""
    stream = Stream("tests", "identify", index)
    while True:
        latent = sample_latent(stream)
        if latent.n <= 8:
            worlds = identifying_worlds(latent, (), stream)
            assert worlds is not None
            return latent, worlds


each_problem = together("index", PROBLEMS)
each_latent = together("index", LATENTS)


# A language of our own: an expression is a variable's number or [operator, expression, …].


def read(text: str) -> Any:
    words = text.replace("(", " ( ").replace(")", " ) ").split()

    def expression() -> Any:
        word = words.pop(0)
        if word != "(":
            return int(word.removeprefix("X")) - 1
        found = [words.pop(0)]
        while words[0] != ")":
            found.append(expression())
        words.pop(0)
        return found

    made = expression()
    assert not words
    return made


def apply(operator: str, values: Sequence[int]) -> int:
    return {
        "not": 1 - values[0],
        "and": min(values),
        "or": max(values),
        "xor": sum(values) % 2,
        "iff": int(len(set(values)) == 1),
    }[operator]


def value(expression: Any, of: Any) -> int:
    if isinstance(expression, int):
        return int(of[expression])
    return apply(expression[0], [value(part, of) for part in expression[1:]])


def nodes(expression: Any) -> int:
    return 1 if isinstance(expression, int) else 1 + sum(map(nodes, expression[1:]))


def depth(expression: Any) -> int:
    return 1 if isinstance(expression, int) else 1 + max(map(depth, expression[1:]))


def mentioned(expression: Any) -> set[int]:
    if isinstance(expression, int):
        return {expression}
    return set().union(*map(mentioned, expression[1:]))


def table_over(expression: Any, variables: Sequence[int]) -> tuple[int, ...]:
    """Values in the order of `product((0, 1), …)`: the first variable changes slowest."""
    return tuple(
        value(expression, dict(zip(variables, values, strict=True)))
        for values in product((0, 1), repeat=len(variables))
    )


@cache
def small_functions(variables: int, most: int) -> frozenset[tuple[int, ...]]:
    """The tables of all formulas with at most so many nodes."""
    inputs = list(product((0, 1), repeat=variables))
    of_size: dict[int, set[tuple[int, ...]]] = {1: {*zip(*inputs, strict=True)}}
    for size in range(2, most + 1):
        of_size[size] = {tuple(1 - x for x in table) for table in of_size[size - 1]}
        for parts in partitions(size - 1):
            for tables in product(*(of_size[part] for part in parts)):
                rows = list(zip(*tables, strict=True))
                for operator in ("and", "or", "xor", "iff"):
                    of_size[size].add(tuple(apply(operator, row) for row in rows))
    return frozenset().union(*of_size.values())


def partitions(total: int) -> Iterator[tuple[int, ...]]:
    """Sizes of two or more arguments, rising, that add up: the operators do not mind the order."""
    for count in range(2, total + 1):
        for parts in combinations_with_replacement(range(1, total), count):
            if sum(parts) == total:
                yield parts


# Rows, one at a time.


def targets_of(table: Table) -> set[int]:
    return {v for v in range(len(table.columns)) if table.targets >> v & 1}


def rows_of(table: Table) -> list[list[int]]:
    return [[column >> r & 1 for column in table.columns] for r in range(table.size)]


def follows(latent: Latent, targets: set[int], row: Sequence[int]) -> bool:
    """Whether a row is what the SCM gives, once targets and roots have the row's values."""
    values = {v: row[v] for v in latent.order[:ROOTS]}
    for v in latent.order:
        if v in targets:
            values[v] = row[v]
        elif v not in values:
            values[v] = value(read(latent.formulas[v]), values)
    return [values[v] for v in range(latent.n)] == list(row)


def signed(table: Table) -> tuple[Any, ...]:
    """What makes two interventions the same: mode, targets, constants."""
    targets = sorted(targets_of(table))
    first = rows_of(table)[0]
    constants = [first[v] for v in targets] if table.mode == "hard_constant" else []
    return table.mode, tuple(targets), tuple(constants)


def patterns(latent: Latent, worlds: Sequence[Table]) -> tuple[int, int]:
    """Patterns of the last k variables before each one, seen where it is free, and of how many."""
    seen: set[tuple[Any, ...]] = set()
    total = 0
    for at in range(ROOTS, latent.n):
        v, window = latent.order[at], latent.order[max(0, at - latent.k) : at]
        total += 2 ** len(window)
        for table in worlds:
            if v not in targets_of(table):
                seen |= {(v, *(row[u] for u in window)) for row in rows_of(table)}
    return len(seen), total


# Gold SCMs


@each_problem
def test_gold_mechanisms(index: int) -> None:
    latent = problem(index).latent
    assert sorted(latent.order) == list(range(latent.n)) != list(latent.order)
    assert 6 <= latent.n <= 10
    assert 2 <= latent.k <= 4
    for at, v in enumerate(latent.order):
        if at < ROOTS:
            assert latent.formulas[v] == ""
            continue
        gold = read(latent.formulas[v])
        parents = sorted(mentioned(gold))
        assert 3 <= nodes(gold) <= 14
        assert 2 <= depth(gold) <= 6
        assert 2 <= len(parents) <= latent.k
        assert set(parents) <= set(latent.order[at - latent.k if at > latent.k else 0 : at])
        assert all(matters(gold, parents, u) for u in parents)


def matters(expression: Any, parents: Sequence[int], u: int) -> bool:
    for values in product((0, 1), repeat=len(parents)):
        of = dict(zip(parents, values, strict=True))
        if value(expression, of) != value(expression, of | {u: 1 - of[u]}):
            return True
    return False


def test_no_function_is_put_in_place_of_one_that_was_not_found() -> None:
    seen: dict[tuple[int, ...], int] = {}
    for index in range(60):
        for text in sample_latent(Stream("tests", "latent", index)).formulas:
            gold = read(text) if text else 0
            parents = sorted(mentioned(gold))
            if len(parents) == 2:
                table = table_over(gold, parents)
                seen[table] = seen.get(table, 0) + 1
    assert len(seen) == 10  # all functions of two essential arguments
    assert max(seen.values()) < sum(seen.values()) / 3


def test_the_identity_is_no_order() -> None:
    class Sorted(Stream):
        """Leaves the first two decks as they are."""

        decks = 0

        def shuffled(self, items: Sequence[T]) -> list[T]:
            Sorted.decks += 1
            return list(items) if Sorted.decks <= 2 else super().shuffled(items)

    latent = sample_latent(Sorted("tests", "sorted"))
    assert Sorted.decks > 2
    assert list(latent.order) != sorted(latent.order)


# Worlds


@pytest.mark.slow
@each_problem
def test_tables_are_what_the_formulas_give(index: int) -> None:
    made = problem(index)
    latent = made.latent
    assert len(latent.thresholds) == ROOTS
    assert {len(units) for units in latent.thresholds} <= {10, 11, 12}
    for table in (*made.train, *made.heldout, *added(index)):
        targets, rows = targets_of(table), rows_of(table)
        assert table.size == len(latent.thresholds[0])
        assert all(follows(latent, targets, row) for row in rows)
        for root, units in zip(latent.order, latent.thresholds, strict=False):
            shown = [row[root] for row in rows]
            if root not in targets:
                assert shown in [[int(unit < level) for unit in units] for level in LEVELS]
        columns = [{row[v] for row in rows} for v in targets]
        assert (table.mode == "none") == (not targets)
        assert table.mode != "hard_constant" or all(len(column) == 1 for column in columns)
    assert not made.train[0].targets
    for root, units in zip(latent.order, latent.thresholds, strict=False):
        assert [row[root] for row in rows_of(made.train[0])] == [int(u < 0.5) for u in units]


@each_problem
def test_training_and_held_out_worlds(index: int) -> None:
    made = problem(index)
    assert 8 <= len(made.train) <= 11
    assert len(made.heldout) == 8
    taken = {signed(table) for table in made.train}
    held = {signed(table) for table in made.heldout}
    assert len(held) == 8
    assert not held & taken
    low = min(stratum.novelty[0] for stratum in STRATA)
    high = max(stratum.novelty[1] for stratum in STRATA)
    for table in made.heldout:
        one = targets_of(table)
        others = [targets_of(other) for other in made.train]
        assert low <= min(1 - len(one & other) / len(one | other) for other in others) <= high


@each_problem
def test_no_shortcut_survives(index: int) -> None:
    made = problem(index)
    latent = made.latent
    for at in range(ROOTS, latent.n):
        v, window = latent.order[at], latent.order[max(0, at - latent.k) : at]
        gold = table_over(read(latent.formulas[v]), window)
        inputs = list(product((0, 1), repeat=len(window)))
        shown = {
            (inputs.index(tuple(row[u] for u in window)), row[v])
            for table in made.train
            if v not in targets_of(table)
            for row in rows_of(table)
        }
        fits = [
            table
            for table in small_functions(len(window), 5)
            if all(table[place] == seen for place, seen in shown)
        ]
        assert set(fits) <= {gold}


def test_small_formulas_of_two_variables() -> None:
    # 1 node: a, b; 2: their negations; 3: and, or, xor, iff, and constants from a twice.
    assert [len(small_functions(2, most)) for most in (1, 2, 3)] == [2, 4, 10]
    assert len(small_functions(2, 5)) == 16


@pytest.mark.slow
@each_problem
def test_more_evidence(index: int) -> None:
    made = problem(index)
    latent = made.latent
    before, total = patterns(latent, made.train)
    extended = (*made.train, *added(index))
    after, _ = patterns(latent, extended)
    held = {signed(table) for table in made.heldout}
    assert 3 <= len(added(index)) <= 4
    assert before < after or before == total
    assert all(len(targets_of(table)) <= 1 for table in added(index))
    covering = covering_worlds(made, extended, Tape("tests", "covering", index))
    assert patterns(latent, (*extended, *covering)) == (total, total)
    assert not held & {signed(table) for table in (*added(index), *covering)}
    for table in covering:
        assert all(follows(latent, targets_of(table), row) for row in rows_of(table))


# Evidence that leaves one SCM, and less than that


@each_latent
def test_identifying_worlds_leave_one_in_every_class(index: int) -> None:
    latent, worlds = identified(index)
    rows = Rows.of(latent.n, worlds)
    blocks = (latent.order[: ROOTS + 1], latent.order[ROOTS + 1 :])
    for disclosure in get_args(Disclosure):
        assert Evidence(told_of(latent, disclosure, blocks), rows).count == 1
    for table in worlds:
        assert all(follows(latent, targets_of(table), row) for row in rows_of(table))
    for left_out in range(1, len(worlds)):
        fewer = Rows.of(latent.n, [*worlds[:left_out], *worlds[left_out + 1 :]])
        assert Evidence(told_of(latent, "roots", ()), fewer).count > 1


@each_latent
@together("bits", BITS)
def test_diluted_evidence(index: int, bits: int) -> None:
    latent, worlds = identified(index)
    told = told_of(latent, "hidden", ())
    made = Dilution(told, worlds).to(bits, Stream("tests", "dilute", index, bits))
    assert isinstance(made, Diluted)
    short = Evidence(told, Rows.of(latent.n, made.short))
    long = Evidence(told, Rows.of(latent.n, made.long))
    assert abs(short.bits - bits) <= NEAR == 0.5
    assert made.bits == short.bits
    assert long.count == short.count
    shape = [(world.targets, world.mode, world.size) for world in worlds]
    assert [(world.targets, world.mode, world.size) for world in made.long] == shape
    assert sum(world.size for world in made.short) < sum(world.size for world in made.long)
    for table in (*made.short, *made.long):
        assert all(follows(latent, targets_of(table), row) for row in rows_of(table))


def test_the_same_path_makes_the_same() -> None:
    assert sample_problem("tests", "making", 0) == problem(0) != problem(1)
    assert extra_worlds(problem(0), Tape("tests", "extra", 0)) == added(0)
    assert sample_latent(Stream("tests", 0)) == sample_latent(Stream("tests", 0))
    latent, worlds = identified(0)
    told = told_of(latent, "hidden", ())
    for make in (
        lambda stream: identifying_worlds(latent, (), stream),
        lambda stream: Dilution(told, worlds).to(4, stream),
    ):
        one, two = (make(Stream("tests", "again")) for _ in range(2))
        assert one == two is not None
