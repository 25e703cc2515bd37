"""The hidden system: one law for all crystals, and the view that an agent gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from whybench.causal.graph import Graph, members
from whybench.causal.seeds import Stream

FREQUENCY = 0
"""The node that is the frequency; all others are properties."""

DECIMALS = 2
"""Readings are rounded to this number of decimals. Quadratic laws, as in the release, also round
every quantity before others use it; linear laws use exact values."""

FINE = 9
"""Decimals of a base that `set` computes; they remove floating-point noise only."""

WEAKEST = 0.1
"""No weight of a linear law with real numbers is smaller than this; the prompt says so."""

BLOCK = 32
"""Number of disturbances drawn at once."""

Semantics = Literal["shift", "set"]
"""`shift`: the value replaces the property's base. `set`: the property reads the value now."""

Readings = tuple[float, ...]
"""One value for each node."""


@dataclass(frozen=True, slots=True)
class Term:
    """What one cause adds to its effect: `linear` · x + `square` · x²."""

    cause: int
    linear: float
    square: float = 0.0


@dataclass(frozen=True, slots=True)
class Law:
    """The structural causal model that every crystal obeys.

    >>> law = Law(((Term(1, 2.0),), (), (Term(1, 3.0),)), 20.0)
    >>> law.readings((0.0, 5.0, 1.0))
    (30.0, 5.0, 16.0)
    """

    terms: tuple[tuple[Term, ...], ...]
    """The terms of each node's equation."""
    base: float
    """The frequency's base, the same in every crystal."""

    @property
    def k(self) -> int:
        """The number of nodes."""
        return len(self.terms)

    @property
    def graph(self) -> Graph:
        """The causal graph."""
        return _graph(self)

    def order(self) -> tuple[int, ...]:
        """Return an order in which every cause comes before its effects."""
        parents, placed = self.graph.parents(), 0
        order: list[int] = []
        while len(order) < self.k:
            ready = [v for v in range(self.k) if not placed >> v & 1 and not parents[v] & ~placed]
            if not ready:
                raise ValueError("the equations go round in a circle")
            order += ready
            placed |= sum(1 << v for v in ready)
        return tuple(order)

    def readings(self, bases: Sequence[float], disturbed: int = 0, by: float = 0.0) -> Readings:
        """Return the readings of a crystal with these bases; `disturbed` nodes are shifted `by`."""
        return solver(self).readings(bases, disturbed, by)


class Solver:
    """A law prepared for repeated evaluation."""

    __slots__ = ("_base", "_plan", "_terms", "decimals")

    def __init__(self, law: Law) -> None:
        self._terms = law.terms
        self._base = law.base
        self._plan = tuple(
            (v, tuple((t.cause, t.linear, t.square) for t in law.terms[v])) for v in law.order()
        )
        quadratic = any(term.square for terms in law.terms for term in terms)
        self.decimals = DECIMALS if quadratic else None
        """Decimals to which a quantity is rounded before others use it."""

    def readings(self, bases: Sequence[float], disturbed: int = 0, by: float = 0.0) -> Readings:
        """Return the readings of a crystal; see `Law.readings`."""
        return tuple(round(x, DECIMALS) for x in self.values(bases, disturbed, by))

    def values(self, bases: Sequence[float], disturbed: int = 0, by: float = 0.0) -> Readings:
        """Return the values of a crystal's quantities as the law computes with them."""
        values = list(bases)
        values[FREQUENCY] = self._base
        for v, terms in self._plan:
            value = values[v]
            for cause, linear, square in terms:
                x = values[cause]
                value += linear * x
                if square:
                    value += square * x * x
            if disturbed >> v & 1:
                value += by
            values[v] = value if self.decimals is None else round(value, self.decimals)
        return tuple(values)

    def contribution(self, v: int, values: Sequence[float]) -> float:
        """Return what a node's causes add to it at these values."""
        return sum(
            term.linear * values[term.cause] + term.square * values[term.cause] ** 2
            for term in self._terms[v]
        )


@lru_cache(maxsize=4096)
def solver(law: Law) -> Solver:
    """Return a law's solver; cached."""
    return Solver(law)


@lru_cache(maxsize=4096)
def _graph(law: Law) -> Graph:
    return Graph.from_edges(
        law.k, ((term.cause, v) for v, terms in enumerate(law.terms) for term in terms)
    )


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A hidden shift, drawn after every intervention; absent before and in the reactor."""

    affected: int
    """The nodes that it shifts."""
    values: tuple[float, ...]
    path: tuple[str | int, ...]
    """The random stream; the shift depends only on the number of the intervention."""

    def after(self, intervention: int) -> float:
        """Return the shift after an intervention; the first intervention is number 1."""
        block, place = divmod(intervention - 1, BLOCK)
        return _draws(self.path, self.values, block)[place]


@lru_cache(maxsize=4096)
def _draws(path: tuple[str | int, ...], values: tuple[float, ...], block: int) -> Readings:
    stream = Stream(*path, block)
    return tuple(stream.choice(values) for _ in range(BLOCK))


@dataclass(frozen=True, slots=True)
class Reading:
    """One measurement of a crystal, with the intervention just before it."""

    crystal: int
    """Number of the crystal; each crystal has its own bases."""
    values: Readings
    target: int | None = None
    """The property that was set just before, if any."""
    setting: float = 0.0

    @property
    def passive(self) -> bool:
        """Whether there was no intervention before this measurement."""
        return self.target is None


@dataclass(frozen=True, slots=True)
class View:
    """What an agent sees before it acts."""

    names: tuple[str, ...]
    """Each node's name; the first is the frequency's."""
    display: tuple[int, ...]
    """The order in which properties are listed."""
    controllable: int
    """The properties that the manipulator can set."""
    semantics: Semantics
    quadratic: bool
    sink: bool
    """Whether the prompt states that the frequency causes nothing."""
    disturbance: float
    """The size of the hidden disturbance, which the prompt states; 0 if there is none."""
    frequency_disturbed: bool
    """Whether the disturbance may move the frequency itself."""
    limit: float | None
    """Settings go from 0 to this value; None if there is no limit."""
    budget: int
    tolerance: float
    """A right prediction has a smaller error than this; with 0 it must be exact."""
    records: tuple[Reading, ...]
    """Earlier measurements, including any chain of interventions on one crystal."""
    baseline: Reading
    """The manipulator's crystal before the first intervention."""
    released: bool = False
    """Whether the released rules hold, with their defects."""
    rounded: bool = False
    """Whether the law is linear with real numbers, so that readings are rounded values."""

    @property
    def k(self) -> int:
        """The number of nodes, frequency included."""
        return len(self.names)

    @property
    def properties(self) -> int:
        """All properties, as a set."""
        return (1 << self.k) - 1 & ~(1 << FREQUENCY)

    @property
    def observed(self) -> bool:
        """Whether no property can be set; each pair is then judged as yes, no or cannot."""
        return not self.controllable

    def targets(self) -> tuple[int, ...]:
        """Return the controllable properties in display order."""
        return tuple(v for v in self.display if self.controllable >> v & 1)


@dataclass(frozen=True, slots=True)
class World:
    """The whole instance, including the hidden law."""

    view: View
    law: Law
    bases: Readings
    """The bases of the manipulator's crystal."""
    reactor: Readings
    """The bases of the reactor's crystal."""
    disturbance: Disturbance | None = None
    regime: str = ""
    records: tuple[Readings, ...] = ()
    """The bases of the records' crystals, if readings do not show them exactly."""

    @property
    def target(self) -> float:
        """The frequency to be predicted."""
        return self.law.readings(self.reactor)[FREQUENCY]

    def shown(self) -> Readings:
        """Return the readings of the reactor's crystal, with 0 in place of the frequency."""
        values = list(self.law.readings(self.reactor))
        values[FREQUENCY] = 0.0
        return tuple(values)


def moved_base(
    solver: Solver, semantics: Semantics, v: int, setting: float, values: Sequence[float]
) -> float:
    """Return a property's base after an intervention, from the values before it."""
    if semantics == "shift":
        return setting
    decimals = FINE if solver.decimals is None else solver.decimals
    return round(setting - solver.contribution(v, values), decimals)


def motifs(graph: Graph) -> dict[str, int]:
    """Count edges, forks, colliders and chains, shielded ones included, as the paper does."""
    children, parents, reach = graph.children, graph.parents(), graph.reach()
    out = [mask.bit_count() for mask in children]
    into = [mask.bit_count() for mask in parents]
    return {
        "edges": sum(out),
        "forks": sum(d * (d - 1) // 2 for d in out),
        "colliders": sum(d * (d - 1) // 2 for d in into),
        "chains": sum(a * b for a, b in zip(out, into, strict=True)),
        "frequency_parents": into[FREQUENCY],
        "not_above_frequency": sum(
            not reach[v] >> FREQUENCY & 1 for v in members((1 << graph.n) - 2)
        ),
    }
