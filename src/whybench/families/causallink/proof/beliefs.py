"""What an agent may believe after its interventions: the orders that fit, for up to five entities.

It has the methods of `EvidenceLog`, and also decides questions whose answer may be `cannot`.
"""

from __future__ import annotations

from whybench.families.causallink.proof.plan import plan_of, renumbering, translated
from whybench.families.causallink.world.world import State, View


class Beliefs:
    """The orders that fit the observations so far."""

    __slots__ = ("_belief", "_budget", "_entities", "_plan", "_state")

    def __init__(self, view: View) -> None:
        self._entities = renumbering(view)
        self._plan = plan_of(view)
        self._belief = self._plan.belief
        self._state = translated(view.start, self._entities)
        self._budget = self._plan.minimax

    def add(self, starts: bool, v: int, after: State) -> None:
        """Add one observation: starting v, or trying to stop it, led to `after`."""
        place, seen = self._entities.index(v), translated(after, self._entities)
        if starts != bool(self._state >> place & 1):
            self._belief = self._plan.update(self._state, place, seen, self._belief)
        self._state = seen
        self._budget -= 1

    def verdict(self) -> str:
        """Return the answer if the evidence forces it, otherwise `undecided`."""
        return self._plan.answer(self._belief) or "undecided"

    def possible(self) -> frozenset[str]:
        """Return the answers that some order that fits gives."""
        return frozenset(self._plan.answers[self._belief].tolist())

    def guess(self) -> str:
        """Return the answer of most orders that fit."""
        return self._plan.guess(self._belief)

    def best(self) -> int:
        """Return the entity that the best plan acts on next."""
        return self._entities[self._plan.best(self._state, self._budget, self._belief)]

    def bits(self) -> float:
        """Return the bits that are open: 0 if the answer is forced."""
        return 0.0 if self.verdict() != "undecided" else self._plan.bits(self._belief)
