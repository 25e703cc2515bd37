"""What the evidence proves: whether every order that fits what was seen agrees on the question.

The hypotheses are all partial orders on the entities. One Boolean L[u,v] says "u drives v";
antisymmetry and transitivity make it an order, and what was seen adds clauses. Two calls to a SAT
solver, assuming L[x,y] and its negation, decide the question for any history.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from types import TracebackType
from typing import Literal

from pysat.solvers import Minisat22

from whybench.core.graph import members
from whybench.families.causallink.world import State, View

Verdict = Literal["yes", "no", "undecided"]


@cache
def _order_clauses(n: int) -> tuple[tuple[int, ...], ...]:
    """Clauses that make L a strict partial order on n entities."""
    antisymmetry = [(-_var(n, u, v), -_var(n, v, u)) for u in range(n) for v in range(u)]
    transitivity = [
        (-_var(n, u, v), -_var(n, v, w), _var(n, u, w)) for u, v, w in permutations(range(n), 3)
    ]
    return (*antisymmetry, *transitivity)


def _var(n: int, u: int, v: int) -> int:
    return u * n + v + 1


class EvidenceLog:
    """The evidence of one history, grown step by step in one incremental solver."""

    def __init__(self, view: View) -> None:
        self._n = view.n
        self._question = _var(view.n, view.x, view.y)
        self._solver = Minisat22(bootstrap_with=_order_clauses(view.n))
        self._verdict: Verdict = "undecided"
        self._state = view.start
        self._seen: set[State] = set()
        self._see(view.start)

    def __enter__(self) -> EvidenceLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._solver.delete()

    def add(self, starts: bool, v: int, after: State) -> None:
        """Add that starting v, or trying to stop it, led to `after`."""
        if starts:
            self._started(v, self._state, after)
        else:
            self._stopped(v, self._state, after)
        self._see(after)

    def _started(self, v: int, before: State, after: State) -> None:
        for other in members(after & ~before & ~(1 << v)):
            self._add([self._drives(v, other)])

    def _stopped(self, v: int, before: State, after: State) -> None:
        if before >> v & 1 and after == before:
            self._add([self._drives(u, v) for u in members(before & ~(1 << v))])
        elif after != before:
            for u in members(before & ~(1 << v)):
                self._add([-self._drives(u, v)])
            for other in members(before & ~after & ~(1 << v)):
                self._add([self._drives(v, other)])
            for kept in members(after):
                others = (self._drives(u, kept) for u in members(after & ~(1 << kept)))
                self._add([-self._drives(v, kept), *others])

    def verdict(self) -> Verdict:
        """Return the answer if the evidence forces it."""
        if self._verdict == "undecided":
            can_be_yes = self._solver.solve(assumptions=[self._question])
            can_be_no = self._solver.solve(assumptions=[-self._question])
            if not can_be_yes and not can_be_no:
                raise ValueError("no order fits these observations: they are not of one world")
            if not (can_be_yes and can_be_no):
                self._verdict = "yes" if can_be_yes else "no"
        return self._verdict

    def _see(self, state: State) -> None:
        """Add that nothing that is on drives what is off, and make it the state now."""
        if state not in self._seen:
            self._seen.add(state)
            off = list(members(~state & (1 << self._n) - 1))
            for u in members(state):
                for v in off:
                    self._add([-self._drives(u, v)])
        self._state = state

    def _add(self, clause: list[int]) -> None:
        self._solver.add_clause(clause)

    def _drives(self, u: int, v: int) -> int:
        return _var(self._n, u, v)
