"""Count what the evidence leaves open, in bits: undecided links while the asked one is undecided.

`bits_left` has one bit for every ordered pair (u, v) on which the orders that fit disagree. It is 0
once the asked pair is decided. Until then at most two to the power of this number of orders fit.
The orders themselves are too many to count at every step. With fixed entities there are few, and
`bits_left` is the logarithm of their number. Orders that no allowed intervention
distinguishes count as one.

All pairs are decided by n greedy constructions (see `evidence`). For each v, add every entity that
can be added without v. The added entities need not be driven by v; the others always are. The
largest set of causes of v among the added entities then contains every u that can drive v, because
an order in which u *must* drive v is built in the same way, with v added last.
"""

from __future__ import annotations

from functools import lru_cache

from whybench.causal.graph import members
from whybench.families.causallink.agents.strategies import seen
from whybench.families.causallink.proof.beliefs import Beliefs
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.rules import LinkEpisode
from whybench.families.causallink.world.world import State, View

History = tuple[tuple[bool, int, State], ...]
"""Interventions: (is a start, entity, state after it)."""


class LinkLog(EvidenceLog):
    """Evidence that decides every pair, not only the asked one."""

    __slots__ = ()

    def open_links(self) -> int:
        """Count the undecided ordered pairs; 0 if the asked pair is decided."""
        view = self._view
        places = {view.x: self._place(view.x), view.y: self._place(view.y)}
        if not (places[view.y][1] >> view.x & 1 and places[view.x][0] >> view.y & 1):
            return 0
        for v in range(view.n):
            if v not in places:
                places[v] = self._place(v)
        return sum(
            places[u][0] >> v & 1 for v, (_, causes) in places.items() for u in members(causes)
        )

    def _place(self, v: int) -> tuple[State, State]:
        """Return the entities that need not be driven by v, and those that can drive v."""
        above = [0] * self._view.n
        without = self._grown(above, 0, 1 << v, self._must)
        return without, self._causes(v, without, above)


def bits_left(episode: LinkEpisode) -> float:
    """Return the bits that an episode's evidence leaves open."""
    view, theme = episode.world.view, episode.theme
    history = []
    for step in episode.trace.steps:
        action, observation = step.action, step.observation
        if not observation.is_error and action.name in (theme.start, theme.stop):
            v = view.find(action.args[theme.noun])
            if v is not None:
                history.append((action.name == theme.start, v, seen(view, observation)))
    if view.fixed:
        beliefs = Beliefs(view)
        for change in history:
            beliefs.add(*change)
        return beliefs.bits()
    return float(_open_links(view.n, view.start, view.x, view.y, tuple(history)))


@lru_cache(maxsize=16384)
def _open_links(n: int, start: State, x: int, y: int, history: History) -> int:
    """Count undecided pairs after a history; cached, independent of names."""
    log = LinkLog(View("", ("",) * n, start, x, y, len(history)))
    for starts, v, after in history:
        log.add(starts, v, after)
    return log.open_links()
