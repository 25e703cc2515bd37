"""The hidden system: entities that are on or off, and an order of who drives whom.

Only the reachability relation shows in behaviour: no experiment can see a direct edge that a longer
path implies. So a question is about reachability, and dynamics are computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from whybench.causal.graph import Graph, members, transpose

State = int
"""The set of entities that are on, as a bitmask."""


def started(below: tuple[int, ...], state: State, v: int) -> State:
    """Start v: it and all it drives become on."""
    return state | 1 << v | below[v]


def stopped(below: tuple[int, ...], above: tuple[int, ...], state: State, v: int) -> State:
    """Stop v: nothing happens if v is off or driven; else what v alone kept on goes off.

    With R the entities that are on and not driven by one that is on, stopping v ∈ R leaves
    the union of R∖{v} and all they drive.
    """
    if not state >> v & 1 or above[v] & state:
        return state
    left, others = 0, state & ~(1 << v)
    while others:
        bit = others & -others
        root = bit.bit_length() - 1
        if not above[root] & state:
            left |= bit | below[root]
        others ^= bit
    return left


@dataclass(frozen=True, slots=True)
class View:
    """What the agent is told: names in display order, what is on, and the question."""

    theme: str
    names: tuple[str, ...]
    start: State
    x: int
    y: int
    budget: int
    """The most interventions allowed."""

    @property
    def n(self) -> int:
        """The number of entities."""
        return len(self.names)

    def find(self, name: object) -> int | None:
        """Return the entity of a name, whatever its case and the blanks around it."""
        word = name.strip().casefold() if isinstance(name, str) else None
        return self.names.index(word) if word in self.names else None


@dataclass(frozen=True, slots=True)
class World:
    """One hidden world with its question. Entity v stands at place v of the listing."""

    view: View
    structure: str
    graph: Graph
    below: tuple[int, ...]
    """Each entity's set of descendants."""
    above: tuple[int, ...]
    """Each entity's set of ancestors."""

    @classmethod
    def of(cls, view: View, structure: str, graph: Graph) -> World:
        """Build a world, or say why it cannot be one."""
        if not graph.is_acyclic() or graph.n != view.n:
            raise ValueError("a world needs an acyclic graph with one node for each name")
        below = graph.reach()
        if any(below[v] & ~view.start for v in members(view.start)):
            raise ValueError("whatever an entity that is on drives must be on at the start too")
        return cls(view, structure, graph, below, transpose(below))

    @property
    def truth(self) -> bool:
        """Whether x drives y, directly or through others."""
        return bool(self.below[self.view.x] >> self.view.y & 1)

    def after_start(self, state: State, v: int) -> State:
        """Return the state after starting v."""
        return started(self.below, state, v)

    def after_stop(self, state: State, v: int) -> State:
        """Return the state after stopping v."""
        return stopped(self.below, self.above, state, v)
