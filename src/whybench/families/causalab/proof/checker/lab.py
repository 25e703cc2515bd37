"""A hidden system prepared for rank arguments, for the check of certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from whybench.episode.instance import Instance
from whybench.families.causalab.proof.checker.algebra import (
    Row,
    cleared,
    null_space,
    only_zero,
    rank,
)
from whybench.families.causalab.proof.checker.graphs import reached, verdicts
from whybench.families.causalab.proof.checker.readings import (
    carried_out,
    effects,
    grounds,
    rows,
    unrounded,
    whole,
)
from whybench.families.causalab.world.world import FREQUENCY, WEAKEST, Reading, View, World

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


def resolved(view: View, v: int, own: Sequence[int], readings: Sequence[Reading]) -> bool:
    """Tell whether rounded readings give v one linear equation, up to half the weakest weight.

    Causes are rounded too: an equation with weights w is off by at most 0.005 · (1 + Σ |w|) at
    every reading, which bounds its distance from the best fit.
    """
    if not own:
        return True
    solver, most = _best_fit(view, v, own, readings)
    room = 0.005 * abs(solver).sum(axis=1)[: len(own)]
    return bool((room * most < WEAKEST / 2).all())


def foretold(
    view: View, own: Sequence[int], readings: Sequence[Reading], reactor: Sequence[float]
) -> bool:
    """Tell whether rounded readings give the reactor's frequency within the tolerance."""
    solver, most = _best_fit(view, FREQUENCY, own, readings)
    pulls = np.array([*(reactor[u] for u in own), 1.0]) @ solver
    return bool(0.005 * most * (1 + abs(pulls).sum()) < view.tolerance)


def _best_fit(
    view: View, v: int, own: Sequence[int], readings: Sequence[Reading]
) -> tuple[NDArray[np.float64], float]:
    """Return the inverse of v's linear equations, and the most that 1 + Σ |w| can be.

    The most is infinite if equations are missing, or too close together for rounded readings.
    """
    placed = grounds(view, v, readings)
    places = sorted({place for place in placed if place is not None})
    table = np.array(
        [
            [reading.values[u] for u in own] + [float(place == ground) for place in places]
            for reading, ground in zip(readings, placed, strict=True)
        ]
    )
    known = [r.setting if p is None else 0.0 for r, p in _set_last(v, readings, placed)]
    solver = np.linalg.pinv(table)
    fit = solver @ (np.array([r.values[v] for r in readings]) - known)
    room = 0.005 * abs(solver).sum(axis=1)[: len(own)].sum()
    if np.linalg.matrix_rank(table) < table.shape[1] or room >= 1:
        return solver, np.inf
    return solver, float((1 + abs(fit[: len(own)]).sum()) / (1 - room))


def _set_last(
    v: int, readings: Sequence[Reading], placed: Sequence[int | None]
) -> Iterator[tuple[Reading, int | None]]:
    """Yield for each reading the last one in which v of its crystal was set, and its ground."""
    last: dict[int, Reading] = {}
    for reading, ground in zip(readings, placed, strict=True):
        if reading.target == v:
            last[reading.crystal] = reading
        yield last.get(reading.crystal, reading), ground


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
        self.rounded = self.view.rounded
        first = unrounded(world) if self.rounded else self.given
        self.start = whole(first[-1].values)
        self.effects = [effects(world, j) for j in range(self.k)]
        self.rows = [rows(self.view, v, first) for v in range(self.k)]

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
        if best is None:
            return None
        tries = [best]
        if self.rounded:  # some settings are too close together for rounded readings
            tries += [best[::-1], *self._runs()]
        runs = (carried_out(self.instance, self.world, touched) for touched in tries)
        return best if any(map(self.shown, runs)) else None

    def shown(self, readings: Sequence[Reading]) -> bool:
        """Tell whether readings alone force every equation."""
        wanted = ((v, self.columns(v, self.below)) for v in range(self.k))
        if self.rounded:
            return all(resolved(self.view, v, own, readings) for v, own in wanted)
        return all(rank(rows(self.view, v, readings), own) == len(own) for v, own in wanted)

    @property
    def bounded(self) -> bool:
        """Whether setting every property once suffices: linear, and a stated sink."""
        every = len(self.controllable) == self.k - 1
        exact = self.exact and not self.rounded
        return every and exact and self.view.sink and all(r.passive for r in self.given)

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
        result must not depend on which properties are set, as many as the budget allows. If
        readings are rounded, a run must give it within the tolerance too.
        """
        if (identified and not self.rounded) or not (self.view.sink and self.exact):
            return identified or None
        own = self.columns(FREQUENCY, self.below)
        if identified:
            return self._foretold(own)
        start, reactor = self.start, whole(self.world.shown())
        if self.rounded:
            own_bases = replace(self.world, bases=self.world.reactor, records=())
            reactor = whole(unrounded(own_bases)[0].values)
        step = tuple(a - b for a, b in zip(reactor, start, strict=True))
        verdicts = set()
        size = min(self.view.budget, len(self.controllable))
        for touched in combinations(self.controllable, size):
            seen = self.conditions(FREQUENCY, touched, self.effects)
            verdicts.add(rank([*seen, step], own) == rank(seen, own))
        if self.rounded and True in verdicts:
            return self._foretold(own)
        return verdicts.pop() if len(verdicts) == 1 else None

    def _foretold(self, own: Sequence[int]) -> bool | None:
        """Return True if one of several runs gives the reactor's frequency; None if none does."""
        runs = (carried_out(self.instance, self.world, run) for run in self._runs())
        shown = self.world.shown()
        return any(foretold(self.view, own, run, shown) for run in runs) or None

    def undecided(self) -> int:
        """Count edges that some fitting laws have and others do not, after all settings."""
        if self.forced(self.controllable, self.effects, self.below):
            return 0
        return sum(len(seen) == 2 for seen in self.verdicts().values())

    def named(self, *seen: str) -> str:
        """Return the edges with these verdicts over all laws that fit, by name."""
        names, found = self.view.names, self.verdicts()
        return " ".join(
            f"{names[p]}>{names[v]}" for p, v in sorted(found) if found[p, v] == {*seen}
        )

    def verdicts(self) -> dict[tuple[int, int], set[str]]:
        """Return whether each edge is present or absent in fitting laws, after all settings."""
        readings = carried_out(self.instance, self.world, self.controllable * 2)
        touched, spaces = self.controllable, []
        for v, terms in enumerate(self.world.law.terms):
            law = [Fraction(0)] * self.k
            for term in terms:
                law[term.cause] = Fraction(str(term.linear))
            columns = self.columns(v, [0] * self.k)
            seen = rows(self.view, v, readings)
            if self.rounded:
                seen = self.conditions(v, touched, self.effects)
                own = v in touched and self.view.semantics == "shift"
                seen += [self.effects[v]] * own
            free = null_space(seen, columns, self.k)
            spaces.append([cleared(law), *free])
        return verdicts(self.k, spaces)

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
        runs = [order * rounds for rounds in (1, 2, 4) for order in orders]
        runs += [[v for v in order for _ in range(rounds)] for order in orders for rounds in (2, 4)]
        return list(dict.fromkeys(tuple(run[: self.view.budget]) for run in runs))

    def _forces(self, v: int, readings: Sequence[Reading]) -> bool:
        """Tell whether rounded or disturbed readings leave v exactly one equation."""
        own = self.columns(v, self.below)
        if self.view.quadratic:
            return sharp(self.view, v, own, readings)
        return settled(self.world, v, own, readings)
