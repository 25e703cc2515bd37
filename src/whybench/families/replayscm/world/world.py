"""The hidden system: a Boolean SCM, and the tables of rows that it produced under interventions.

Variables are 0 … n−1 and are called X1 … Xn. A set of variables is an integer; variable v is the
bit `1 << v`. Rows are stored in columns: bit r of a variable's column is its value in row r. The
paper calls one intervention with its rows a world; here it is a `Table`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import Literal

from whybench.causal.boolean import essential, parse, transposed, truth_table
from whybench.causal.canonical import EMPTY, Record
from whybench.causal.graph import members

Task = Literal["induce", "alternative", "rows"]
"""The task: find mechanisms; find an alternative to given ones, with an experiment; or say what
the worlds show of one cell of another row."""

ANSWERS = ("yes", "no", "cannot")
"""The answers of the task `rows`. Of three questions about the same worlds, each has one."""

Disclosure = Literal["ordered", "block", "hidden", "roots"]
"""What is disclosed of the structure: a full order, blocks, the roots, or only their number."""

Mode = Literal["none", "hard_constant", "hard_assigned"]
"""How a table's targets are clamped: not at all, to one value each, or row by row."""


@dataclass(frozen=True, slots=True)
class Table:
    """One intervention and the rows seen under it."""

    targets: int
    mode: Mode
    size: int
    """The number of rows."""
    columns: tuple[int, ...]
    """One for each variable; a target's column holds what it was set to."""

    def rows(self) -> tuple[int, ...]:
        """Return each row as a set: the variables that are 1."""
        return transposed(self.columns, self.size)

    @classmethod
    def of(cls, n: int, targets: int, mode: Mode, rows: Sequence[int]) -> Table:
        """Build a table from rows given as sets."""
        return cls(targets, mode, len(rows), transposed(rows, n))


@dataclass(frozen=True, slots=True)
class Asked:
    """The question whether a variable is 1 in a further row, whose roots and targets are shown."""

    targets: int
    row: int
    """The roots and targets that are 1."""
    variable: int


@dataclass(frozen=True, slots=True)
class Rows:
    """Concatenated tables as evidence: the value of each variable, and where it was free."""

    size: int
    columns: tuple[int, ...]
    free: tuple[int, ...]
    """For each variable, the rows in which it is not a target."""

    @classmethod
    def of(cls, n: int, tables: Iterable[Table]) -> Rows:
        """Lay tables end to end.

        >>> first, second = Table.of(2, 0, "none", [3, 0]), Table.of(2, 2, "hard_assigned", [2])
        >>> Rows.of(2, [first, second])
        Rows(size=3, columns=(1, 5), free=(7, 3))
        """
        columns, free, size = [0] * n, [0] * n, 0
        for table in tables:
            every = (1 << table.size) - 1
            for v in range(n):
                columns[v] |= table.columns[v] << size
                if not table.targets >> v & 1:
                    free[v] |= every << size
            size += table.size
        return cls(size, tuple(columns), tuple(free))


@dataclass(frozen=True, slots=True)
class Told:
    """The class of SCMs that are possible for the agent, from what is disclosed to it."""

    n: int
    k: int
    """The most essential parents of a mechanism."""
    root_count: int
    roots: int | None
    """The set of roots, or None if only their number is disclosed."""
    admissible: tuple[int, ...]
    """For each variable, its admissible parents if it is not a root."""
    ordered: bool = False
    """Whether a full order is disclosed, so that admissible parents cannot form a cycle."""

    @property
    def every(self) -> int:
        """The set of all variables."""
        return (1 << self.n) - 1

    def at_most(self, k: int) -> Told:
        """Return the class with at most k parents; a lower bound stays."""
        return replace(self, k=min(self.k, k))

    def root_sets(self) -> Iterator[int]:
        """Yield the sets of roots that the disclosure allows."""
        if self.roots is not None:
            yield self.roots
            return
        for chosen in combinations(range(self.n), self.root_count):
            yield sum(1 << v for v in chosen)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The concatenated tables of a problem, training first, with the place of each."""

    rows: Rows
    train: int
    """The rows of training tables."""
    tables: tuple[tuple[int, int], ...]
    """For each table its targets and its rows."""
    trained: int
    """How many of the tables are for training."""

    @classmethod
    def of(cls, n: int, train: Sequence[Table], heldout: Sequence[Table]) -> Sheet:
        """Lay tables end to end."""
        places, at = [], 0
        for table in (*train, *heldout):
            places.append((table.targets, ((1 << table.size) - 1) << at))
            at += table.size
        size = sum(table.size for table in train)
        rows = Rows.of(n, (*train, *heldout))
        return cls(rows, (1 << size) - 1, tuple(places), len(train))

    def counted(self, roots: int) -> list[bool]:
        """Return for each table whether an SCM with these roots has a scored cell in it."""
        own = ((1 << len(self.rows.columns)) - 1) & ~roots
        return [bool(own & ~targets) for targets, _ in self.tables]


@dataclass(frozen=True, slots=True)
class Scm:
    """A Boolean SCM as functions; the spelling of formulas does not count."""

    n: int
    roots: int
    tables: tuple[int, ...]
    """For each variable its mechanism's truth table over all n variables; 0 for roots."""

    @property
    def own(self) -> int:
        """The endogenous variables."""
        return ((1 << self.n) - 1) & ~self.roots

    @property
    def parents(self) -> tuple[int, ...]:
        """For each variable, its essential parents."""
        return tuple(essential(truth, self.n) if truth else 0 for truth in self.tables)

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Return the edges of the graph of essential parents."""
        return tuple((u, v) for v, mask in enumerate(self.parents) for u in members(mask))

    def depths(self) -> tuple[int, ...]:
        """Return for each variable the length of the longest path to it; 0 for roots."""
        found = [0] * self.n
        parents = self.parents
        for v in ordered(parents, self.own) or ():
            found[v] = 1 + max((found[u] for u in members(parents[v])), default=0)
        return tuple(found)


def ordered(parents: Sequence[int], own: int) -> tuple[int, ...] | None:
    """Return the variables in `own`, parents before children; None if there is a cycle.

    >>> ordered((0, 0b101, 0b001), 0b110)
    (2, 1)
    """
    found: list[int] = []
    waiting = list(members(own))
    while waiting:
        later = []
        for v in waiting:
            if parents[v] & own:
                later.append(v)
            else:
                found.append(v)
        if len(later) == len(waiting):
            return None
        for v in found[len(found) - len(waiting) + len(later) :]:
            own ^= 1 << v
        waiting = later
    return tuple(found)


def descendants(parents: Sequence[int], v: int) -> int:
    """Return the variables that depend on a variable, directly or indirectly.

    >>> descendants((0, 0b001, 0b010), 0)
    6
    """
    found, before = 1 << v, 0
    while found != before:
        before = found
        for u, mask in enumerate(parents):
            if mask & before:
                found |= 1 << u
    return found & ~(1 << v)


@dataclass(frozen=True, slots=True)
class View:
    """Everything that an agent sees."""

    task: Task
    disclosure: Disclosure
    told: Told
    display: tuple[int, ...]
    """The variables in the order in which they are shown."""
    order: tuple[int, ...]
    """The full order of an ordered problem; empty otherwise."""
    blocks: tuple[tuple[int, ...], ...]
    """The blocks of a block-ordered problem, shuffled inside; empty otherwise."""
    train: tuple[Table, ...]
    heldout: int
    """How many tables are held out."""
    reference: tuple[str, ...] = ()
    """For Alternative-SCM: a formula for each variable, empty for roots."""
    released: bool = False
    """Whether the released rules apply: no bound on parents, cycles by mention."""
    asked: Asked | None = None
    """The question of the suite `rows`."""

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.told.n

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return names(self.n)


@dataclass(frozen=True)
class World:
    """The hidden system: the view, the mechanisms, and the held-out tables.

    The class has no slots, because results computed from a world are cached on it.
    """

    view: View
    formulas: tuple[str, ...]
    """The gold mechanisms, empty for roots."""
    heldout: tuple[Table, ...]
    cluster: str
    """The name of the gold SCM; equal for problems made from the same one."""
    facts: Record = EMPTY
    """Figures of the problem from its generator, such as coverage."""
    experiments: tuple[int, ...] = ()
    """In the laboratory: the budget, and a draw that represents the chance in all experiments."""

    @cached_property
    def gold(self) -> Scm:
        """The gold mechanisms as functions."""
        return scm_of(self.formulas)

    @cached_property
    def sheet(self) -> Sheet:
        """All tables end to end."""
        return Sheet.of(self.view.n, self.view.train, self.heldout)


@cache
def names(n: int) -> tuple[str, ...]:
    """Return the names of n variables."""
    return tuple(f"X{v + 1}" for v in range(n))


@cache
def numbers(n: int) -> dict[str, int]:
    """Return the number of each of n variables by its name."""
    return {name: v for v, name in enumerate(names(n))}


@cache
def names_of(n: int, variables: int) -> frozenset[str]:
    """Return the names of a set of n variables."""
    return frozenset(names(n)[v] for v in members(variables))


@lru_cache(maxsize=4096)
def scm_of(formulas: tuple[str, ...]) -> Scm:
    """Read mechanisms that are known to be well formed; an empty one marks a root."""
    n = len(formulas)
    roots = sum(1 << v for v, text in enumerate(formulas) if not text)
    read = (truth_table(parse(text, numbers(n)), n) if text else 0 for text in formulas)
    return Scm(n, roots, tuple(read))
