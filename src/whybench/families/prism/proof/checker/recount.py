"""List all systems that fit a second time, for `check`: one by one, with sets and recursion.

Nothing here is shared with the prover, which works on arrays of bits. A rule is a tuple of its
arguments and a tuple of its values, and a system is a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, product

from whybench.families.prism.world.world import Question, Trial, World

Function = tuple[tuple[int, ...], tuple[int, ...]]
"""Arguments, and the values over their assignments in the order of `product`."""

System = dict[int, Function]

Setting = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
"""The values of the inputs, and what is held."""

MOST_ARGUMENTS = {"mono": 2, "any": 2, "mono3": 3}


@cache
def shapes(arity: int, monotone: bool) -> tuple[tuple[int, ...], ...]:
    """Return the functions that need each of their arguments, as values."""
    cells = list(product((0, 1), repeat=arity))
    found = []
    for values in product((0, 1), repeat=len(cells)):
        of = dict(zip(cells, values, strict=True))
        rises = [
            [of[(*c[:i], 1, *c[i + 1 :])] - of[c] for c in cells if c[i] == 0] for i in range(arity)
        ]
        if all(any(rise) for rise in rises):
            if monotone and any(step < 0 for rise in rises for step in rise):
                continue
            found.append(values)
    return tuple(found)


def value_of(function: Function, values: dict[int, int]) -> int:
    """Return the value of a function."""
    arguments, table = function
    place = 0
    for u in arguments:
        place = 2 * place + values[u]
    return table[place]


class Recount:
    """The systems that fit the trials of a world."""

    def __init__(self, world: World) -> None:
        self.world, self.n, self.hidden = world, world.n, world.n
        self.driven = range(world.roots, world.n)
        self.coins = range(1 + world.hidden_inputs)
        self.systems = [
            system for system in self._combined(list(self.driven), {}) if self.weight(system)
        ]

    def _rules(self, v: int) -> Iterator[Function]:
        """Yield the rules of a variable that agree with every trial in which it is free."""
        world = self.world
        others = [u for u in range(self.n + world.hidden_inputs) if u != v]
        for arity in range(1, MOST_ARGUMENTS[world.cls] + 1):
            for arguments in combinations(others, arity):
                for table in shapes(arity, world.cls != "any"):
                    if self._agrees(v, (arguments, table)):
                        yield arguments, table

    def _agrees(self, v: int, function: Function) -> bool:
        for trial in self.world.trials:
            if v not in dict(trial.held):
                seen = dict(enumerate(trial.values))
                shown = {value_of(function, {**seen, self.hidden: coin}) for coin in self.coins}
                if trial.values[v] not in shown:
                    return False
        return True

    def _combined(self, left: list[int], so_far: System) -> Iterator[System]:
        """Yield the combinations without a circle, in which two rules at most use the coin."""
        if not left:
            yield dict(so_far)
            return
        v, *rest = left
        for rule in self._of(v):
            if not self._circle(v, rule, so_far):
                used = sum(self.hidden in arguments for arguments, _ in so_far.values())
                if used + (self.hidden in rule[0]) <= 2:
                    yield from self._combined(rest, {**so_far, v: rule})

    def _of(self, v: int) -> list[Function]:
        if not hasattr(self, "_lists"):
            self._lists = {u: list(self._rules(u)) for u in self.driven}
        return self._lists[v]

    def _circle(self, v: int, rule: Function, system: System) -> bool:
        waiting, met = list(rule[0]), set()
        while waiting:
            u = waiting.pop()
            if u == v:
                return True
            if u in system and u not in met:
                met.add(u)
                waiting += system[u][0]
        return False

    def shown(self, system: System, setting: Setting, coin: int) -> tuple[int, ...]:
        """Return the values of all variables under a setting."""
        inputs, held = setting
        values = {**dict(enumerate(inputs)), **dict(held), self.hidden: coin}

        def value(v: int) -> int:
            if v not in values:
                values[v] = value_of(system[v], {u: value(u) for u in system[v][0]})
            return values[v]

        return tuple(value(v) for v in range(self.n))

    def weight(self, system: System) -> Fraction:
        """Return the probability of the trials, given a system and what was set."""
        found = Fraction(1)
        for trial in self.world.trials:
            hits = sum(self.fits(system, trial, coin) for coin in self.coins)
            found *= Fraction(hits, len(self.coins))
        return found

    def fits(self, system: System, trial: Trial, coin: int) -> bool:
        """Tell whether a system shows a trial."""
        return self.shown(system, (trial.inputs, trial.held), coin) == trial.values

    # Questions.

    def share(self, system: System) -> tuple[Fraction, Fraction]:
        """Return the probability of what the question notes, and of that and yes."""
        asked = self.world.question
        if asked.kind == "direct":
            return Fraction(1), Fraction(asked.x in system[asked.y][0])
        if asked.kind == "ancestor":
            causes = {v: rule for v, rule in system.items() if v != asked.x}
            return Fraction(1), Fraction(
                self._leads(asked.x, asked.y, {**causes, asked.y: system[asked.y]})
            )
        if asked.kind == "goal":
            return Fraction(1), Fraction(any(self._works(system, plan) for plan in self._plans()))
        noted, yes, all_cases = 0, 0, 0
        for before, after, coin, seen in self._cases():
            all_cases += 1
            if seen is None or self._noted(self.shown(system, before, coin), seen):
                noted += 1
                yes += self._is(system, after, coin)
        if asked.kind == "had":  # the trial has been seen, whatever its probability was
            return Fraction(1), Fraction(yes, noted)
        return Fraction(noted, all_cases), Fraction(yes, all_cases)

    def _leads(self, x: int | None, y: int, system: System) -> bool:
        return any(u == x or (u in system and self._leads(x, u, system)) for u in system[y][0])

    def _is(self, system: System, setting: Setting, coin: int) -> bool:
        asked = self.world.question
        return self.shown(system, setting, coin)[asked.y] == asked.value

    def _works(self, system: System, setting: Setting) -> bool:
        return all(self._is(system, setting, coin) for coin in self.coins)

    def _plans(self) -> Iterator[Setting]:
        asked = self.world.question
        for choice in product((None, 0, 1), repeat=len(asked.holdable)):
            held = [(v, x) for v, x in zip(asked.holdable, choice, strict=True) if x is not None]
            if len(held) <= asked.most:
                yield asked.inputs, tuple(held)

    def _cases(self) -> Iterator[tuple[Setting, Setting, int, dict[int, int] | None]]:
        """Yield the equally likely cases: the trial, the asked trial, the coin, what is noted."""
        asked: Question = self.world.question
        for coin in self.coins:
            if asked.kind == "do":
                yield (asked.inputs, asked.held), (asked.inputs, asked.held), coin, None
            elif asked.kind == "had" and asked.trial is not None:
                trial = self.world.trials[asked.trial]
                before, after = (trial.inputs, trial.held), (trial.inputs, trial.held + asked.held)
                yield before, after, coin, dict(enumerate(trial.values))
            else:
                for inputs in product((0, 1), repeat=self.world.roots):
                    yield (inputs, ()), (inputs, asked.held), coin, dict(asked.noted)

    @staticmethod
    def _noted(values: Sequence[int], seen: dict[int, int]) -> bool:
        return all(values[v] == x for v, x in seen.items())

    @cached_property
    def verdict(self) -> tuple[str, Fraction]:
        """The answer and the probability of yes."""
        told = yes = Fraction(0)
        for system in self.systems:
            noted, both = self.share(system)
            told += self.weight(system) * noted
            yes += self.weight(system) * both
        return ("no" if not yes else "yes" if yes == told else "cannot"), yes / told
