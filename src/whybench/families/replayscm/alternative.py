"""Alternative-SCM: whether experiment and witness separate the answer from the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from whybench.causal.boolean import parse
from whybench.causal.graph import members
from whybench.families.replayscm.submission import Candidate
from whybench.families.replayscm.world.replay import simulate
from whybench.families.replayscm.world.world import numbers, ordered, scm_of

BINARY = {"0": 0, "1": 1}


@dataclass(frozen=True, slots=True)
class Menu:
    """Every experiment do(V = b) on every assignment of the roots, as one list of rows.

    Experiment (v, b) has number 2v + b and uses the rows `2**r * number … + 2**r`. In its row a,
    the roots, lowest first, have the bits of a as values.
    """

    roots: tuple[int, ...]
    size: int
    columns: tuple[int, ...]
    free: tuple[int, ...]

    @property
    def width(self) -> int:
        """Rows of one experiment."""
        return 1 << len(self.roots)

    def rows(self, v: int, value: int) -> int:
        """Return the rows of one experiment."""
        return ((1 << self.width) - 1) << (self.width * (2 * v + value))


@cache
def menu(n: int, roots: int) -> Menu:
    """Return the menu of a problem with these roots."""
    listed = tuple(members(roots))
    width = 1 << len(listed)
    size = 2 * n * width
    every = (1 << size) - 1
    columns, free = [0] * n, [every] * n
    for i, root in enumerate(listed):
        pattern = sum(1 << a for a in range(width) if a >> i & 1)
        columns[root] = sum(pattern << (width * e) for e in range(2 * n))
    for v in range(n):
        for value in (0, 1):
            place = ((1 << width) - 1) << (width * (2 * v + value))
            free[v] &= ~place
            columns[v] = columns[v] | place if value else columns[v] & ~place
    return Menu(listed, size, tuple(columns), tuple(free))


@dataclass(frozen=True, slots=True)
class Contrast:
    """Where two SCMs with the same roots differ, over the whole menu."""

    on: Menu
    first: tuple[int, ...]
    second: tuple[int, ...]
    differences: tuple[int, ...]
    """For each variable the rows in which it is endogenous, not clamped, and differs."""

    def pair_rate(self, v: int, value: int) -> float:
        """Share of root assignments on which anything differs under do(v = value)."""
        any_difference = 0
        for rows in self.differences:
            any_difference |= rows
        return (any_difference & self.on.rows(v, value)).bit_count() / self.on.width

    def cell_rate(self, v: int, value: int) -> float:
        """Share of endogenous cells off the target that differ under do(v = value)."""
        place = self.on.rows(v, value)
        own = [u for u in range(len(self.differences)) if u not in self.on.roots and u != v]
        cells = len(own) * self.on.width
        return sum((self.differences[u] & place).bit_count() for u in own) / cells if cells else 0.0

    def best(self) -> tuple[int, int]:
        """Return the experiment that separates best; differing cells break ties."""
        experiments = [(v, value) for v in range(len(self.differences)) for value in (0, 1)]
        return max(experiments, key=lambda e: (self.pair_rate(*e), self.cell_rate(*e)))


def contrast(n: int, first: Candidate, second: Candidate) -> Contrast:
    """Compare two SCMs under every experiment."""
    on = menu(n, first.roots)
    one = simulate(first, on.columns, on.free, on.size)
    two = simulate(second, on.columns, on.free, on.size)
    own = first.order
    found = tuple((one[v] ^ two[v]) & on.free[v] if v in own else 0 for v in range(n))
    return Contrast(on, tuple(one), tuple(two), found)


@dataclass(frozen=True, slots=True)
class Separation:
    """The evaluation of an answer's experiment and witness."""

    experiment_valid: bool
    pair_rate: float | None = None
    cell_rate: float | None = None
    best_rate: float | None = None
    witness_valid: bool = False

    @property
    def separates(self) -> bool:
        """Whether the experiment separates the two SCMs for some assignment of the roots."""
        return bool(self.pair_rate)

    @property
    def optimality(self) -> float | None:
        """How well the experiment separates, as a share of the best one for the same pair."""
        if self.pair_rate is None or not self.best_rate:
            return None
        return self.pair_rate / self.best_rate


def separation(
    n: int, reference: Candidate, alternative: Candidate, answer: Mapping[str, Any]
) -> Separation:
    """Check the experiment and the witness of an answer."""
    chosen = experiment(n, answer.get("experiment"))
    if chosen is None:
        return Separation(False)
    seen = contrast(n, reference, alternative)
    witness = _is_witness(seen, chosen, answer.get("witness"))
    return Separation(
        True,
        seen.pair_rate(*chosen),
        seen.cell_rate(*chosen),
        seen.pair_rate(*seen.best()),
        witness,
    )


def experiment(n: int, data: Any) -> tuple[int, int] | None:
    """Read an experiment: one variable, set to 0 or 1."""
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        return None
    assignments = data.get("assignments")
    if data["type"].strip() != "hard_do" or not isinstance(assignments, Mapping):
        return None
    if len(assignments) != 1:
        return None
    [(name, given)] = assignments.items()
    v, value = numbers(n).get(name), _binary(given)
    return None if v is None or value is None else (v, value)


def _binary(given: Any) -> int | None:
    """Read a value as the released scorer does: 0, 1, their texts, booleans, 1.0."""
    if isinstance(given, str):
        return BINARY.get(given.strip())
    if isinstance(given, bool | int | float) and given in (0, 1):
        return int(given)
    return None


def _is_witness(seen: Contrast, chosen: tuple[int, int], data: Any) -> bool:
    """Check whether at least one listed difference really occurs on the given root assignment."""
    if not isinstance(data, Mapping):
        return False
    assignment, listed = data.get("rootAssignment"), data.get("differences")
    if not isinstance(assignment, Mapping) or not isinstance(listed, Sequence):
        return False
    n = len(seen.differences)
    known = numbers(n)
    values = {known.get(name): _binary(value) for name, value in assignment.items()}
    if set(values) != set(seen.on.roots) or None in values.values():
        return False
    at = sum((values[root] or 0) << i for i, root in enumerate(seen.on.roots))
    row = seen.on.width * (2 * chosen[0] + chosen[1]) + at
    for claim in listed:
        if not isinstance(claim, Mapping) or not isinstance(claim.get("variable"), str):
            continue
        v = known.get(claim["variable"])
        if v is None or not seen.differences[v] >> row & 1:
            continue
        claimed = (_binary(claim.get("reference")), _binary(claim.get("alternative")))
        if claimed == (seen.first[v] >> row & 1, seen.second[v] >> row & 1):
            return True
    return False


@lru_cache(maxsize=2048)
def candidate_of(formulas: tuple[str, ...]) -> Candidate:
    """Return well-formed mechanisms as a candidate; an empty one marks a root."""
    n, scm = len(formulas), scm_of(formulas)
    read = tuple(parse(text, numbers(n)) if text else None for text in formulas)
    order = ordered(scm.parents, scm.own)
    if order is None:
        raise ValueError("these mechanisms depend on one another in a circle")
    return Candidate(scm.roots, read, scm.tables, scm.parents, order)
