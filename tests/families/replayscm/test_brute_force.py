"""Certificates of `lab`, `alt_ord` and `alt_hid` by brute force; no code of `proof/` is used.

Every function of at most k admissible variables is tried on the rows. The SCMs are then counted
layer by layer: the first layer has its parents among the roots, and each variable of a later layer
has a parent in the layer before. Each SCM has one such division, so each is counted once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from itertools import chain, combinations, product
from math import log2, prod
from operator import and_, or_, xor
from typing import TypeAlias

import numpy as np
import pytest

from whybench.causal.canonical import thaw
from whybench.episode.action import Action
from whybench.episode.registry import families
from whybench.families.replayscm.world.world import Table, View

FAMILY = families()["replayscm"]

Seen: TypeAlias = tuple[frozenset[int], tuple[int, ...]]
"""A row: the targets, and the value of each variable."""
Texts: TypeAlias = Mapping[str, str]
"""Variable → formula; roots have none."""


def rows(tables: Sequence[Table], n: int) -> list[Seen]:
    return [
        (
            frozenset(v for v in range(n) if table.targets >> v & 1),
            tuple(column >> at & 1 for column in table.columns),
        )
        for table in tables
        for at in range(table.size)
    ]


def allowed(view: View, v: int) -> list[int]:
    before = view.order[: view.order.index(v)] if view.disclosure == "ordered" else range(view.n)
    return sorted(set(before) - {v})


def subsets(of: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(of, size) for size in range(most + 1))


def functions(v: int, parents: tuple[int, ...], seen: Sequence[Seen]) -> int:
    """Try all functions: how many fit the rows in which v is free, and depend on all parents?"""
    known: dict[int, int] = {}
    for targets, row in seen:
        if v not in targets:
            at = sum(row[p] << i for i, p in enumerate(parents))
            if known.setdefault(at, row[v]) != row[v]:
                return 0
    places = 1 << len(parents)
    unseen = [at for at in range(places) if at not in known]
    tables = np.full(1 << len(unseen), sum(value << at for at, value in known.items()))
    for i, at in enumerate(unseen):
        tables |= (np.arange(len(tables)) >> i & 1) << at
    good = np.ones(len(tables), bool)
    for i in range(len(parents)):
        without = sum(1 << at for at in range(places) if not at >> i & 1)
        good &= ((tables >> (1 << i) ^ tables) & without) != 0
    return int(good.sum())


def count(view: View, roots: frozenset[int], seen: Sequence[Seen]) -> int:
    """Count the SCMs of the class that replay all rows."""
    seen = sorted(set(seen), key=lambda one: (sorted(one[0]), one[1]))
    own = [v for v in range(view.n) if v not in roots]
    fitting = {
        v: [
            (frozenset(parents), number)
            for parents in subsets(allowed(view, v), view.told.k)
            if (number := functions(v, parents, seen))
        ]
        for v in own
    }

    @cache
    def mechanisms(v: int, before: frozenset[int], layer: frozenset[int]) -> int:
        chosen = (number for parents, number in fitting[v] if parents <= before and parents & layer)
        return sum(chosen)

    @cache
    def grown(before: frozenset[int], layer: frozenset[int]) -> int:
        rest = [v for v in own if v not in before]
        return not rest or sum(
            prod(mechanisms(v, before, layer) for v in chosen)
            * grown(before | {*chosen}, frozenset(chosen))
            for chosen in subsets(rest, len(rest))
            if chosen
        )

    def first(v: int) -> int:
        return sum(number for parents, number in fitting[v] if parents <= roots)

    return sum(
        prod(map(first, chosen)) * grown(roots | {*chosen}, frozenset(chosen))
        for chosen in subsets(own, len(own))
        if chosen
    )


OPERATORS: dict[str, Callable[[list[int]], int]] = {
    "not": lambda values: 1 - values[0],
    "and": lambda values: reduce(and_, values),
    "or": lambda values: reduce(or_, values),
    "xor": lambda values: reduce(xor, values),
    "iff": lambda values: int(len(set(values)) == 1),
}


def value(text: str, of: Callable[[str], int]) -> int:
    """Evaluate a formula; `of` gives the value of a variable."""
    stack: list[list[str | int]] = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            head, *values = stack.pop()
            stack[-1].append(OPERATORS[str(head)]([int(one) for one in values]))
        else:
            stack[-1].append(token if token in OPERATORS else of(token))
    return int(stack[0][0])


def replayed(view: View, texts: Texts, targets: frozenset[int], row: Sequence[int]) -> list[int]:
    """Compute all but targets and roots; a cycle ends in a RecursionError."""

    @cache
    def of(name: str) -> int:
        v = view.names.index(name)
        return row[v] if v in targets or name not in texts else value(texts[name], of)

    return [of(name) for name in view.names]


def parents(view: View, text: str) -> set[int]:
    """Return the variables that the value depends on, by trying all values."""
    named = [name for name in view.names if name in text.replace(")", " ").split()]
    tried = {
        values: value(text, dict(zip(named, values, strict=True)).__getitem__)
        for values in product((0, 1), repeat=len(named))
    }
    return {
        view.names.index(name)
        for i, name in enumerate(named)
        if any(
            found != tried[(*values[:i], 1 - values[i], *values[i + 1 :])]
            for values, found in tried.items()
        )
    }


def fits(view: View, texts: Texts, seen: Sequence[Seen]) -> bool:
    """Tell whether an SCM is in the class and replays all rows."""
    for name, text in texts.items():
        needed = parents(view, text)
        if len(needed) > view.told.k or not needed <= {*allowed(view, view.names.index(name))}:
            return False
    return all(replayed(view, texts, targets, row) == list(row) for targets, row in seen)


def differ(view: View, one: Texts, other: Texts) -> bool:
    """Tell whether two SCMs have a different function for some variable."""
    for name in one:
        for row in product((0, 1), repeat=view.n):
            of = dict(zip(view.names, row, strict=True)).__getitem__
            if value(one[name], of) != value(other[name], of):
                return True
    return False


def separating(view: View, reference: Texts) -> list[Seen]:
    """Return what the reference gives whenever one variable is set."""
    return [
        (frozenset([v]), tuple(replayed(view, reference, frozenset([v]), row)))
        for v in range(view.n)
        for row in product(*[(0, 1) if u == v or n not in reference else (0,)
                             for u, n in enumerate(view.names)])
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["lab", "alt_ord", "alt_hid"])
def test_fifty_certificates_agree_with_brute_force(suite: str) -> None:
    for index in range(0, 100, 2):
        instance = FAMILY.suite(suite)[index]
        world, certificate = FAMILY.world(instance), FAMILY.certify(instance)
        view: View = world.view
        episode = FAMILY.open(instance)
        for setting in certificate.facts.get("exact_worlds") or ():
            assert not episode.step(Action.of("experiment", setting=setting)).is_error
        seen = rows((*view.train, *episode.seen), view.n)
        roots = frozenset(v for v in range(view.n) if world.gold.roots >> v & 1)
        total = count(view, roots, seen)
        assert certificate.bits == pytest.approx(log2(total), abs=1e-9)
        assert certificate.identified == (total == 1)
        same = count(view, roots, seen + rows(world.heldout, view.n)) == total
        assert certificate.facts["heldout_determined"] == same
        if total == 1:
            assert certificate.witness is None
        else:
            gold, other = thaw(certificate.witness)
            assert fits(view, gold, seen + rows(world.heldout, view.n))
            assert fits(view, other, seen)
            assert differ(view, gold, other)
        if suite == "lab":
            assert certificate.exact_steps == len(episode.seen)
            assert certificate.solvable == certificate.best_score == (total == 1)
        else:
            reference = dict(zip(view.names, view.reference, strict=True))
            reference = {name: text for name, text in reference.items() if text}
            assert fits(view, reference, seen)
            agree = count(view, roots, seen + separating(view, reference))
            assert certificate.solvable == certificate.best_score == (agree < total)


def test_brute_force_tries_every_function() -> None:
    """Of two possible parents: 2 constants, 2 · 2 functions of one, and 10 of both."""
    assert [functions(2, parents, []) for parents in ((), (0,), (0, 1))] == [2, 2, 10]
    assert functions(1, (0,), [(frozenset(), (1, 0))]) == 1
    assert functions(1, (), [(frozenset(), (1, 0)), (frozenset([1]), (1, 1))]) == 1
