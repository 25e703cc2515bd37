"""The hidden system: entities that are on or off, and an order of who drives whom.

Experiments show only reachability: none can show a direct edge that a longer path implies. The
question is therefore about reachability, and the dynamics are computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from whybench.causal.graph import Graph, members, transpose

State = int
"""The set of entities that are on, as a bitmask."""


def started(below: tuple[int, ...], state: State, v: int) -> State:
    """Start v: v and everything that it drives become on."""
    return state | 1 << v | below[v]


def stopped(below: tuple[int, ...], above: tuple[int, ...], state: State, v: int) -> State:
    """Stop v: nothing happens if v is off or driven; otherwise, what only v kept on goes off.

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
    """What the agent sees: names in display order, what is on, and the question."""

    theme: str
    names: tuple[str, ...]
    start: State
    x: int
    y: int
    budget: int
    """Maximum number of interventions."""
    fixed: State = 0
    """Entities that can be neither started nor stopped. With any, the answer may be `cannot`."""

    @property
    def n(self) -> int:
        """The number of entities."""
        return len(self.names)

    @property
    def movable(self) -> tuple[str, ...]:
        """The names of the entities that can be started and stopped."""
        return tuple(name for v, name in enumerate(self.names) if not self.fixed >> v & 1)

    @property
    def answers(self) -> tuple[str, ...]:
        """The possible answers."""
        return ("yes", "no", "cannot") if self.fixed else ("yes", "no")

    def find(self, name: object) -> int | None:
        """Return the entity with a name, ignoring case and surrounding blanks."""
        word = name.strip().casefold() if isinstance(name, str) else None
        return self.names.index(word) if word in self.names else None


@dataclass(frozen=True, slots=True)
class World:
    """One hidden system with its question. Entity v has index v in the list."""

    view: View
    structure: str
    graph: Graph
    below: tuple[int, ...]
    """Each entity's set of descendants."""
    above: tuple[int, ...]
    """Each entity's set of ancestors."""

    @classmethod
    def of(cls, view: View, structure: str, graph: Graph) -> World:
        """Build a hidden system; raise ValueError if the graph or the start is invalid."""
        if not graph.is_acyclic() or graph.n != view.n:
            raise ValueError("The graph must be acyclic and have one node for each name.")
        below = graph.reach()
        if any(below[v] & ~view.start for v in members(view.start)):
            raise ValueError("The start must be closed: what an entity on drives must be on.")
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
