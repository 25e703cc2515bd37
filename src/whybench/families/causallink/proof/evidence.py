"""Decide what the evidence forces: whether all orders that fit the observations agree.

The hypotheses are all partial orders on the entities. For each answer, the algorithm tries to build
an order that fits and gives this answer, causes first. The observations say four things about v:

- *may*: u may drive v if no state was seen with u on and v off; this relation is transitive;
- *must*: an entity that became on or off together with u is driven by u;
- *some*: v was on and could not be stopped, so an entity that was on drives v;
- *unless*: v stayed on when w was stopped; if w drives v, another entity that stayed on does too.

An entity is added once its largest set of causes among the entities added before satisfies all
four conditions. (A set of causes contains the causes of its members. The union of two possible sets
is possible.)

Claim: the construction gets stuck only if no order fits. Proof: suppose that some order fits, and
let v be its first entity that is not yet added. Take the causes of v in that order, together with
the causes that the construction gave them. This set satisfies the conditions unless it contains
some w that was stopped while v stayed on, and no cause of v that also stayed on. Let u be the cause
of v through which w entered the set. If u stayed on, u is such a cause. Otherwise u went off with
w, so w *must* drive u, and w is a cause of v in the fitting order too. That order then has another
cause of v that stayed on.

For the answer yes, add the condition that x *must* drive y. For the answer no, first add everything
that can be added without x; y must be among it.
"""

from __future__ import annotations

from typing import Literal

from whybench.causal.graph import members
from whybench.families.causallink.world.world import State, View

Verdict = Literal["yes", "no", "undecided"]

Order = list[State]
"""A partial order: each entity's set of ancestors."""


class EvidenceLog:
    """The evidence of one history, step by step, with one fitting order for each answer."""

    __slots__ = ("_may", "_must", "_outlived", "_some", "_state", "_view", "_witnesses")

    def __init__(self, view: View) -> None:
        everything = (1 << view.n) - 1
        self._view = view
        self._may = [everything & ~(1 << v) for v in range(view.n)]
        self._must = [0] * view.n
        self._some: list[list[State]] = [[] for _ in range(view.n)]
        self._outlived: list[tuple[int, State]] = []
        """Pairs: the entity that was stopped, and the set that stayed on."""
        self._witnesses: dict[bool, Order | None] = {}
        """Answer → an order that fits all observations; None if none fits, now or later."""
        self._state = view.start
        self._see(view.start)

    def add(self, starts: bool, v: int, after: State) -> None:
        """Add one observation: starting v, or trying to stop it, led to `after`."""
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
            raise ValueError("No order fits these observations: they are not of one system.")
        if can_be_yes and can_be_no:
            return "undecided"
        return "yes" if can_be_yes else "no"

    def _drives(self, v: int, others: State) -> None:
        for other in members(others):
            self._must[other] |= 1 << v

    def _see(self, state: State) -> None:
        """Add a state: no entity that is on drives one that is off."""
        for v in members(~state & (1 << self._view.n) - 1):
            self._may[v] &= ~state
        self._state = state

    def _fits(self, answer: bool) -> bool:
        """Tell whether an order with this answer fits."""
        if answer not in self._witnesses:
            self._witnesses[answer] = self._built(answer)
        return self._witnesses[answer] is not None

    def _built(self, answer: bool) -> Order | None:
        """Build an order that fits and has this answer; None if there is none."""
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
        """Add every entity that can be added `without` some; return the set of added entities.

        Entities that are listed last come first. Agents often stop the first listed entity first,
        and this order then seldom has to be rebuilt.
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
        """Return the largest set of placed entities that may all drive v."""
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
