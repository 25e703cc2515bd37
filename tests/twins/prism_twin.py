"""Slow, independent twin of Prism's version spaces: every system of a class, one by one.

Rules are written as tables over assignments, systems are checked for circles by looking for an
order, and values are computed by repeating all rules until nothing changes. Nothing here is shared
with the package, so agreement is evidence.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations, product

import numpy as np

Rule = tuple[tuple[int, ...], tuple[int, ...]]
"""Arguments, and the values; the first argument changes fastest."""


def tables(arity: int, monotone: bool) -> Iterator[tuple[int, ...]]:
    for table in product((0, 1), repeat=2**arity):
        pairs = [[(c, c + 2**i) for c in range(2**arity) if not c >> i & 1] for i in range(arity)]
        needed = all(any(table[a] != table[b] for a, b in some) for some in pairs)
        rising = all(table[a] <= table[b] for some in pairs for a, b in some)
        if needed and (rising or not monotone):
            yield table


def ordered(parents: list[set[int]], driven: range) -> bool:
    """Whether some order of the driven variables puts all arguments first."""
    return any(
        all(parents[v - driven.start] & set(driven) <= set(order[:i]) for i, v in enumerate(order))
        for order in permutations(driven)
    )


class Twin:
    """All systems of a class, and what each shows under each design."""

    def __init__(self, n: int, roots: int, cls: str, hidden: int) -> None:
        self.n, self.roots, self.coins = n, roots, range(1 + hidden)
        self.driven = range(roots, n)
        most, monotone = {"mono": (2, True), "any": (2, False), "mono3": (3, True)}[cls]
        choices: list[list[Rule]] = [
            [
                (arguments, table)
                for arity in range(1, most + 1)
                for arguments in combinations([u for u in range(n + hidden) if u != v], arity)
                for table in tables(arity, monotone)
            ]
            for v in self.driven
        ]
        graphs: dict[tuple[tuple[int, ...], ...], bool] = {}
        self.systems: list[tuple[Rule, ...]] = []
        for system in product(*choices):
            arguments = tuple(rule[0] for rule in system)
            if arguments not in graphs:
                users = sum(n in some for some in arguments)
                graphs[arguments] = users <= 2 and ordered([set(a) for a in arguments], self.driven)
            if graphs[arguments]:
                self.systems.append(system)
        self.designs = [
            (inputs, held)
            for inputs in product((0, 1), repeat=roots)
            for many in range(min(2, len(self.driven)) + 1)
            for chosen in combinations(self.driven, many)
            for at in product((0, 1), repeat=many)
            for held in [tuple(zip(chosen, at, strict=True))]
        ]
        self.place = {design: i for i, design in enumerate(self.designs)}
        self.shown = np.stack([self._run(coin) for coin in self.coins])

    def _run(self, coin: int) -> np.ndarray:
        """Values by system, design and variable, by repeating the rules until all are stable."""
        found = np.zeros((len(self.systems), len(self.designs), self.n + 1), dtype=np.uint8)
        found[:, :, self.n] = coin
        for i, (inputs, held) in enumerate(self.designs):
            found[:, i, : self.roots] = inputs
            for v, x in held:
                found[:, i, v] = x
        most = max(len(a) for system in self.systems for a, _ in system)
        every = np.arange(len(self.systems))[:, None]
        for _ in self.driven:
            for v in self.driven:
                rules = [system[v - self.roots] for system in self.systems]
                values = np.array([list(t) * (2**most // len(t)) for _, t in rules], dtype=np.uint8)
                at = np.zeros(found.shape[:2], dtype=np.int64)
                for i in range(most):
                    argument = np.array([a[i] if i < len(a) else -1 for a, _ in rules])
                    bits = found[every[:, 0], :, argument].astype(np.int64)
                    at += np.where(argument[:, None] >= 0, bits, 0) << i
                new = values[every, at]
                free = np.array([v not in dict(held) for _, held in self.designs])
                found[:, free, v] = new[:, free]
        return found[:, :, : self.n]

    def fit(self, trials) -> np.ndarray:
        """The weights of all systems: the probability of what the trials show."""
        weights = np.ones(len(self.systems))
        for inputs, held, values in trials:
            hits = (self.shown[:, :, self.place[inputs, held]] == values).all(axis=2)
            weights *= hits.mean(axis=0)
        return weights

    def verdict(self, trials, question) -> tuple[int, str | None, Fraction | None]:
        """The number of systems that fit, the answer, and the probability of yes."""
        weights = self.fit(trials)
        numbers = np.flatnonzero(weights)
        told = yes = Fraction(0)
        for number in numbers:
            weight = Fraction(float(weights[number]))
            noted, both = self.share(int(number), trials, question)
            told, yes = told + weight * noted, yes + weight * both
        if not told:
            return len(numbers), None, None
        answer = "no" if yes == 0 else "yes" if yes == told else "cannot"
        return len(numbers), answer, yes / told

    def share(self, number: int, trials, q) -> tuple[Fraction, Fraction]:
        system = self.systems[number]
        if q.kind == "direct":
            return Fraction(1), Fraction(q.x in system[q.y - self.roots][0])
        if q.kind == "ancestor":
            reached = set(system[q.y - self.roots][0])
            for _ in range(self.n):
                for v in [v for v in reached if v in self.driven]:
                    reached |= set(system[v - self.roots][0])
            return Fraction(1), Fraction(q.x in reached)

        def y(inputs, held, coin) -> bool:
            place = self.place[tuple(inputs), tuple(sorted(held))]
            return self.shown[coin, number, place, q.y] == q.value

        if q.kind == "goal":
            plans = [
                tuple(zip(chosen, at, strict=True))
                for many in range(q.most + 1)
                for chosen in combinations(q.holdable, many)
                for at in product((0, 1), repeat=many)
            ]
            works = any(all(y(q.inputs, plan, coin) for coin in self.coins) for plan in plans)
            return Fraction(1), Fraction(works)
        if q.kind == "do":
            return Fraction(1), Fraction(
                sum(y(q.inputs, q.held, c) for c in self.coins), len(self.coins)
            )
        if q.kind == "had":
            inputs, held, values = trials[q.trial]
            place = self.place[inputs, held]
            fits = [c for c in self.coins if tuple(self.shown[c, number, place]) == values]
            return Fraction(1), Fraction(sum(y(inputs, held + q.held, c) for c in fits), len(fits))
        cases = [(i, c) for i in product((0, 1), repeat=self.roots) for c in self.coins]
        seen = [
            (inputs, coin)
            for inputs, coin in cases
            if all(self.shown[coin, number, self.place[inputs, ()], v] == x for v, x in q.noted)
        ]
        both = sum(y(inputs, q.held if q.kind == "case" else (), coin) for inputs, coin in seen)
        return Fraction(len(seen), len(cases)), Fraction(both, len(cases))


@lru_cache(maxsize=16)
def twin(n: int, roots: int, cls: str, hidden: int) -> Twin:
    return Twin(n, roots, cls, hidden)
