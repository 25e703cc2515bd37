"""All Boolean systems of a class that fit trials: their number, their list, and what they predict.

The first r of n variables are inputs, which every trial sets. Each other variable is driven: it is
a Boolean function of other variables, all of them essential, and the whole has no circle. A trial
may hold some driven variables at values; their own rules are then off. A class may have one hidden
input, numbered n: a fair coin in each trial that is never seen and is an argument of at most two
driven variables.

Claim: a system fits a trial if and only if each rule agrees with the trial's values where its
variable is free. So the systems that fit are the acyclic combinations of rules that fit one by one.
If there is a hidden input, the rules must also agree on its value in every trial.

All systems are evaluated on all designs at once: a design is a lane, 64 lanes are a machine word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from whybench.causal.acyclic import acyclic_codes, acyclic_sum, parents_code
from whybench.causal.boolean import essential

CLASSES = {"mono": (2, True), "any": (2, False), "mono3": (3, True)}
"""Name of a class → the most arguments of a rule, and whether rules must be monotone."""

MOST_HELD = 2
"""The most variables that a design holds."""

Ints: TypeAlias = NDArray[Any]


class Rule(NamedTuple):
    """A Boolean function: bit Σ value(arguments[i]) << i of `table` is its value."""

    arguments: tuple[int, ...]
    table: int


System: TypeAlias = tuple[Rule, ...]
"""The rules of the driven variables r … n−1."""


class Design(NamedTuple):
    """What a trial sets: the driven variables that are held, and the values of these and inputs."""

    targets: int
    values: int


class Row(NamedTuple):
    """A trial: the driven variables that were held, and the values of all n variables."""

    targets: int
    values: int


@lru_cache(maxsize=16)
def functions(arity: int, monotone: bool) -> tuple[int, ...]:
    """Return the tables of the functions in which every argument is essential."""
    found = []
    for table in range(1, (1 << (1 << arity)) - 1):
        if essential(table, arity) == (1 << arity) - 1:
            pairs = ((r, r | 1 << i) for r in range(1 << arity) for i in range(arity))
            if not monotone or all(table >> a & 1 <= table >> b & 1 for a, b in pairs):
                found.append(table)
    return tuple(found)


@dataclass(frozen=True)
class Space:
    """A class of systems."""

    n: int
    """The number of variables that are seen."""
    roots: int
    """The number of inputs."""
    cls: str
    """Which rules are possible: a name in `CLASSES`."""
    hidden: int = 0
    """The number of hidden inputs: 0 or 1."""

    @property
    def driven(self) -> int:
        """The number of driven variables."""
        return self.n - self.roots

    @property
    def tables(self) -> Tables:
        """What depends on the class alone; cached."""
        return _tables(self)

    def design(self, row: Row) -> Design:
        """Return what a trial set."""
        return Design(row.targets, row.values & ((1 << self.roots) - 1 | row.targets))


@lru_cache(maxsize=32)
def _tables(space: Space) -> Tables:
    return Tables(space)


class Tables:
    """All rules and designs of a class, as arrays."""

    def __init__(self, space: Space) -> None:
        n, roots, d = space.n, space.roots, space.driven
        arity, monotone = CLASSES[space.cls]
        self.space = space
        self.rules: list[Rule] = []
        of: list[int] = []
        for v in range(roots, n):
            others = [u for u in range(n + space.hidden) if u != v]
            for size in range(1, arity + 1):
                for arguments in combinations(others, size):
                    made = [Rule(arguments, table) for table in functions(size, monotone)]
                    self.rules += made
                    of += [v] * len(made)
        self.number = {(v, rule): i for i, (v, rule) in enumerate(zip(of, self.rules, strict=True))}
        self.of = np.array(of)
        """The variable of each rule."""
        self.arguments = np.full((len(of), arity), n + 1)
        """The arguments of each rule; n + 1 stands for none and is always 0."""
        for i, rule in enumerate(self.rules):
            self.arguments[i, : len(rule.arguments)] = rule.arguments
        self.sets = np.array([sum(1 << u for u in rule.arguments) for rule in self.rules])
        self.among = self.sets >> roots & ((1 << d) - 1)
        """The driven arguments of each rule."""
        self.codes = np.array(
            [parents_code(d, v - roots, int(p)) for v, p in zip(of, self.among, strict=True)]
        )
        self.uses_hidden = self.sets >> n & 1
        table = np.array([rule.table for rule in self.rules])
        self.says = np.stack([self._outputs(table, u) for u in range(1 + space.hidden)])
        """By hidden input and values of all variables: the value of each rule."""
        self.polynomial = _polynomials(self.rules, arity)
        self._list_designs()

    def _outputs(self, table: Ints, hidden: int) -> Ints:
        n = self.space.n
        cells = np.arange(1 << n)[:, None] | hidden << n
        at = sum((cells >> self.arguments[:, i] & 1) << i for i in range(self.arguments.shape[1]))
        return np.asarray(table >> at & 1, dtype=np.uint8)

    def _list_designs(self) -> None:
        n, roots = self.space.n, self.space.roots
        self.designs = [
            Design(
                sum(1 << v for v in held),
                inputs | sum(x << v for x, v in zip(at, held, strict=True)),
            )
            for size in range(min(MOST_HELD, n - roots) + 1)
            for held in combinations(range(roots, n), size)
            for at in product((0, 1), repeat=size)
            for inputs in range(1 << roots)
        ]
        self.place = {design: i for i, design in enumerate(self.designs)}
        sets = [[design.targets for design in self.designs], [d.values for d in self.designs]]
        self._bits = (np.array(sets)[:, None, :] >> np.arange(n)[:, None] & 1).astype(np.uint8)
        self.inputs = np.array(sets[1], dtype=np.uint8) & np.uint8((1 << roots) - 1)

    def lanes(self, places: Ints) -> Ints:
        """Return what designs hold, and the values of that and of inputs, as words of 64 lanes."""
        bits = np.zeros((2, self.space.n, -(-len(places) // 64) * 64), dtype=np.uint8)
        bits[:, :, : len(places)] = self._bits[:, :, places]
        return np.packbits(bits, axis=2, bitorder="little").view("<u8").astype(np.uint64)


def _polynomials(rules: Sequence[Rule], arity: int) -> Ints:
    """Return each rule as a sum modulo 2 of products of arguments: a word of 0 or all ones each."""
    found = np.zeros((len(rules), 1 << arity), dtype=np.uint64)
    for i, rule in enumerate(rules):
        terms = [rule.table >> cell & 1 for cell in range(1 << len(rule.arguments))]
        for j in range(len(rule.arguments)):
            for cell in range(len(terms)):
                if cell >> j & 1:
                    terms[cell] ^= terms[cell ^ 1 << j]
        found[i, : len(terms)] = [(1 << 64) - 1 if term else 0 for term in terms]
    return found


def fitting(space: Space, rows: Sequence[Row]) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Return which rules fit one by one, and the trials in which they force the hidden input.

    The last two arrays are sets of trials: where the hidden input must be 0, and where it must
    be 1.
    """
    tables = space.tables
    alive = np.ones(len(tables.of), dtype=bool)
    low, high = (np.zeros(len(tables.of), dtype=np.int64) for _ in range(2))
    for t, (targets, values) in enumerate(rows):
        held = targets >> tables.of & 1 == 1
        agree = [says[values] == values >> tables.of & 1 for says in tables.says]
        if space.hidden:
            alive &= agree[0] | agree[1] | held
            low |= (agree[0] & ~agree[1] & ~held).astype(np.int64) << t
            high |= (agree[1] & ~agree[0] & ~held).astype(np.int64) << t
        else:
            alive &= agree[0] | held
    return alive, low, high


def count(space: Space, rows: Sequence[Row]) -> int:
    """Count the systems that fit, without listing them; the class has no hidden input."""
    if space.hidden:
        raise ValueError("systems with a hidden input are counted by listing them")
    return _count(space, fitting(space, rows)[0])


def _count(space: Space, alive: NDArray[np.bool_]) -> int:
    """Count the acyclic combinations of rules."""
    tables, d = space.tables, space.driven
    totals = np.zeros((d, 1 << d), dtype=np.int64)
    np.add.at(totals, (tables.of[alive] - space.roots, tables.among[alive]), 1)
    for u in range(d):
        halves = totals.reshape(d, -1, 2, 1 << u)
        halves[:, :, 1] += halves[:, :, 0]
    columns: list[list[int]] = totals.T.tolist()
    return acyclic_sum(d, columns.__getitem__)


class VersionSpace:
    """The listed systems that fit trials."""

    def __init__(self, space: Space, rules: Ints, forced: Ints, codes: Ints | None = None) -> None:
        self.space = space
        self.rules = rules
        """For each system and driven variable, the number of its rule."""
        self.forced = forced
        """For each system, the number of trials in which it forces the hidden input."""
        self._codes = codes

    def __len__(self) -> int:
        return len(self.rules)

    @classmethod
    def of(cls, space: Space, rows: Sequence[Row], most: int) -> VersionSpace | None:
        """List the systems that fit; None if there are more than `most`."""
        alive, low, high = fitting(space, rows)
        if not space.hidden and _count(space, alive) > most:
            return None
        tables, d = space.tables, space.driven
        choices = [np.flatnonzero(alive & (tables.of == v)) for v in range(space.roots, space.n)]
        order = sorted(range(d), key=lambda v: (len(choices[v]), v))
        chosen = np.zeros((1, d), dtype=np.int64)
        graph, zero, one, using = (np.zeros(1, dtype=np.int64) for _ in range(4))
        acyclic = acyclic_codes(d)
        for v in order:
            some = choices[v]
            if space.hidden and len(graph) * len(some) > 400 * most:
                return None
            together = graph[:, None] | tables.codes[some]
            fine = acyclic[together]
            if space.hidden:
                fine &= (zero[:, None] | low[some]) & (one[:, None] | high[some]) == 0
                fine &= using[:, None] + tables.uses_hidden[some] <= 2
            at, which = np.nonzero(fine)
            rule = some[which]
            graph, chosen = together[at, which], chosen[at]
            chosen[:, v] = rule
            if space.hidden:
                zero, one = zero[at] | low[rule], one[at] | high[rule]
                using = using[at] + tables.uses_hidden[rule]
        if len(chosen) > most:
            return None
        forced = sum(((zero | one) >> t & 1 for t in range(len(rows))), np.zeros_like(zero))
        return cls(space, chosen, forced)

    @cached_property
    def weights(self) -> Ints:
        """The weights of the systems, as integers: each forced hidden input halves a weight."""
        most = int(self.forced.max(initial=0))
        return np.asarray(1 << (most - self.forced), dtype=np.int64)

    @property
    def codes(self) -> Ints:
        """By hidden input, system and design: the values of all variables."""
        if self._codes is None:
            self._codes = self._evaluated(np.arange(len(self.space.tables.designs)))
        return self._codes

    def at(self, places: Sequence[int]) -> Ints:
        """Return the codes of some designs alone."""
        if self._codes is None:
            return self._evaluated(np.array(places))
        return self._codes[:, :, places]

    @cached_property
    def order(self) -> Ints:
        """For each system, its driven variables in a causal order."""
        d = self.space.driven
        parents = self.space.tables.among[self.rules]
        placed = np.zeros(len(self), dtype=np.int64)
        found = np.zeros((len(self), d), dtype=np.int64)
        bits = np.arange(d)
        for i in range(d):
            ready = (parents & ~placed[:, None] == 0) & (placed[:, None] >> bits & 1 == 0)
            found[:, i] = ready.argmax(axis=1)
            placed |= 1 << found[:, i]
        return found

    def _evaluated(self, places: Ints) -> Ints:
        hidden = range(1 + self.space.hidden)
        held, values = self.space.tables.lanes(places)
        return np.stack([self._shown(places, ~held, values, u) for u in hidden])

    def _shown(self, places: Ints, free: Ints, values: Ints, hidden: int) -> Ints:
        tables, n, roots = self.space.tables, self.space.n, self.space.roots
        every = np.arange(len(self))
        lanes = np.zeros((len(self), n + 2, values.shape[1]), dtype=np.uint64)
        lanes[:, :roots] = values[:roots]
        if hidden:
            lanes[:, n] = ~np.uint64(0)
        for place in self.order.T:
            rule, v = self.rules[every, place], place + roots
            value = self._polynomial(lanes, tables.arguments[rule], tables.polynomial[rule])
            lanes[every, v] = value & free[v] | values[v] & ~free[v]
        codes = np.tile(tables.inputs[places], (len(self), 1))
        for v in range(roots, n):
            octets = np.ascontiguousarray(lanes[:, v]).astype("<u8").view(np.uint8)
            bits = np.unpackbits(octets, axis=1, count=len(places), bitorder="little")
            codes |= bits << np.uint8(v)
        return codes

    @staticmethod
    def _polynomial(lanes: Ints, arguments: Ints, terms: Ints) -> Ints:
        every = np.arange(len(lanes))
        products = [np.broadcast_to(~np.uint64(0), lanes[:, 0].shape)]
        for argument in arguments.T:
            value = lanes[every, argument]
            products += [product & value for product in products]
        found = np.zeros_like(lanes[:, 0])
        for i, product_ in enumerate(products):
            found ^= product_ & terms[:, i, None]
        return found

    @cached_property
    def ancestors(self) -> Ints:
        """For each system and variable, the set of variables from which a chain of rules leads."""
        tables, roots = self.space.tables, self.space.roots
        every = np.arange(len(self))
        found = np.zeros((len(self), self.space.n + 2), dtype=np.int64)
        for place in self.order.T:
            rule = self.rules[every, place]
            mine = tables.sets[rule]
            for argument in tables.arguments[rule].T:
                mine = mine | found[every, argument]
            found[every, place + roots] = mine
        return found

    def where(self, keep: Ints, forced: Ints | int = 0) -> VersionSpace:
        """Return some of the systems; `forced` counts further forced hidden inputs."""
        codes = None if self._codes is None else self._codes[:, keep]
        return VersionSpace(self.space, self.rules[keep], (self.forced + forced)[keep], codes)

    def given(self, row: Row) -> VersionSpace:
        """Return the systems that also fit one more trial, by what they predict."""
        place = self.space.tables.place[self.space.design(row)]
        fits = self.at([place])[:, :, 0] == row.values
        return self.where(fits.any(axis=0), (~fits.all(axis=0)).astype(np.int64))

    def system(self, i: int) -> System:
        """Return a system."""
        return tuple(self.space.tables.rules[rule] for rule in self.rules[i])


def outcome(space: Space, system: System, design: Design, hidden: int = 0) -> Row:
    """Return what a system shows under a design."""
    values = design.values | hidden << space.n
    waiting = [v for v in range(space.roots, space.n) if not design.targets >> v & 1]
    known = (1 << space.roots) - 1 | design.targets | 1 << space.n
    while waiting:
        for v in waiting:
            arguments, table = system[v - space.roots]
            if all(known >> u & 1 for u in arguments):
                at = sum((values >> u & 1) << i for i, u in enumerate(arguments))
                values |= (table >> at & 1) << v
                known |= 1 << v
        left = [v for v in waiting if not known >> v & 1]
        if len(left) == len(waiting):
            raise ValueError("the rules have a circle")
        waiting = left
    return Row(design.targets, values & ((1 << space.n) - 1))


def bits_of(values: int, n: int) -> tuple[int, ...]:
    """Return the values of n variables one by one."""
    return tuple(values >> v & 1 for v in range(n))
