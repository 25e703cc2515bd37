"""Questions with entities out of reach: what interventions can show, from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from whybench.families.causallink.proof.checker.orders import Moment, Order, acted
from whybench.families.causallink.proof.checker.worst import all_orders
from whybench.families.causallink.world.world import View

Reach = tuple[int, ...]


def settled(view: View, truth: Order, moments: Sequence[Moment]) -> tuple[str, bool]:
    """Return the right answer, and whether all orders that fit what was seen have it."""
    told = _told(view)
    cell = [o for o in told if all(acted(o, before, v) == after for before, v, after in moments)]
    return told[truth], {told[order] for order in cell} == {told[truth]}


def shortest(view: View, truth: Order) -> list[Moment]:
    """Return the shortest sequence after which all orders that fit have one answer."""
    told = _told(view)
    layer: dict[tuple[int, tuple[Order, ...]], list[Moment]] = {(view.start, tuple(told)): []}
    while True:
        for (_, cell), moments in layer.items():
            if len({told[order] for order in cell}) == 1:
                return moments
        longer: dict[tuple[int, tuple[Order, ...]], list[Moment]] = {}
        for (state, cell), moments in layer.items():
            for v in _reach(view):
                after = acted(truth, state, v)
                left = tuple(order for order in cell if acted(order, state, v) == after)
                longer.setdefault((after, left), [*moments, (state, v, after)])
        layer = longer


def worst_within(view: View) -> int:
    """Return how many interventions the best plan needs in the worst case.

    Orders that behave alike have the same answer, so one of each group represents it.
    """
    reach, told = _reach(view), _told(view)
    few = {_behaviour(order, view.start, reach): order for order in told}
    said = tuple((order, told[order]) for order in few.values())
    return next(left for left in range(99) if _suffices(said, view.start, reach, left))


@cache
def _suffices(few: tuple[tuple[Order, str], ...], state: int, reach: Reach, left: int) -> bool:
    """Tell whether `left` interventions within reach always settle the answer."""
    if len({answer for _, answer in few}) == 1:
        return True
    if left == 0:
        return False
    for v in reach:
        cells: dict[int, list[tuple[Order, str]]] = {}
        for order, answer in few:
            cells.setdefault(acted(order, state, v), []).append((order, answer))
        if cells.keys() != {state} and all(
            _suffices(tuple(cell), after, reach, left - 1)
            for after, cell in sorted(cells.items(), key=lambda cell: -len(cell[1]))
        ):
            return True
    return False


def _reach(view: View) -> Reach:
    return tuple(v for v in range(view.n) if not view.fixed >> v & 1)


def _told(view: View) -> dict[Order, str]:
    return _answers(view.n, view.start, _reach(view), view.x, view.y)


@cache
def _answers(n: int, start: int, reach: Reach, x: int, y: int) -> dict[Order, str]:
    """Return the right answer under each order in which what the start drives is on."""
    shown: dict[frozenset[Moment], list[Order]] = {}
    for order in all_orders(n):
        if all(start >> v & 1 or not order[v] & start for v in range(n)):
            shown.setdefault(_behaviour(order, start, reach), []).append(order)
    told: dict[Order, str] = {}
    for group in shown.values():
        said = {"yes" if order[y] >> x & 1 else "no" for order in group}
        told |= dict.fromkeys(group, said.pop() if len(said) == 1 else "cannot")
    return told


def _behaviour(order: Order, start: int, reach: Reach) -> frozenset[Moment]:
    """Return everything that interventions within reach can show."""
    moments: set[Moment] = set()
    waiting, known = [start], {start}
    while waiting:
        state = waiting.pop()
        for v in reach:
            after = acted(order, state, v)
            moments.add((state, v, after))
            if after not in known:
                known.add(after)
                waiting.append(after)
    return frozenset(moments)
