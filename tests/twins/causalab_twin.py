"""Slow, independent twin of the CausaLab family: exact fractions and brute enumeration only.

Node 0 is the frequency, nodes 1..k-1 are the properties; an edge (p, i) reads "p is a parent of i".
A crystal is the sequence of its property bases (entry i - 1 belongs to property i). A reading is
the tuple of all k values. Nothing here is shared with the package, so agreement is evidence.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from typing import Literal

Number = int | float | Fraction
Semantics = Literal["shift", "set"]
Edge = tuple[int, int]
Graph = frozenset[Edge]
Reading = tuple[Fraction, ...]
Step = tuple[int, Number, Sequence[Number]]
Verdict = Literal["all", "none", "some"]


def exact(value: Number) -> Fraction:
    """The fraction a number stands for as written: 0.1 is one tenth, not its nearest double."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def two_decimals(value: Fraction) -> Fraction:
    """Python's `round(float, 2)`, as the decimal it prints."""
    return exact(round(float(value), 2))


def is_acyclic(k: int, edges: Iterable[Edge]) -> bool:
    """Strip nodes without remaining parents until none is left, or none can be stripped."""
    left, edges = set(range(k)), set(edges)
    while left:
        roots = {node for node in left if not any(p in left and i == node for p, i in edges)}
        if not roots:
            return False
        left -= roots
    return True


# The world ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwinWorld:
    """x_i = base_i + sum over parents p of (squares[p, i] * x_p**2 + weights[p, i] * x_p).

    `rounded` rounds every value to two decimals as soon as its node is computed (its disturbance
    included), and the base that a "set" leaves behind; off, everything is an exact fraction.
    """

    k: int
    frequency_base: Number
    weights: Mapping[Edge, Number]
    squares: Mapping[Edge, Number] | None = None
    rounded: bool = False

    @property
    def graph(self) -> Graph:
        """Edges with a coefficient that is not 0."""
        given = [*self.weights.items(), *(self.squares or {}).items()]
        return frozenset(edge for edge, value in given if value != 0)

    def _tidy(self, value: Fraction) -> Fraction:
        return two_decimals(value) if self.rounded else value

    def contributions(self, node: int, values: Mapping[int, Fraction]) -> Fraction:
        """What the parents at `values` add to `node`."""
        total = Fraction(0)
        for p, i in self.graph:
            if i == node:
                u = exact((self.squares or {}).get((p, i), 0))
                w = exact(self.weights.get((p, i), 0))
                total += u * values[p] ** 2 + w * values[p]
        return total

    def reading(
        self, bases: Sequence[Number], disturbance: Number = 0, affected: Iterable[int] = ()
    ) -> Reading:
        """All k values of a crystal; `disturbance` is added to every node of `affected`."""
        if not is_acyclic(self.k, self.graph):
            raise ValueError("the world has a cycle")
        if len(bases) != self.k - 1:
            raise ValueError("a crystal has one base for every property")
        base = [exact(self.frequency_base), *(exact(b) for b in bases)]
        hit = set(affected)
        values: dict[int, Fraction] = {}
        while len(values) < self.k:
            for node in range(self.k):
                known = all(p in values for p, i in self.graph if i == node)
                if node not in values and known:
                    value = base[node] + self.contributions(node, values)
                    if node in hit:
                        value += exact(disturbance)
                    values[node] = self._tidy(value)
        return tuple(values[node] for node in range(self.k))

    def readings(
        self,
        records: Sequence[Sequence[Number]],
        manipulator_bases: Sequence[Number],
        interventions: Sequence[tuple[int, Number]],
        semantics: Semantics,
        hidden: Sequence[Number] | None = None,
        affected: Iterable[int] = (),
    ) -> tuple[list[Reading], list[Reading]]:
        """Readings of the untouched records, and of the manipulator: baseline, then every step.

        The t-th reading after the baseline carries hidden[t] alone (disturbances do not add up).
        A "set" uses the parents as they were last read, and leaves its own disturbance out.
        """
        hidden = [0] * len(interventions) if hidden is None else hidden
        if len(hidden) != len(interventions):
            raise ValueError("one hidden value for every intervention")
        affected = tuple(affected)
        bases = [exact(b) for b in manipulator_bases]
        seen = [self.reading(bases)]
        for (node, value), h in zip(interventions, hidden, strict=True):
            if not 1 <= node < self.k:
                raise ValueError("only a property can be intervened upon")
            if semantics == "shift":
                bases[node - 1] = exact(value)
            else:
                current = dict(enumerate(seen[-1]))
                bases[node - 1] = self._tidy(exact(value) - self.contributions(node, current))
            seen.append(self.reading(bases, h, affected))
        return [self.reading(record) for record in records], seen


# Linear equations --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solutions:
    """The affine space of `point` plus every combination of `directions`."""

    point: tuple[Fraction, ...]
    directions: tuple[tuple[Fraction, ...], ...]

    def constant(self, functional: Sequence[Fraction]) -> Fraction | None:
        """The value of a linear functional if it is the same on the whole space, else None."""
        if any(dot(functional, direction) != 0 for direction in self.directions):
            return None
        return dot(functional, self.point)


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Inner product."""
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def solve(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Solutions | None:
    """All solutions of the linear system by Gauss-Jordan elimination, None if there is none."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    width = len(rows[0])
    pivots: list[int] = []
    for column in range(width):
        top = len(pivots)
        found = next((r for r in range(top, len(table)) if table[r][column] != 0), None)
        if found is None:
            continue
        table[top], table[found] = table[found], table[top]
        lead = table[top][column]
        table[top] = [entry / lead for entry in table[top]]
        for r in range(len(table)):
            factor = table[r][column]
            if r != top and factor != 0:
                table[r] = [a - factor * b for a, b in zip(table[r], table[top], strict=True)]
        pivots.append(column)
    if any(row[width] != 0 for row in table[len(pivots) :]):
        return None
    point = [Fraction(0)] * width
    for r, column in enumerate(pivots):
        point[column] = table[r][width]
    directions = []
    for free in (column for column in range(width) if column not in pivots):
        direction = [Fraction(0)] * width
        direction[free] = Fraction(1)
        for r, column in enumerate(pivots):
            direction[column] = -table[r][free]
        directions.append(tuple(direction))
    return Solutions(tuple(point), tuple(directions))


# What the data say -------------------------------------------------------------------------------


@cache
def all_graphs(k: int, frequency_is_sink: bool) -> tuple[Graph, ...]:
    """Every DAG on k nodes, or those in which the frequency has no child."""
    pairs = [
        (p, i) for p in range(k) for i in range(k) if p != i and not (frequency_is_sink and p == 0)
    ]
    subsets = (chosen for size in range(len(pairs) + 1) for chosen in combinations(pairs, size))
    return tuple(frozenset(chosen) for chosen in subsets if is_acyclic(k, chosen))


def base_names(
    node: int, n_records: int, steps: Sequence[Step], semantics: Semantics
) -> Iterator[str | Fraction]:
    """For every reading in turn the name of the node's unknown base, or its known value."""
    if node == 0:
        yield from ["shared"] * (n_records + 1 + len(steps))
        return
    yield from (f"record {r}" for r in range(n_records))
    base: str | Fraction = "manipulator"
    yield base
    for t, (touched, value, _) in enumerate(steps):
        if touched == node:
            base = exact(value) if semantics == "shift" else f"manipulator from step {t}"
        yield base


def node_solutions(
    node: int,
    parents: Sequence[int],
    records: Sequence[Sequence[Number]],
    baseline: Sequence[Number],
    steps: Sequence[Step],
    semantics: Semantics,
) -> Solutions | None:
    """Weights of `parents` (in their order), then unknown bases, that reproduce every reading.

    None if there is no solution, or if a weight is 0 in all of them: the support is then smaller.
    Otherwise almost every solution has no weight 0, as finitely many proper subspaces never
    fill a space of rationals.
    """
    data = [[exact(v) for v in r] for r in (*records, baseline, *(step[2] for step in steps))]
    bases = list(base_names(node, len(records), steps, semantics))
    unknown = sorted({base for base in bases if isinstance(base, str)})
    rows, right = [], []
    for reading, base in zip(data, bases, strict=True):
        rows.append([reading[p] for p in parents] + [Fraction(base == name) for name in unknown])
        right.append(reading[node] - (0 if isinstance(base, str) else base))
    solutions = solve(rows, right)
    if solutions is None:
        return None
    for j in range(len(parents)):
        weight = [Fraction(j == column) for column in range(len(parents) + len(unknown))]
        if solutions.constant(weight) == 0:
            return None
    return solutions


@dataclass(frozen=True)
class Consistent:
    """Everything that the data leave open; `spaces` holds each admissible (node, parents)."""

    graphs: frozenset[Graph]
    edges: dict[Edge, Verdict]
    frequency_unique: bool
    whole_unique: bool
    spaces: dict[tuple[int, tuple[int, ...]], Solutions]

    def parents(self, node: int) -> set[tuple[int, ...]]:
        """Parent sets of `node` over the consistent graphs."""
        return {parents_of(graph, node) for graph in self.graphs}


def parents_of(graph: Graph, node: int) -> tuple[int, ...]:
    """Parents of `node` in ascending order."""
    return tuple(sorted(p for p, i in graph if i == node))


def consistent_graphs(
    k: int,
    records: Sequence[Sequence[Number]],
    baseline: Sequence[Number],
    steps: Sequence[Step],
    semantics: Semantics,
    frequency_is_sink: bool,
) -> Consistent:
    """All DAGs that explain exact readings of a linear world with every edge's weight not 0.

    `records` and `baseline` are readings; a step is (property, value, reading afterwards). Nodes
    share no unknown, so a graph is consistent when each node with its parents is.
    If no graph is consistent, every edge is "none" and nothing is unique.
    """
    if k > (5 if frequency_is_sink else 4):
        raise ValueError("brute force is for at most 4 nodes, and a sink")
    if semantics == "set" and any(exact(r[node]) != exact(v) for node, v, r in steps):
        raise ValueError("a property that is set must read its value")
    spaces: dict[tuple[int, tuple[int, ...]], Solutions | None] = {}
    graphs = set()
    for graph in all_graphs(k, frequency_is_sink):
        families = [(node, parents_of(graph, node)) for node in range(k)]
        for node, parents in families:
            if (node, parents) not in spaces:
                spaces[node, parents] = node_solutions(
                    node, parents, records, baseline, steps, semantics
                )
        if all(spaces[family] is not None for family in families):
            graphs.add(graph)
    admissible = {family: space for family, space in spaces.items() if space is not None}
    edges: dict[Edge, Verdict] = {}
    for edge in ((p, i) for p in range(k) for i in range(k) if p != i):
        count = sum(edge in graph for graph in graphs)
        edges[edge] = "none" if count == 0 else "all" if count == len(graphs) else "some"

    def unique(node: int) -> bool:
        # Two parent sets are two supports, hence two different rows of weights.
        sets = {parents_of(graph, node) for graph in graphs}
        return len(sets) == 1 and not admissible[node, sets.pop()].directions

    return Consistent(
        frozenset(graphs),
        edges,
        unique(0),
        len(graphs) == 1 and all(unique(node) for node in range(k)),
        admissible,
    )


def predicted(
    k: int,
    records: Sequence[Sequence[Number]],
    baseline: Sequence[Number],
    steps: Sequence[Step],
    semantics: Semantics,
    reactor: Sequence[Number],
    frequency_is_sink: bool,
) -> Fraction | None:
    """The frequency of a crystal with property readings `reactor`, None unless it is settled."""
    result = consistent_graphs(k, records, baseline, steps, semantics, frequency_is_sink)
    possible = set()
    for parents in result.parents(0):
        functional = [*(exact(reactor[p - 1]) for p in parents), Fraction(1)]
        possible.add(result.spaces[0, parents].constant(functional))
    return possible.pop() if len(possible) == 1 else None


def told(
    world: TwinWorld,
    records: Sequence[Sequence[Number]],
    manipulator_bases: Sequence[Number],
    interventions: Sequence[tuple[int, Number]],
    semantics: Semantics,
) -> tuple[list[Reading], Reading, list[Step]]:
    """(records, baseline, steps) that an agent sees, in the form `consistent_graphs` takes."""
    seen, course = world.readings(records, manipulator_bases, interventions, semantics)
    steps: list[Step] = [
        (node, value, after) for (node, value), after in zip(interventions, course[1:], strict=True)
    ]
    return seen, course[0], steps


def fewest_by_search(
    world: TwinWorld,
    records: Sequence[Sequence[Number]],
    manipulator_bases: Sequence[Number],
    semantics: Semantics,
    controllable: Iterable[int],
    frequency_is_sink: bool,
    values: Sequence[Number] = (0, 100),
    cap: int = 4,
) -> int | None:
    """Length of the shortest sequence of distinct (property, value) that settles the whole model.

    `records` are crystals (bases). None if no sequence of at most `cap` interventions does.
    """
    choices = [(node, value) for node in sorted(set(controllable)) for value in values]
    for length in range(cap + 1):
        for chosen in permutations(choices, length):
            data = told(world, records, manipulator_bases, chosen, semantics)
            if consistent_graphs(world.k, *data, semantics, frequency_is_sink).whole_unique:
                return length
    return None
