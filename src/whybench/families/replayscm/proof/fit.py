"""Find the smallest SCMs that fit the evidence.

The cost of a mechanism, given the variables that may come before it, is the size of the smallest
formula of any function that agrees with its rows. Dynamic programming over the set of variables
already placed then finds the cheapest SCM. Silander and Myllymäki (2006) find optimal Bayesian
networks in the same way.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whybench.causal.boolean import (
    Tree,
    essential,
    formula_of,
    lifted,
    projected,
    relabelled,
    render,
    truth_table,
)
from whybench.causal.graph import members
from whybench.families.replayscm.proof.dense import UNFIT
from whybench.families.replayscm.proof.evidence import Evidence
from whybench.families.replayscm.proof.patterns import WIDEST, Patterns
from whybench.families.replayscm.world.formula_search import small_matching
from whybench.families.replayscm.world.minimal_formulas import matching, sizes, smallest_matching
from whybench.families.replayscm.world.world import Scm, names

INPUTS = 4
"""The largest number of parents for which the catalogue has smallest formulas."""

LARGEST = 14
"""The size of the largest smallest formula of four inputs."""

FAR = UNFIT


def partial(patterns: Patterns, q: int) -> tuple[int, int]:
    """Return what rows say about a function of Q: the patterns seen, and those that give 1."""
    zero, one = patterns.zero(q), patterns.one(q)
    care = value = 0
    at = 0
    for r in range(1 << q.bit_count()):
        bit = 1 << r
        if one >> at & 1:
            care |= bit
            value |= bit
        elif zero >> at & 1:
            care |= bit
        at = (at - q) & q  # the next pattern of Q, as a set
    return care, value


def costs(evidence: Evidence, v: int) -> NDArray[np.int64]:
    """Return for each set S the size of v's smallest fitting formula with variables from S."""
    if evidence.dense is not None:
        return np.asarray(evidence.dense.costs[v])
    told, patterns = evidence.told, evidence.patterns[v]
    found = np.full(1 << told.n, FAR, dtype=np.int64)
    if patterns is None:
        return found
    for q in patterns.seen:
        if q.bit_count() <= WIDEST:
            found[q] = fitted(patterns, q)[1]
    for u in range(told.n):
        view = found.reshape(-1, 2, 1 << u)
        np.minimum(view[:, 1, :], view[:, 0, :], out=view[:, 1, :])
    return found


@lru_cache(maxsize=16)
def smallest(evidence: Evidence) -> Scm | None:
    """Return the SCM with the smallest total size of formulas that fits; None if none does."""
    told = evidence.told
    price = [costs(evidence, v) for v in range(told.n)]
    best: dict[int, int] = dict.fromkeys(told.root_sets(), 0)
    came: dict[int, int] = {}
    for there in range(1 << told.n):
        so_far = best.get(there)
        if so_far is None:
            continue
        for v in members(told.every & ~there):
            cost = so_far + int(price[v][there])
            if cost < best.get(there | 1 << v, FAR):
                best[there | 1 << v] = cost
                came[there | 1 << v] = v
    if told.every not in best:
        return None
    tables, there = [0] * told.n, told.every
    while there in came:
        v = came[there]
        there &= ~(1 << v)
        tables[v] = _cheapest(evidence, v, there, int(price[v][there]))
    return Scm(told.n, there, tuple(tables))


def _cheapest(evidence: Evidence, v: int, there: int, cost: int) -> int:
    """Return the first function of v with variables from a set that has this cost."""
    dense = evidence.dense
    if dense is not None:
        at = next(i for i in dense.within(v, there) if dense.sizes[i] == cost)
        (care,), (value,) = dense.partial(np.array([at]))
        q = int(dense.over.sets[at])
        return _wide(smallest_matching(int(care), int(value), q.bit_count())[0], q, evidence.told.n)
    patterns = evidence.patterns[v]
    if patterns is None:
        raise ValueError(f"variable {v} is a root")
    for q in sorted(patterns.seen):
        if not q & ~there:
            truth, size = fitted(patterns, q)
            if size == cost:
                return truth
    raise ValueError("No function has this cost: the tables of the problem were changed.")


def fitted(patterns: Patterns, q: int) -> tuple[int, int]:
    """Return the smallest function of a set that agrees with the rows, and its formula's size."""
    inputs = list(members(q))
    care, value = partial(patterns, q)
    if len(inputs) <= INPUTS:
        truth, size = smallest_matching(care, value, len(inputs))
        return _wide(truth, q, patterns.n), size
    made, size = small_matching(care, value, len(inputs))
    return truth_table(formula_of(relabelled(made, inputs)), patterns.n), size


@lru_cache(maxsize=65536)
def _wide(truth: int, q: int, n: int) -> int:
    """Return a four-input table over a set's members as a table over all variables."""
    inputs = list(members(q))
    return lifted(truth & ((1 << (1 << len(inputs))) - 1), inputs, n)


def smallest_tree(truth: int, n: int, spare: int) -> Tree:
    """Return a smallest formula of a function; a constant is written with the variable `spare`."""
    inputs = list(members(essential(truth, n))) or [spare]
    small = projected(truth, inputs)
    made, _ = small_matching((1 << (1 << len(inputs))) - 1, small, len(inputs))
    return relabelled(made, inputs)


@dataclass(frozen=True, slots=True)
class Option:
    """One function that a variable may have."""

    size: int
    truth: int
    parents: int


def options(evidence: Evidence, v: int, there: int, enough: int) -> list[Option]:
    """Return the functions of v that fit, with variables from a set, smallest first.

    The list ends after the size at which it has at least `enough` functions.
    """
    told, dense = evidence.told, evidence.dense
    if dense is None:
        raise ValueError(f"functions of more than {INPUTS} parents are not listed")
    wide = min(told.k, (there & told.admissible[v]).bit_count())
    at = dense.within(v, there)
    at = at[dense.over.sizes[at] == wide]
    partials = list(
        zip(dense.over.sets[at].tolist(), *(x.tolist() for x in dense.partial(at)), strict=True)
    )
    found: dict[int, Option] = {}
    for size in range(1, LARGEST + 1):
        for q, care, value in partials:
            for truth in _of_size(care, value, wide, size):
                wide_truth = _wide(int(truth), q, told.n)
                if wide_truth not in found:
                    found[wide_truth] = Option(size, wide_truth, essential(wide_truth, told.n))
        if len(found) >= enough:
            break
    return sorted(found.values(), key=lambda option: (option.size, option.truth))


def _of_size(care: int, value: int, inputs: int, size: int) -> NDArray[Any]:
    up_to: NDArray[Any] = matching(care, value, inputs, size)
    return up_to[np.searchsorted(sizes()[up_to], size) :]


@dataclass(frozen=True, slots=True, order=True)
class _Move:
    """A step of the search below: v gets its `rank`-th option once `there` is in place."""

    bound: int
    """The least total size of an SCM that goes this way."""
    number: int
    spent: int
    there: int
    v: int
    rank: int
    chosen: tuple[tuple[int, int], ...]
    """(variable, truth table) of those placed before, in their order."""


def smallest_ones(evidence: Evidence, enough: int, tries: int) -> Iterator[Scm]:
    """Yield the SCMs that fit, smallest first, for known roots.

    This is a best-first search that places one variable after another, each with one of its
    functions. The lowest cost of the rest is known exactly for every set placed. If two variables
    placed in succession could be swapped, the search follows only one order. It stops after
    `tries` steps.
    """
    told = evidence.told
    if told.roots is None:
        raise ValueError("the roots must be known")
    price = [costs(evidence, v) for v in range(told.n)]
    to_go = _to_go(told.every, told.roots, price)
    choices: dict[tuple[int, int], list[Option]] = {}
    heap: list[_Move] = []
    seen: set[tuple[int, ...]] = set()
    count = 0

    def push(
        v: int, rank: int, spent: int, there: int, chosen: tuple[tuple[int, int], ...]
    ) -> None:
        nonlocal count
        if (v, there) not in choices:
            choices[v, there] = options(evidence, v, there, enough)
        if rank < len(choices[v, there]):
            count += 1
            cost = spent + choices[v, there][rank].size
            bound = cost + to_go.get(there | 1 << v, FAR)
            if bound < FAR:
                heapq.heappush(heap, _Move(bound, count, spent, there, v, rank, chosen))

    for v in members(told.every & ~told.roots):
        push(v, 0, 0, told.roots, ())
    for _ in range(tries):
        if not heap:
            return
        move = heapq.heappop(heap)
        v, there = move.v, move.there
        push(v, move.rank + 1, move.spent, there, move.chosen)
        option = choices[v, there][move.rank]
        if move.chosen and v < move.chosen[-1][0] and not option.parents >> move.chosen[-1][0] & 1:
            continue  # v could have come before the one placed last
        chosen, there = (*move.chosen, (v, option.truth)), there | 1 << v
        if there == told.every:
            tables = [0] * told.n
            for u, truth in chosen:
                tables[u] = truth
            if tuple(tables) not in seen:
                seen.add(tuple(tables))
                yield Scm(told.n, told.roots, tuple(tables))
        for u in members(told.every & ~there):
            push(u, 0, move.spent + option.size, there, chosen)


def _to_go(every: int, roots: int, price: list[NDArray[np.int64]]) -> dict[int, int]:
    """Return for each set that contains the roots what placing the rest costs at least."""
    found = {every: 0}
    rest = every & ~roots
    sub = rest
    while sub:
        sub = (sub - 1) & rest
        there = roots | sub
        cost = min(
            int(price[v][there]) + found.get(there | 1 << v, FAR) for v in members(rest & ~sub)
        )
        if cost < FAR:
            found[there] = cost
    return found


def formulas(scm: Scm) -> tuple[str, ...]:
    """Write an SCM with smallest formulas; empty for roots."""
    called = names(scm.n)
    spare = next(iter(members(scm.roots)), 0)
    return tuple(
        "" if scm.roots >> v & 1 else render(smallest_tree(truth, scm.n, spare), called)
        for v, truth in enumerate(scm.tables)
    )
