"""A hidden system prepared for rank arguments, for the check of certificates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from whybench.episode.instance import Instance
from whybench.families.causalab.proof.checker.algebra import (
    Row,
    cleared,
    null_space,
    only_zero,
    rank,
)
from whybench.families.causalab.proof.checker.graphs import reached, undecided
from whybench.families.causalab.proof.checker.readings import (
    carried_out,
    effects,
    grounds,
    rows,
    whole,
)
from whybench.families.causalab.world.world import FREQUENCY, Reading, View, World

FINEST = (0.05, 0.0005)
"""Smaller linear and square weights of a quadratic law count as none."""


def sharp(view: View, v: int, own: Sequence[int], readings: Sequence[Reading]) -> bool:
    """Tell whether rounded readings exclude every other quadratic equation of v.

    An equation that fits is off by at most 0.005 at every reading, so it is close to the best fit.
    """
    placed = grounds(view, v, readings)
    places = sorted({place for place in placed if place is not None})
    table = np.array(
        [
            [reading.values[u] ** power for power in (1, 2) for u in own]
            + [float(place == ground) for place in places]
            for reading, ground in zip(readings, placed, strict=True)
        ]
    )
    if np.linalg.matrix_rank(table / abs(table).max(axis=0)) < table.shape[1]:
        return False
    room = 0.005 * abs(np.linalg.pinv(table)).sum(axis=1)
    d = len(own)
    return bool((room[:d] < FINEST[0]).all() and (room[d : 2 * d] < FINEST[1]).all())


def settled(world: World, v: int, own: Sequence[int], readings: Sequence[Reading]) -> bool:
    """Tell whether no other linear equation of v fits if each reading is off by −s, 0 or s."""
    view, hidden = world.view, world.disturbance
    size = round(100 * view.disturbance)
    first = len(view.records)
    placed = grounds(view, v, readings)
    movable = v != FREQUENCY or view.frequency_disturbed
    places = [place for place in set(placed) if place is not None and placed.count(place) > 1]
    table: list[tuple[Row, list[int]]] = []
    for t, (reading, ground) in enumerate(zip(readings, placed, strict=True)):
        if ground is not None and ground not in places:
            continue
        x, off = whole(reading.values), [0]
        if not reading.passive and movable and hidden is not None:
            true = round(100 * hidden.after(t - first))
            true = true if hidden.affected >> v & 1 else 0
            off = [true - guess for guess in (0, size, -size)]
        table.append(((*(x[u] for u in own), *(int(p == ground) for p in places)), off))
    table.sort(key=lambda line: len(line[1]))
    return not own or (bool(table) and only_zero(table, len(own)))


class Lab:
    """A hidden system prepared for rank arguments."""

    def __init__(self, instance: Instance, world: World) -> None:
        self.instance, self.world, self.view = instance, world, world.view
        self.k, graph = world.law.k, world.law.graph
        self.edges = [(term.cause, v) for v, terms in enumerate(world.law.terms) for term in terms]
        self.below = [reached(graph, v) for v in range(self.k)]
        self.controllable = [v for v in range(1, self.k) if self.view.controllable >> v & 1]
        self.exact = not (self.view.quadratic or self.view.disturbance)
        self.given = [*self.view.records, self.view.baseline]
        self.start = whole(self.view.baseline.values)
        self.effects = [effects(world, j) for j in range(self.k)]
        self.rows = [rows(self.view, v, self.given) for v in range(self.k)]

    # Exact linear laws.

    def columns(self, v: int, below: Sequence[int]) -> list[int]:
        """Return possible causes of v: not its effects, nor the frequency if the prompt says so."""
        barred = below[v] | 1 << v | (self.view.sink and 1 << FREQUENCY)
        return [u for u in range(self.k) if not barred >> u & 1]

    def forced(self, touched: Sequence[int], effects: Sequence[Row], below: Sequence[int]) -> bool:
        """Tell whether setting these properties, to any values, forces every equation."""
        wanted = [(v, self.columns(v, below)) for v in range(self.k)]
        wanted.sort(key=lambda item: (item[0] == FREQUENCY, -len(item[1]), item[0] in touched))
        for v, columns in wanted:
            if rank(self.conditions(v, touched, effects), columns) < len(columns):
                return False
        return True

    def conditions(self, v: int, touched: Sequence[int], effects: Sequence[Row]) -> list[Row]:
        """Return what a change of v's weights must be orthogonal to, for any set values.

        Readings move along the effects of the set properties. Under `shift`, setting v reveals its
        base.
        """
        known = [self.start] if v in touched and self.view.semantics == "shift" else []
        return [*self.rows[v], *(effects[j] for j in touched if j != v), *known]

    def fewest(self) -> tuple[int, ...] | None:
        """Return a smallest sufficient set of properties, run in an episode; None if none fits.

        Setting more properties never loses information, so the search goes down from the largest
        sets, one property at a time.
        """
        best = None
        for size in range(min(self.view.budget, len(self.controllable)), -1, -1):
            sets = combinations(self.controllable, size)
            found = next((s for s in sets if self.forced(s, self.effects, self.below)), None)
            if found is None:
                break
            best = found
        if best is None or not self.shown(carried_out(self.instance, self.world, best)):
            return None
        return best

    def shown(self, readings: Sequence[Reading]) -> bool:
        """Tell whether readings alone force every equation."""
        wanted = ((v, self.columns(v, self.below)) for v in range(self.k))
        return all(rank(rows(self.view, v, readings), own) == len(own) for v, own in wanted)

    @property
    def bounded(self) -> bool:
        """Whether setting every property once suffices: linear, and a stated sink."""
        every = len(self.controllable) == self.k - 1
        return every and self.exact and self.view.sink and all(r.passive for r in self.given)

    def worst_case(self) -> int | None:
        """Return the worst case over laws with the same first readings; None if it stays open.

        Let p be the property that is set first. Consider two kinds of laws: no property causes
        another, or all others are effects of p alone. In the second kind they have base 0, or move
        in proportion to their difference from the first record. If no k − 2 properties including p
        force one of these laws, for every p, then k − 1 are needed. Otherwise the result is open.
        The exception is k = 3: it is 1 if setting p forces the true law. A first reading of 0
        cannot explain one that is not 0, which leaves fewer such laws.
        """
        k, own = self.k, self.controllable
        empty = [tuple(int(u == j) for u in range(k)) for j in range(k)]
        for p in own:
            laws = [(empty, [0] * k)]
            for moves in (self.start, *self.rows[FREQUENCY][:1]):
                star, below = list(empty), [0] * k
                star[p], below[p] = moves, sum(1 << u for u in own if u != p and moves[u])
                laws += [(star, below)] if moves[p] else []
            sets = [s for s in combinations(own, k - 2) if p in s]
            if all(any(self.forced(s, *law) for s in sets) for law in laws):
                enough = self.forced((p,), self.effects, self.below)
                return 1 if k == 3 and enough else None
        return k - 1

    def frequency_identified(self, identified: bool) -> bool | None:
        """Tell whether the reactor's frequency can be forced; None if this stays open.

        It is forced if the step to the reactor's crystal is a combination of observed steps. The
        result must not depend on which properties are set, as many as the budget allows.
        """
        if identified or not (self.view.sink and self.exact):
            return identified or None
        own = self.columns(FREQUENCY, self.below)
        reactor = whole(self.world.shown())
        step = tuple(a - b for a, b in zip(reactor, self.start, strict=True))
        verdicts = set()
        size = min(self.view.budget, len(self.controllable))
        for touched in combinations(self.controllable, size):
            seen = self.conditions(FREQUENCY, touched, self.effects)
            verdicts.add(rank([*seen, step], own) == rank(seen, own))
        return verdicts.pop() if len(verdicts) == 1 else None

    def undecided(self) -> int:
        """Count edges that some fitting laws have and others do not, after all settings."""
        if self.forced(self.controllable, self.effects, self.below):
            return 0
        readings = carried_out(self.instance, self.world, self.controllable * 2)
        spaces = []
        for v, terms in enumerate(self.world.law.terms):
            law = [Fraction(0)] * self.k
            for term in terms:
                law[term.cause] = Fraction(str(term.linear))
            columns = self.columns(v, [0] * self.k)
            free = null_space(rows(self.view, v, readings), columns, self.k)
            spaces.append([cleared(law), *free])
        return undecided(self.k, spaces)

    # Quadratic and disturbed worlds.

    def counted(self) -> int:
        """Return the fewest settings by counting: each reading gives a quantity one equation."""
        unknowns = 2 * (self.k - 1) + 1
        passive = [self.powers(reading) for reading in self.given if reading.passive]
        most = max(2 * len(self.columns(v, self.below)) for v in range(1, self.k))
        return max(most, unknowns - rank(passive, range(unknowns)))

    def powers(self, reading: Reading) -> Row:
        """Return 1, the properties and, in a quadratic system, their squares."""
        x = whole(reading.values)[1:]
        return (1, *x, *(a * a for a in x if self.view.quadratic))

    def forced_by_some_run(self) -> bool:
        """Tell whether one of several runs forces every equation."""
        runs = (carried_out(self.instance, self.world, targets) for targets in self._runs())
        return any(all(self._forces(v, readings) for v in range(self.k)) for readings in runs)

    def _runs(self) -> list[tuple[int, ...]]:
        """Return the settings of each run: all properties in turn, or several times each."""
        causes = sorted(self.controllable, key=lambda v: -self.below[v].bit_count())
        orders = (self.controllable, self.controllable[::-1], causes, causes[::-1])
        runs = [order * rounds for order in orders for rounds in (2, 4)]
        runs += [[v for v in order for _ in range(rounds)] for order in orders for rounds in (2, 4)]
        return list(dict.fromkeys(tuple(run[: self.view.budget]) for run in runs))

    def _forces(self, v: int, readings: Sequence[Reading]) -> bool:
        """Tell whether rounded or disturbed readings leave v exactly one equation."""
        own = self.columns(v, self.below)
        if self.view.quadratic:
            return sharp(self.view, v, own, readings)
        return settled(self.world, v, own, readings)
