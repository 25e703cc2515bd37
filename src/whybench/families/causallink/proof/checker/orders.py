"""Orders, what they do, and which of them fit evidence, for the check of certificates."""

from __future__ import annotations

from collections.abc import Sequence

from whybench.causal.graph import members

Order = tuple[int, ...]
"""Each entity's set of causes: direct ones, or all."""
Moment = tuple[int, int, int]
"""State before, entity acted on (started if it is off, stopped if it is on), state after."""
Demand = tuple[int, int, int]
"""(causes, effect, if): one of `causes` drives `effect`, provided that `if` drives it (or −1)."""


def acted(causes: Order, state: int, v: int) -> int:
    """Return the state after starting v, if it is off, or trying to stop it.

    After a start, everything with a cause that is on starts too. A driven entity cannot be stopped.
    After a stop, everything that loses its last cause that was on stops too.
    """
    if not state >> v & 1:
        now, before = state | 1 << v, -1
        while now != before:
            before = now
            for u, above in enumerate(causes):
                if above & now:
                    now |= 1 << u
        return now
    if causes[v] & state:
        return state
    now, before = state ^ 1 << v, -1
    while now != before:
        before = now
        for u in members(now):
            if causes[u] & state and not causes[u] & now:
                now ^= 1 << u
    return now


def find_alternative(
    n: int, start: int, moments: Sequence[Moment], asked: tuple[int, int], truth: bool, above: Order
) -> Order | None:
    """Return an order that fits all moments and has the other answer, close to the truth.

    None if there is no such order; the answer is then forced.
    """
    must, never, demands = evidence_of(n, start, moments)
    x, y = asked
    (never if truth else must)[y] |= 1 << x
    alternative = chased(must, never, demands)
    if alternative is None:
        return None
    for v in range(n):
        for u in members(above[v] & ~alternative[v]):
            tried = list(alternative)
            tried[v] |= 1 << u
            alternative = chased(tried, never, demands) or alternative
    return alternative


def evidence_of(
    n: int, start: int, moments: Sequence[Moment]
) -> tuple[list[int], list[int], list[Demand]]:
    """Return what evidence says: causes each entity must have, cannot have, and must choose from.

    - Everything that an entity on drives is on.
    - Entities that start with v are driven by v.
    - If v cannot be stopped, an entity that is on drives it. Otherwise none does.
    - Entities that stop with v are driven by v. Entities that stay on are not, unless another
      entity that is on drives them.
    """
    must, never, demands = [0] * n, [1 << v for v in range(n)], []
    for state in {start, *(after for _, _, after in moments)}:
        for v in members(~state & (1 << n) - 1):
            never[v] |= state
    for before, v, after in moments:
        if not before >> v & 1:
            for u in members(after & ~before & ~(1 << v)):
                must[u] |= 1 << v
        elif before == after:
            demands.append((before & ~(1 << v), v, -1))
        else:
            never[v] |= before
            for u in members(before & ~after & ~(1 << v)):
                must[u] |= 1 << v
            demands += [(after & ~(1 << u), u, v) for u in members(after)]
    return must, never, demands


def chased(must: Sequence[int], never: Sequence[int], demands: Sequence[Demand]) -> Order | None:
    """Return an order with all required causes, no excluded ones, and every demand met.

    The search is complete: it meets an unmet demand in each possible way, and only demands add
    causes. The demand with the fewest possible ways comes first. A cause of v also becomes a cause
    of all that v drives, so it must be excluded for none of them.
    """
    order = closed(must)
    if any(causes & never[v] for v, causes in enumerate(order)):
        return None
    blocked = list(never)
    for w, causes in enumerate(order):
        for v in members(causes):
            blocked[v] |= never[w]
    unmet = [
        ([u for u in members(choice) if not (order[u] | 1 << u) & blocked[v]], v)
        for choice, v, given in demands
        if not order[v] & choice and (given < 0 or order[v] >> given & 1)
    ]
    if not unmet:
        return order
    ways, v = min(unmet, key=lambda demand: len(demand[0]))
    for u in ways:
        more = list(order)
        more[v] |= 1 << u
        found = chased(more, never, demands)
        if found is not None:
            return found
    return None


def closed(causes: Sequence[int]) -> Order:
    """Return all causes, direct and indirect."""
    above = list(causes)
    for middle in range(len(above)):
        for v in range(len(above)):
            if above[v] >> middle & 1:
                above[v] |= above[middle]
    return tuple(above)
