"""The worst case of the best plan, for the check of certificates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from whybench.causal.graph import members, transpose
from whybench.families.causallink.proof.checker.orders import Order, acted


def tabled(on: int, x_on: bool, y_on: bool) -> int:
    """The worst case of the best plan, by how many entities are on at the start."""
    if x_on:
        return on - 1 if y_on else 0
    return on + 1 if y_on else 1


@cache
def worst_case(n: int, on: int, x_on: bool, y_on: bool) -> int | None:
    """Return the worst case for up to five entities; names do not matter, so x is 0 and y is 1.

    Upper bound: a plan that gives the right answer under every order with such a start. Lower
    bound: the best plan for the few orders in which some of the other entities that are on drive
    y, and perhaps x does. A plan for all orders is also a plan for these. None if the two bounds
    differ.
    """
    others = range(2, 2 + on - x_on - y_on)
    start = sum(1 << v for v in others) | x_on | y_on << 1
    closed = (
        o for o in all_orders(n) if not any(o[v] & start for v in range(n) if ~start >> v & 1)
    )
    most = max(_plan(order, start, others) for order in closed)
    if x_on and not y_on:
        return most
    few = [
        (0, sum(1 << u for u in others if chosen >> u & 1) | x_drives, *[0] * (n - 2))
        for chosen in range(0, 1 << 2 + len(others), 4)
        for x_drives in (0, 1)
    ]
    return most if not _decided(tuple(few), start, most - 1) else None


def _plan(order: Order, start: int, others: Sequence[int]) -> int:
    """Play the plan of the table; return its interventions, or 99 if its answer is wrong."""
    state, steps = start, 0

    def act(v: int) -> None:
        nonlocal state, steps
        state, steps = acted(order, state, v), steps + 1

    x_on, y_on = start & 1, start >> 1 & 1
    if y_on:
        for v in (*others, 1) if not x_on else others:
            if state >> v & 1:
                act(v)
    if state & 3 == 0:
        act(0)
        answer = state >> 1 & 1
    elif state & 3 == 3:
        act(1)
        answer = state >> 1 & 1
    else:
        answer = 0
    return steps if answer == order[1] & 1 else 99


@cache
def _decided(few: tuple[Order, ...], state: int, left: int) -> bool:
    """Tell whether `left` interventions always suffice to decide whether 0 drives 1."""
    if len({order[1] & 1 for order in few}) < 2:
        return True
    if left <= 0:
        return False
    for v in range(len(few[0])):
        cells: dict[int, list[Order]] = {}
        for order in few:
            cells.setdefault(acted(order, state, v), []).append(order)
        if all(_decided(tuple(cell), after, left - 1) for after, cell in cells.items()):
            return True
    return False


@cache
def all_orders(n: int) -> tuple[Order, ...]:
    """Return all partial orders: each comes from one on n − 1 by a new last entity."""
    if n == 0:
        return ((),)
    return tuple(_extended(n))


def _extended(n: int) -> Iterator[Order]:
    new = 1 << n - 1
    for smaller in all_orders(n - 1):
        driven = transpose(smaller)
        for causes in range(new):
            if any(smaller[v] & ~causes for v in members(causes)):
                continue
            for effects in range(new):
                if effects & causes or any(driven[v] & ~effects for v in members(effects)):
                    continue
                if all(not causes & ~smaller[v] for v in members(effects)):
                    rows = [row | new if effects >> v & 1 else row for v, row in enumerate(smaller)]
                    yield (*rows, causes)
