"""The twin agrees with hand-worked examples, plain definitions and independent counts."""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from .replayscm_twin import (
    Disclosure,
    Row,
    Scm,
    TooManyError,
    World,
    consistent,
    count,
    essential_tables,
    first_differences,
    is_determined,
    replay,
    smallest_total,
    undetermined_cells,
)

INSTANCES = [
    x
    for x in json.loads(
        (Path(__file__).parents[1] / "data" / "replayscm_counts.json").read_text(encoding="utf-8")
    )["instances"]
    if x["n"] == 5
]
CONST0 = ((), (0,))


def bits(text: str) -> Row:
    return tuple(int(c) for c in text)


def world(targets: str, rows: str) -> World:
    """`world("02", "010 110")`: variables 0 and 2 are set, two rows were observed."""
    return frozenset(bits(targets)), [bits(r) for r in rows.split()]


def same(*parents: int) -> tuple[tuple[int, ...], tuple[int, int]]:
    """The mechanism that copies its one parent."""
    return parents, (0, 1)


def scm(roots: Sequence[int], mechanisms: dict[int, Any]) -> Scm:
    return Scm(frozenset(roots), tuple(sorted(mechanisms.items())))


def ones(_parents: int, table: tuple[int, ...]) -> int:
    return sum(table)


# Hand-worked examples


def test_functions_with_all_arguments_essential() -> None:
    # Of the 2, 4, 16, 256 functions of m arguments, take away those on fewer:
    # m=1: 4 - 2 = 2;  m=2: 16 - 2*2 - 2 = 10;  m=3: 256 - 3*10 - 3*2 - 2 = 218.
    assert [len(essential_tables(m)) for m in range(4)] == [2, 2, 10, 218]


def test_one_mechanism() -> None:
    given: dict[str, Any] = {"roots": frozenset({0})}
    # Row 00 says f(0) = 0 and leaves f(1) free: the constant 0 and the copy.
    assert set(consistent(2, 1, [world("", "00")], "hidden", **given)) == {
        scm([0], {1: CONST0}),
        scm([0], {1: same(0)}),
    }
    assert count(2, 0, [world("", "00")], "hidden", **given) == 1
    # Row 11 adds f(1) = 1: only the copy, and with k = 0 nothing.
    both = [world("", "00 11")]
    assert list(consistent(2, 1, both, "hidden", **given)) == [scm([0], {1: same(0)})]
    assert count(2, 0, both, "hidden", **given) == 0
    # Where 1 is a target it is not scored: a row that breaks the copy changes nothing.
    assert count(2, 1, [*both, world("1", "01 10")], "hidden", **given) == 1
    # The root is later in the order, so 1 can have no parent, and no constant fits.
    assert count(2, 1, both, "ordered", order=[1, 0], **given) == 0
    assert count(2, 1, both, "block", blocks=[[1], [0]], **given) == 0


def test_root_number_only() -> None:
    # 00 and 11: either variable may be the root and the other its copy.
    seen = [world("", "00 11")]
    either = {scm([0], {1: same(0)}), scm([1], {0: same(1)})}
    assert set(consistent(2, 1, seen, "roots", root_count=1)) == either
    # 0 was set to 1 and 1 stayed 0: 1 is no copy of 0. With root 1 nothing is scored here.
    after = [*seen, world("0", "10")]
    assert set(consistent(2, 1, after, "roots", root_count=1)) == {scm([1], {0: same(1)})}
    # Two roots: one candidate without mechanisms, whatever was seen.
    assert set(consistent(2, 1, after, "roots", root_count=2)) == {scm([0, 1], {})}
    # No root and the row 00: both constant, or one constant and the other its copy; the two
    # copies of each other are a cycle.
    assert set(consistent(2, 1, [world("", "00")], "roots", root_count=0)) == {
        scm([], {0: CONST0, 1: CONST0}),
        scm([], {0: CONST0, 1: same(0)}),
        scm([], {0: same(1), 1: CONST0}),
    }
    # Before the intervention, 10 with 0 set is wrong for root 0 at cell 1, and unscored for root
    # 1, which explains it; with 1 set, the other way round; with both set nothing is scored.
    for targets, row, cells in [("0", "10", {1}), ("1", "10", {0}), ("01", "10", set())]:
        query = (frozenset(bits(targets)), bits(row))
        assert undetermined_cells(2, 1, seen, "roots", *query, root_count=1) == cells
        assert is_determined(2, 1, seen, "roots", *query, root_count=1) == (not cells)


def test_two_copies_of_a_root() -> None:
    # 000 and 111, one parent each, no constant fits: 1 copies 0 or 2, and 2 copies 0 or 1, but
    # 1 <- 2 with 2 <- 1 is a cycle. Three remain.
    seen = [world("", "000 111")]
    root = frozenset({0})
    fork = scm([0], {1: same(0), 2: same(0)})
    chain = scm([0], {1: same(0), 2: same(1)})
    back = scm([0], {1: same(2), 2: same(0)})
    assert set(consistent(3, 1, seen, "hidden", roots=root)) == {fork, chain, back}
    assert set(consistent(3, 1, seen, "block", roots=root, blocks=[[0], [1, 2]])) == {
        fork,
        chain,
        back,
    }
    assert set(consistent(3, 1, seen, "ordered", roots=root, order=[0, 1, 2])) == {fork, chain}
    assert set(consistent(3, 1, seen, "block", roots=root, blocks=[[0], [2], [1]])) == {fork, back}
    # 1 set against 0 and the truth says 2 follows 0: the chain errs at 2, and only there.
    query = (frozenset({1}), (0, 1, 0))
    assert [replay(c, 3, *query) for c in (fork, chain, back)] == [
        (0, 1, 0),
        (0, 1, 1),
        (0, 1, 0),
    ]
    assert undetermined_cells(3, 1, seen, "hidden", *query, roots=root) == {2}
    assert not is_determined(3, 1, seen, "hidden", *query, roots=root)
    # Where 2 is set the back candidate errs, at 1; where 0 is set to 1 none does.
    assert undetermined_cells(3, 1, seen, "hidden", frozenset({2}), (0, 0, 1), roots=root) == {1}
    assert is_determined(3, 1, seen, "hidden", frozenset({0}), (1, 1, 1), roots=root)
    # Having seen that row, the chain is out.
    more = [*seen, world("1", "010")]
    assert set(consistent(3, 1, more, "hidden", roots=root)) == {fork, back}


def test_replay_is_not_teacher_forced_and_first_differences() -> None:
    # The chain 0 -> 1 -> 2 on 100: 1 becomes 1 and so does 2, although the row's own 1 = 0 would
    # explain its 2 = 0. Both differ, 1 comes first in every order.
    chain = scm([0], {1: same(0), 2: same(1)})
    assert replay(chain, 3, frozenset(), (1, 0, 0)) == (1, 1, 1)
    assert first_differences(chain, 3, frozenset(), (1, 0, 0)) == {1}
    # The row 101 would break a teacher-forced chain at 2; in replay only 1 is wrong.
    assert replay(chain, 3, frozenset(), (1, 0, 1)) == (1, 1, 1)
    # In the fork 1 and 2 are not ordered: each comes first in some order.
    fork = scm([0], {1: same(0), 2: same(0)})
    assert first_differences(fork, 3, frozenset(), (1, 0, 0)) == {1, 2}
    # 000, 111 and 011 with 1 set leave only the chain, if 2 comes last.
    seen = [world("", "000 111"), world("1", "011")]
    given: dict[str, Any] = {"roots": frozenset({0}), "order": [0, 1, 2]}
    assert set(consistent(3, 1, seen, "ordered", **given)) == {chain}
    assert undetermined_cells(3, 1, seen, "ordered", frozenset(), (1, 0, 0), **given) == {1}
    # A first difference is about the candidate's own graph, even through a target: on 0011 with
    # 2 set, the chain 0 -> 1 -> 2 -> 3 (1 not 0, 3 not 2) is wrong at 1 and 3, first at 1.
    negation = (1, 0)
    long = scm([0], {1: ((0,), negation), 2: same(1), 3: ((2,), negation)})
    assert replay(long, 4, frozenset({2}), (0, 0, 1, 1)) == (0, 1, 1, 0)
    assert first_differences(long, 4, frozenset({2}), (0, 0, 1, 1)) == {1}


def test_two_parents() -> None:
    given: dict[str, Any] = {"roots": frozenset({0, 1})}
    # f(00) = 0, f(01) = f(10) = 1 and f(11) free: XOR or OR, both with two essential parents.
    seen = [world("", "000 011 101")]
    xor, disjunction = ((0, 1), (0, 1, 1, 0)), ((0, 1), (0, 1, 1, 1))
    assert set(consistent(3, 2, seen, "hidden", **given)) == {
        scm([0, 1], {2: xor}),
        scm([0, 1], {2: disjunction}),
    }
    assert count(3, 1, seen, "hidden", **given) == 0
    # The first parent is the high bit: f(10) = 1 and f(01) = 0 without XOR is "0 and not 1".
    assert set(consistent(3, 2, [world("", "000 010 101 110")], "hidden", **given)) == {
        scm([0, 1], {2: ((0, 1), (0, 0, 1, 0))})
    }
    # The table of XOR has two ones, that of OR three; the row 111 leaves OR only.
    assert smallest_total(3, 2, seen, "hidden", ones, **given) == 2
    assert smallest_total(3, 2, [*seen, world("0", "111")], "hidden", ones, **given) == 3
    # f(11) is open, f(01) is not.
    assert undetermined_cells(3, 2, seen, "hidden", frozenset({0}), (1, 1, 0), **given) == {2}
    assert is_determined(3, 2, seen, "hidden", frozenset({0}), (0, 1, 1), **given)
    with pytest.raises(TooManyError):
        count(3, 2, seen, "hidden", limit=1, **given)
    assert count(3, 2, seen, "hidden", limit=2, **given) == 2


# Definitions, taken literally


def all_functions(n: int, v: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every function of all other variables, cut down to its essential parents."""
    others = [p for p in range(n) if p != v]
    inputs = list(product((0, 1), repeat=n - 1))
    for table in product((0, 1), repeat=len(inputs)):
        f = dict(zip(inputs, table, strict=True))
        essential = [
            i
            for i in range(n - 1)
            if any(f[x] != f[(*x[:i], 1 - x[i], *x[i + 1 :])] for x in inputs)
        ]
        restricted = tuple(
            f[tuple(dict(zip(essential, y, strict=True)).get(i, 0) for i in range(n - 1))]
            for y in product((0, 1), repeat=len(essential))
        )
        yield tuple(others[i] for i in essential), restricted


def acyclic(candidate: Scm) -> bool:
    """No variable is its own ancestor."""
    parents = {v: set(p) for v, (p, _) in candidate.items}
    for v, ancestors in parents.items():
        while more := {q for p in ancestors for q in parents.get(p, ())} - ancestors:
            ancestors = ancestors | more
        if v in ancestors:
            return False
    return True


def by_definition(n: int, k: int, worlds: Sequence[World], roots: frozenset[int]) -> set[Scm]:
    """The consistent candidates of a hidden order, from all functions of all other variables."""
    endogenous = [v for v in range(n) if v not in roots]
    functions = [[f for f in all_functions(n, v) if len(f[0]) <= k] for v in endogenous]
    candidates = (
        Scm(roots, tuple(zip(endogenous, chosen, strict=True))) for chosen in product(*functions)
    )
    return {
        c
        for c in candidates
        if acyclic(c)
        and all(replay(c, n, targets, row) == row for targets, rows in worlds for row in rows)
    }


def random_case(seed: int, n: int, k: int, root_count: int, sizes: Sequence[int]) -> list[World]:
    """Worlds of a random model in the order 0..n-1, the first without targets."""
    rng = random.Random(seed)
    mechanisms = {}
    for v in range(root_count, n):
        m = rng.randint(0, min(k, v))
        mechanisms[v] = (tuple(sorted(rng.sample(range(v), m))), rng.choice(essential_tables(m)))
    truth = scm(range(root_count), mechanisms)
    worlds: list[World] = []
    for size in sizes:
        targets = frozenset(rng.sample(range(n), rng.randint(1, n - 1) if worlds else 0))
        settings = [tuple(rng.randint(0, 1) for _ in range(n)) for _ in range(size)]
        worlds.append((targets, [replay(truth, n, targets, x) for x in settings]))
    return worlds


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("n", "k", "root_count"), [(3, 2, 0), (3, 1, 1), (3, 2, 1), (4, 2, 2)])
def test_enumeration_is_the_definition(seed: int, n: int, k: int, root_count: int) -> None:
    worlds = random_case(seed, n, k, root_count, [3, 2])
    roots = frozenset(range(root_count))
    found = list(consistent(n, k, worlds, "hidden", roots=roots))
    assert len(found) == len(set(found))
    assert set(found) == by_definition(n, k, worlds, roots)


@pytest.mark.parametrize("seed", range(6))
def test_disclosures_nest(seed: int) -> None:
    n, k = 4, 3
    worlds = random_case(seed, n, k, 1, [5, 5, 5])
    roots = frozenset({0})

    def found(disclosure: Disclosure, **given: Any) -> set[Scm]:
        return set(consistent(n, k, worlds, disclosure, roots=roots, **given))

    ordered = found("ordered", order=[0, 1, 2, 3])
    block = found("block", blocks=[[0], [1, 2], [3]])
    hidden = found("hidden")
    assert ordered == found("block", blocks=[[0], [1], [2], [3]])
    assert hidden == found("block", blocks=[[0, 1, 2, 3]])
    assert set() < ordered <= block <= hidden
    assert block == ordered | found("ordered", order=[0, 2, 1, 3])
    any_roots = set(consistent(n, k, worlds, "roots", root_count=1))
    assert {c for c in any_roots if c.roots == roots} == hidden
    totals = [min(sum(map(sum, (t for _, (_, t) in c.items))) for c in s) for s in (block, hidden)]
    assert totals == [
        smallest_total(n, k, worlds, "block", ones, roots=roots, blocks=[[0], [1, 2], [3]]),
        smallest_total(n, k, worlds, "hidden", ones, roots=roots),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_first_differences_have_no_differing_ancestor(seed: int) -> None:
    n, k = 4, 2
    worlds = random_case(seed, n, k, 1, [3, 3])
    rng = random.Random(seed)
    targets = frozenset(rng.sample(range(n), rng.randint(0, 2)))
    row = tuple(rng.randint(0, 1) for _ in range(n))
    cells = set()
    for candidate in consistent(n, k, worlds, "roots", root_count=1):
        replayed = replay(candidate, n, targets, row)
        mechanisms = candidate.mechanisms
        ancestors: dict[int, set[int]] = {v: set() for v in range(n)}
        for _ in range(n):
            for v, (parents, _) in mechanisms.items():
                ancestors[v] |= set(parents).union(*(ancestors[p] for p in parents))
        different = {v for v in range(n) if replayed[v] != row[v]}
        assert different <= mechanisms.keys() - targets
        cells |= {v for v in different if not ancestors[v] & different}
    assert undetermined_cells(n, k, worlds, "roots", targets, row, root_count=1) == cells
    assert is_determined(n, k, worlds, "roots", targets, row, root_count=1) == (not cells)


@pytest.mark.parametrize("seed", range(3))
def test_given_the_order_the_count_is_a_product(seed: int) -> None:
    # A right replay has right parents, so each mechanism is constrained by the rows alone: with
    # all other variables as roots, each counts by itself.
    n, k = 5, 3
    worlds = random_case(seed, n, k, 1, [12] * 6)
    order = list(range(n))
    alone = [
        count(n, k, worlds, "ordered", roots=frozenset(order) - {v}, order=order)
        for v in range(1, n)
    ]
    assert count(n, k, worlds, "ordered", roots=frozenset({0}), order=order) == prod(alone)


# Counts of an independent program


@pytest.mark.parametrize("instance", INSTANCES, ids=range(len(INSTANCES)))
def test_counts_of_an_independent_program(instance: dict[str, Any]) -> None:
    n, k, roots = instance["n"], instance["k"], frozenset(instance["roots"])
    worlds = [(frozenset(w["targets"]), [bits(r) for r in w["rows"]]) for w in instance["worlds"]]
    ordered = count(n, k, worlds, "ordered", roots=roots, order=range(n))
    hidden = count(n, k, worlds, "hidden", roots=roots)
    assert (ordered, hidden) == (int(instance["ordered"]), int(instance["hidden_order"]))
