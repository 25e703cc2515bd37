"""The best plans of an experimenter that does not know the hidden system.

Up to five entities, an exhaustive search over belief states finds the plan. A belief state is the
set of orders that still fit the observations. Above five entities, the exact agent follows a fixed
plan with a proven worst case.

If some entities are fixed, two orders are *alike* if every sequence of allowed interventions shows
the same under both. The right answer for an order is `cannot` if an order that is alike has the
other answer: no allowed experiment settles the question.
"""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from math import inf, log2

import numpy as np
import numpy.typing as npt

from whybench.causal.graph import members, transpose
from whybench.families.causallink.world.world import State, View, World, started, stopped

EXACT_UP_TO = 5
"""The largest number of entities for which `minimax` is searched exhaustively."""

Belief = npt.NDArray[np.intp]
"""Indices of the orders that are still possible."""

Move = tuple[State, int, State]
"""State before, entity acted on, state after."""


def worst_case(view: View) -> int:
    """Return a number of interventions that always suffices from this start, for any n.

    Let m be the number of entities that are on.

    - x on, y off: 0, because nothing that is on drives what is off;
    - both off: 1 (start x);
    - both on: m−1 (stop the others, then y);
    - x off, y on: m+1 (stop all, then start x).

    With fixed entities there are at most five, and the search has the exact number.
    """
    if view.fixed:
        return plan_of(view).minimax
    m = view.start.bit_count()
    x_on, y_on = view.start >> view.x & 1, view.start >> view.y & 1
    if not y_on:
        return 0 if x_on else 1
    return m - 1 if x_on else m + 1


@cache
def orders(n: int) -> tuple[tuple[int, ...], ...]:
    """Return all partial orders on n labelled entities, each as its sets of descendants.

    A new last entity can go below any set that is closed upwards and above any set that is closed
    downwards, if the first set drives all of the second. This gives 3, 19, 219 and 4231 orders for
    n = 2 … 5.
    """
    if n == 1:
        return ((0,),)
    new = n - 1
    grown = []
    for below in orders(new):
        above = transpose(below)
        lower = [s for s in range(1 << new) if all(not below[v] & ~s for v in members(s))]
        upper = [s for s in range(1 << new) if all(not above[v] & ~s for v in members(s))]
        for down in lower:
            for up in upper:
                if not up & down and all(not down & ~below[u] for u in members(up)):
                    row = [b | (1 << new if up >> v & 1 else 0) for v, b in enumerate(below)]
                    grown.append((*row, down))
    return tuple(grown)


class Plan:
    """The cheapest expected plan among those with the best worst case, by exhaustive search.

    Entities are renumbered so that x is 0 and y is 1, so that one plan serves every question with
    the same kind of start. The expected number of steps weights all orders equally.
    """

    def __init__(self, n: int, start: State, fixed: State) -> None:
        known = orders(n)
        self.n = n
        self._movable = [v for v in range(n) if not fixed >> v & 1]
        self._below = np.array(known, dtype=np.int16)
        self._above = np.array([transpose(below) for below in known], dtype=np.int16)
        on = list(members(start))
        closed = ((self._below[:, on] & ~start) == 0).all(axis=1)
        self.belief: Belief = np.flatnonzero(closed)
        yes = self._below[:, 0] >> 1 & 1
        self.answers = np.where(yes, "yes", "no").astype("<U6")
        self._alike = _alike(n, start, fixed) if fixed else np.arange(len(known))
        share = np.bincount(self._alike, yes) / np.bincount(self._alike)
        self.answers[((share > 0) & (share < 1))[self._alike]] = "cannot"
        self._memo: dict[tuple[State, int, bytes], tuple[float, int]] = {}
        self._start = start

    @cached_property
    def minimax(self) -> int:
        """The interventions that the best plan needs in the worst case."""
        tried = range(2 * self.n + 1)
        return next(b for b in tried if self._cost(self._start, b, self.belief)[0] < inf)

    def answer(self, belief: Belief) -> str | None:
        """Return the answer that a belief forces; None if it forces none."""
        answers = self.answers[belief]
        return str(answers[0]) if (answers == answers[0]).all() else None

    def guess(self, belief: Belief) -> str:
        """Return the answer of most orders of a belief."""
        said, counts = np.unique(self.answers[belief], return_counts=True)
        return str(said[counts.argmax()])

    def possible(self) -> list[tuple[tuple[int, ...], str]]:
        """Return the orders that fit the start, with their right answers."""
        known = orders(self.n)
        return [(known[order], str(self.answers[order])) for order in self.belief]

    def bits(self, belief: Belief) -> float:
        """Return the logarithm of the number of orders in a belief; those alike count as one."""
        return log2(len(np.unique(self._alike[belief])))

    def best(self, state: State, budget: int, belief: Belief) -> int:
        """Return the entity to act on: start it if it is off, stop it if it is on."""
        return self._cost(state, budget, belief)[1]

    def update(self, state: State, v: int, after: State, belief: Belief) -> Belief:
        """Return the belief after acting on v led to `after`."""
        kept: Belief = belief[self._outcomes(state, v, belief) == after]
        return kept

    def fewest(self, order: int) -> int:
        """Return the fewest interventions that force the answer if this order is the true one."""
        steps, front = 0, {(self._start, b""): self.belief}
        while all(self.answer(belief) is None for belief in front.values()):
            grown = {}
            for (state, _), belief in front.items():
                for v in self._movable:
                    outcomes = self._outcomes(state, v, belief)
                    after = outcomes[np.searchsorted(belief, order)]
                    kept = belief[outcomes == after]
                    grown[int(after), kept.tobytes()] = kept
            steps, front = steps + 1, grown
        return steps

    def _cost(self, state: State, budget: int, belief: Belief) -> tuple[float, int]:
        """Return the steps of the best plan, summed over the belief, and its first entity."""
        if self.answer(belief) is not None:
            return 0.0, -1
        if budget == 0:
            return inf, -1
        key = (state, budget, belief.tobytes())
        if key not in self._memo:
            best = (inf, -1)
            for v in self._movable:
                outcomes = self._outcomes(state, v, belief)
                cost = float(len(belief))
                results = np.unique(outcomes)
                if len(results) == 1 and results[0] == state:
                    continue
                for after in results:
                    cost += self._cost(int(after), budget - 1, belief[outcomes == after])[0]
                    if cost >= best[0]:
                        break
                else:
                    best = (cost, v)
            self._memo[key] = best
        return self._memo[key]

    def _outcomes(self, state: State, v: int, belief: Belief) -> npt.NDArray[np.int16]:
        """The state after acting on v, for each order of a belief."""
        below = self._below[belief]
        if not state >> v & 1:
            return below[:, v] | (state | 1 << v)
        above = self._above[belief]
        left = np.zeros(len(belief), dtype=np.int16)
        for root in members(state & ~(1 << v)):
            is_root = (above[:, root] & state) == 0
            left |= np.where(is_root, below[:, root] | 1 << root, 0).astype(np.int16)
        return np.where(above[:, v] & state, state, left).astype(np.int16)


def _alike(n: int, start: State, fixed: State) -> npt.NDArray[np.intp]:
    """Return a number for each order: the same for orders that are alike."""
    groups: dict[tuple[Move, ...], int] = {}
    shown = (_shown(below, start, fixed) for below in orders(n))
    return np.array([groups.setdefault(one, len(groups)) for one in shown])


def _shown(below: tuple[int, ...], start: State, fixed: State) -> tuple[Move, ...]:
    """Return every move that allowed interventions can ever show under an order."""
    above = transpose(below)
    reached, moves = [start], []
    for state in reached:
        for v in range(len(below)):
            if not fixed >> v & 1:
                on = state >> v & 1
                after = stopped(below, above, state, v) if on else started(below, state, v)
                moves.append((state, v, after))
                if after not in reached:
                    reached.append(after)
    return tuple(sorted(moves))


@cache
def plan_for(n: int, start: State, fixed: State = 0) -> Plan:
    """Return the plan for a start in the plan's own numbering."""
    return Plan(n, start, fixed)


def renumbering(view: View) -> tuple[int, ...]:
    """Return the entities in the plan's order: x, y, then those on before off, fixed ones last."""
    others = [v for v in range(view.n) if v not in (view.x, view.y)]
    return (
        view.x,
        view.y,
        *sorted(others, key=lambda v: (view.fixed >> v & 1, not view.start >> v & 1, v)),
    )


def plan_of(view: View) -> Plan:
    """Return the plan for a view."""
    entities = renumbering(view)
    return plan_for(view.n, translated(view.start, entities), translated(view.fixed, entities))


@lru_cache(maxsize=16384)
def right_answer(world: World) -> str:
    """Return the right answer: whether x drives y, or `cannot` if nothing allowed settles it."""
    if not world.view.fixed:
        return "yes" if world.truth else "no"
    return str(plan_of(world.view).answers[number_of(world)])


def number_of(world: World) -> int:
    """Return the number of a world's order in the plan."""
    entities = renumbering(world.view)
    below = tuple(translated(world.below[v], entities) for v in entities)
    return _numbers(world.view.n)[below]


@cache
def _numbers(n: int) -> dict[tuple[int, ...], int]:
    return {below: number for number, below in enumerate(orders(n))}


def translated(state: State, entities: tuple[int, ...]) -> State:
    """Return a state in the plan's numbering."""
    return sum(1 << place for place, v in enumerate(entities) if state >> v & 1)


def minimax(view: View) -> int | None:
    """Return the exact worst case of the best plan; None for more than five entities."""
    return plan_of(view).minimax if view.n <= EXACT_UP_TO else None


def next_in_sweep(view: View, state: State, tried: int) -> int:
    """Return the entity to act on under the fixed plan of `worst_case`.

    No stop creates a new root, so after one sweep of stops only entities outside the sweep can be
    roots. If x and y are still on after the others were stopped, and y cannot be stopped, then x
    drives y.
    """
    x_on, y_on = state >> view.x & 1, state >> view.y & 1
    if not x_on and not y_on:
        return view.x
    spared = 1 << view.y | (1 << view.x if x_on else 0)
    return next(members(state & ~tried & ~spared), view.y)
