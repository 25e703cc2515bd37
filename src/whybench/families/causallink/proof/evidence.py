"""What the evidence proves: whether every order that fits what was seen agrees on the question.

The hypotheses are all partial orders on the entities. Whether one of them fits and answers yes, or
no, is decided by building one, causes first. What was seen tells four things about v:

- *may*: u may drive v if no state was seen with u on and v off; this relation is transitive;
- *must*: what went on or off with u is driven by u;
- *some*: v, on, could not be stopped: something that was on drives it;
- *unless*: v outlived w: if w drives v, so does something else that outlived w.

An entity is added once its largest set of causes among those added before fulfils all four. (Sets
of causes hold the causes of their members; the union of two that are possible is possible.) That
gets stuck only if no order fits. For let v be the next of a fitting order that is not yet added;
take the causes that it has there and their causes built here. If these bring in a w after which
v needs another cause that outlived w, then the cause u of v through which w came is one; or else u
went off with w, so w *must* drive u and was a cause of v in the fitting order too.

For the answer yes, x *must* drive y. For no, all that can do without x is added first, y among it.
"""

from __future__ import annotations

from typing import Literal

from whybench.causal.graph import members
from whybench.families.causallink.world.world import State, View

Verdict = Literal["yes", "no", "undecided"]

Order = list[State]
"""A partial order: each entity's set of ancestors."""


class EvidenceLog:
    """The evidence of one history, grown step by step, and one order for each answer that fits."""

    __slots__ = ("_may", "_must", "_outlived", "_some", "_state", "_view", "_witnesses")

    def __init__(self, view: View) -> None:
        everything = (1 << view.n) - 1
        self._view = view
        self._may = [everything & ~(1 << v) for v in range(view.n)]
        self._must = [0] * view.n
        self._some: list[list[State]] = [[] for _ in range(view.n)]
        self._outlived: list[tuple[int, State]] = []
        """What was stopped, and what stayed on."""
        self._witnesses: dict[bool, Order | None] = {}
        """Answer → an order with it that fits all so far; None: there is none, nor ever will be."""
        self._state = view.start
        self._see(view.start)

    def add(self, starts: bool, v: int, after: State) -> None:
        """Add that starting v, or trying to stop it, led to `after`."""
        before, bit = self._state, 1 << v
        if starts:
            possible = not (before | bit) & ~after
            self._drives(v, after & ~before & ~bit)
        elif after != before:
            possible = bool(before & bit) and not after & (~before | bit)
            self._drives(v, before & ~after & ~bit)
            self._outlived.append((v, after))
        else:
            possible = True
            if before & bit:
                self._some[v].append(before)
        if not possible:
            self._witnesses = {True: None, False: None}
        self._see(after)
        for answer, order in list(self._witnesses.items()):
            if order is not None and _next(order, before, starts, v) != after:
                del self._witnesses[answer]

    def verdict(self) -> Verdict:
        """Return the answer if the evidence forces it."""
        can_be_yes, can_be_no = self._fits(True), self._fits(False)
        if not can_be_yes and not can_be_no:
            raise ValueError("no order fits these observations: they are not of one world")
        if can_be_yes and can_be_no:
            return "undecided"
        return "yes" if can_be_yes else "no"

    def _drives(self, v: int, others: State) -> None:
        for other in members(others):
            self._must[other] |= 1 << v

    def _see(self, state: State) -> None:
        """Add that nothing that is on drives what is off, and make it the state now."""
        for v in members(~state & (1 << self._view.n) - 1):
            self._may[v] &= ~state
        self._state = state

    def _fits(self, answer: bool) -> bool:
        """Tell whether an order with this answer fits."""
        if answer not in self._witnesses:
            self._witnesses[answer] = self._built(answer)
        return self._witnesses[answer] is not None

    def _built(self, answer: bool) -> Order | None:
        """Build an order that fits and has this answer, or find that there is none."""
        x, y = self._view.x, self._view.y
        above: Order = [0] * self._view.n
        must = [*self._must]
        if answer:
            must[y] |= 1 << x
            placed = self._grown(above, 0, 0, must)
        else:
            placed = self._grown(above, 0, 1 << x, must)
            if placed >> y & 1:
                placed = self._grown(above, placed, 0, must)
        return above if placed == (1 << self._view.n) - 1 else None

    def _grown(self, above: Order, placed: State, without: State, must: list[State]) -> State:
        """Add all to an order that can be added `without` some; return what is in it then.

        The last listed come first: who tries to stop the first listed first then seldom finds the
        order wrong, and it need not be built anew.
        """
        done = -1
        while done != placed:
            done = placed
            for v in reversed(range(len(above))):
                if not (placed | without) >> v & 1:
                    causes = self._causes(v, placed, above)
                    if not must[v] & ~causes and all(causes & some for some in self._some[v]):
                        above[v] = causes
                        placed |= 1 << v
        return placed

    def _causes(self, v: int, placed: State, above: Order) -> State:
        """Return the largest set of entities in an order that may all drive v."""
        causes, settled = placed & self._may[v], False
        while not settled:
            settled = True
            for w, rest in self._outlived:
                if causes >> w & 1 and rest >> v & 1 and not causes & rest:
                    causes &= ~(1 << w)
                    for u in members(causes):
                        if above[u] >> w & 1:
                            causes &= ~(1 << u)
                    settled = False
        return causes


def _next(above: Order, state: State, starts: bool, v: int) -> State:
    """Return the state to which starting v, or trying to stop it, leads under an order."""
    if starts:
        return state | 1 << v | sum(1 << u for u, over in enumerate(above) if over >> v & 1)
    roots = sum(1 << u for u in members(state) if not above[u] & state)
    if not roots >> v & 1:
        return state
    left = roots & ~(1 << v)
    return left | sum(1 << u for u in members(state) if above[u] & left)
