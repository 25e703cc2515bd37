"""Rebuild the hidden system from the coordinates of an instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from whybench.causal.canonical import Record
from whybench.causal.equivalence import class_size
from whybench.causal.graph import members
from whybench.causal.linear import rank
from whybench.causal.seeds import Stream
from whybench.families.causalab.parameters import (
    GRAPHS,
    NAME,
    PLANS,
    RECORDS,
    Parameters,
    Plan,
    regime,
)
from whybench.families.causalab.proof.evidence import Evidence, inferred
from whybench.families.causalab.world import names
from whybench.families.causalab.world.topology import Draw, Edges, draw, draws, with_frequency_moved
from whybench.families.causalab.world.world import (
    DECIMALS,
    FREQUENCY,
    Disturbance,
    Law,
    Reading,
    Readings,
    Term,
    View,
    World,
    moved_base,
    solver,
)


def chain(view: View, law: Law, bases: Readings, stream: Stream) -> tuple[Reading, ...]:
    """Intervene on the first record's crystal until every equation is forced.

    The choice is greedy. The next target is the property that leaves the smallest interventional
    equivalence class of the true graph. Once that class is a single graph, it is the property that
    forces the most equations.
    """
    lab, graph = solver(law), law.graph
    state, now = list(bases), view.records[0].values
    made: list[Reading] = []
    touched = 0
    while not inferred(Evidence(view, (*view.records, *made, view.baseline))).complete:
        left = [v for v in view.targets() if not touched >> v & 1]
        if not left:
            raise ValueError("No chain of interventions forces every equation of this system.")
        setting = float(stream.below(101))
        offers = []
        for v in stream.shuffled(left):
            changed = list(state)
            changed[v] = moved_base(lab, view.semantics, v, setting, now)
            if changed[v] == state[v]:
                continue
            reading = Reading(view.records[0].crystal, lab.readings(changed), v, setting)
            seen = inferred(Evidence(view, (*view.records, *made, reading, view.baseline)))
            worth = (class_size(graph, touched | 1 << v), -seen.settled.bit_count())
            offers.append((worth, v, changed, reading))
        if offers:
            _, v, state, reading = min(offers, key=lambda offer: offer[0])
            touched, now = touched | 1 << v, reading.values
            made.append(reading)
    return tuple(made)


WEIGHTS = (1, 2, 3)
"""Linear coefficients, as in the release."""
FREQUENCY_BASES = range(15, 26)
"""Bases of the frequency in linear systems, as in the release."""
HIGHEST = 100
"""Bases of properties go from 0 to this value; the manipulator's from 1 to one less."""
SQUARES = (0.008, 0.012, 0.016)
"""Square coefficients, as in the release."""
AXES = (35.0, 65.0)
"""Place of the vertex of a quadratic effect, inside the range of settings."""
SQUARE_BASES = (50.0, 190.0)
"""Bases of the frequency in quadratic systems."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the draws of a system depend on; suites with the same k share them."""

    k: int
    seed: str
    graph: int
    kind: str = "linear"

    def stream(self, *purpose: str | int) -> Stream:
        """Return the stream for one purpose."""
        return Stream(NAME, self.seed, self.k, self.kind, self.graph, *purpose)


def size(suite: str, parameters: Parameters) -> int:
    """Return the number of instances of a suite."""
    plan = PLANS[suite]
    if plan.fresh:
        return parameters.graphs
    return GRAPHS * (len(plan.regimes) if plan.regimes and parameters.regime is None else 1)


def world(suite: str, seed: str, index: int, parameters: Parameters, released: bool) -> World:
    """Rebuild the hidden system at an instance's coordinates."""
    plan = PLANS[suite]
    place = _place(plan, seed, index, parameters)
    k, said = place.k, _regime(plan, index, parameters)
    count, budget = (RECORDS, 4 * (k - 1)) if said is None else regime(said)
    law = _law(plan, place, _edges(plan, place), mixed=parameters.signs == "mixed")
    bases, records, *_ = _crystals(place, count)
    disturbance = _disturbance(plan, place, suite)
    semantics = parameters.semantics or ("set" if released else "shift")
    held = _uncontrollable(place) if plan.partial else 0
    stream = place.stream("names")
    view = View(
        names=("frequency", *stream.sample(names.pool(), k - 1)),
        display=_display(law, released),
        controllable=(1 << k) - 2 & ~held,
        semantics=semantics,
        quadratic=plan.quadratic,
        sink=not plan.frequency_parent,
        disturbance=plan.disturbance,
        frequency_disturbed=plan.frequency_disturbed,
        limit=None if released else parameters.limit,
        budget=0 if plan.golden and said is None else budget,
        tolerance=parameters.tolerance,
        records=tuple(Reading(i, law.readings(own)) for i, own in enumerate(records)),
        baseline=Reading(len(records), law.readings(bases)),
        released=released,
    )
    if plan.golden:
        view = replace(
            view, records=(*view.records, *chain(view, law, records[0], place.stream("chain")))
        )
    reactor = _bases(place.stream("reactor"), place, 0)
    return World(view, law, bases, reactor, disturbance, said or "")


def discarded(suite: str, seed: str, index: int, parameters: Parameters) -> Record:
    """Return how many graphs and crystals were rejected, and why.

    Regimes of a suite share graphs and first records. Each rejected draw counts once, at its first
    use.
    """
    plan = PLANS[suite]
    place = _place(plan, seed, index, parameters)
    rows = range(index, -1, -GRAPHS) if plan.regimes and parameters.regime is None else (index,)
    count, *earlier = (_count(plan, row, parameters) for row in rows)
    before = _crystals(place, max(earlier, default=0))
    crystals = _crystals(place, max(count, *earlier, 0))
    graph = _draw(plan, place)
    return Record.of(
        unconnected_graph=0 if earlier else graph.unconnected,
        repeated_shape=0 if earlier else graph.repeated,
        shared_base=crystals.shared - before.shared,
        dependent_record=crystals.dependent - before.dependent,
    )


def _count(plan: Plan, index: int, parameters: Parameters) -> int:
    """Return how many records are shown at an index."""
    said = _regime(plan, index, parameters)
    return RECORDS if said is None else regime(said)[0]


def _place(plan: Plan, seed: str, index: int, parameters: Parameters) -> Place:
    if plan.fresh:
        return Place(parameters.k, seed, index, _kind(plan))
    return Place(plan.k, seed, index % GRAPHS, _kind(plan))


def _regime(plan: Plan, index: int, parameters: Parameters) -> str | None:
    return parameters.regime or (plan.regimes[index // GRAPHS] if plan.regimes else None)


def _kind(plan: Plan) -> str:
    if plan.fresh:
        return "fresh"
    return "quadratic" if plan.quadratic else "freqparent" if plan.frequency_parent else "linear"


def _draw(plan: Plan, place: Place) -> Draw:
    if plan.fresh:
        return draw(place.k, place.stream("graph"))
    return draws(place.k, place.seed)[place.graph]


def _edges(plan: Plan, place: Place) -> Edges:
    edges = _draw(plan, place).edges
    if plan.frequency_parent:
        return with_frequency_moved(edges, place.k, place.stream("moved"))
    return edges


def _law(plan: Plan, place: Place, edges: Edges, *, mixed: bool) -> Law:
    stream = place.stream("weights")
    signs = place.stream("signs") if mixed else None
    terms: list[list[Term]] = [[] for _ in range(place.k)]
    for cause, effect in sorted(edges):
        if plan.quadratic:
            square, axis = stream.choice(SQUARES), _between(stream, AXES)
            terms[effect].append(Term(cause, round(-2 * square * axis, 6), square))
        else:
            weight = float(stream.choice(WEIGHTS))
            turned = signs is not None and signs.below(2)
            terms[effect].append(Term(cause, -weight if turned else weight))
    base = _between(stream, SQUARE_BASES) if plan.quadratic else stream.choice(FREQUENCY_BASES)
    return Law(tuple(map(tuple, terms)), float(base))


def _between(stream: Stream, bounds: tuple[float, float]) -> float:
    """Return a number with two decimals, bounds included."""
    low, high = (round(bound * 10**DECIMALS) for bound in bounds)
    return float((low + stream.below(high - low + 1)) / 10**DECIMALS)


def _bases(stream: Stream, place: Place, margin: int) -> Readings:
    """Return bases: whole numbers, or with two decimals in quadratic systems."""
    low, high = margin, HIGHEST - margin
    drawn = [
        _between(stream, (low, high))
        if place.kind == "quadratic"
        else float(low + stream.below(high - low + 1))
        for _ in range(place.k - 1)
    ]
    return (0.0, *drawn)


class Crystals(NamedTuple):
    """Bases, and how many draws of records were rejected."""

    manipulator: Readings
    records: tuple[Readings, ...]
    shared: int
    """Draws that share a base with the manipulator's crystal."""
    dependent: int
    """Draws that are affinely dependent on earlier ones."""


@lru_cache(maxsize=256)
def _crystals(place: Place, count: int) -> Crystals:
    """Return the manipulator's bases, and those of the records.

    A draw that is not affinely independent of the earlier ones is repeated, as far as the dimension
    allows. N records and the baseline then determine as much as N + 1 readings can. Every record
    differs from the manipulator's crystal in every base.
    """
    manipulator = _bases(place.stream("manipulator"), place, 1)
    kept: list[Readings] = []
    shared = dependent = 0
    stream = place.stream("records")
    while len(kept) < count:
        bases = _bases(stream, place, 0)
        if any(a == b for a, b in zip(bases[1:], manipulator[1:], strict=True)):
            shared += 1
            continue
        if len(kept) < place.k - 1 and not _independent([manipulator, *kept, bases]):
            dependent += 1
            continue
        kept.append(bases)
    return Crystals(manipulator, tuple(kept), shared, dependent)


def _independent(points: Sequence[Readings]) -> bool:
    return rank([(1, *(round(x * 100) for x in point[1:])) for point in points]) == len(points)


def _disturbance(plan: Plan, place: Place, suite: str) -> Disturbance | None:
    """Return the hidden disturbance; larger sets contain smaller ones, sizes share a place."""
    if not plan.disturbance:
        return None
    purpose = suite.rpartition("_")[0]
    order = place.stream("affected", purpose).shuffled(range(1, place.k))
    affected = sum(1 << v for v in order[: plan.affected])
    if plan.frequency_disturbed:
        affected |= 1 << FREQUENCY
    values = (-plan.disturbance, 0.0, plan.disturbance)
    return Disturbance(affected, values, (NAME, "disturbance", suite, place.seed, place.graph))


def _uncontrollable(place: Place) -> int:
    """Return the properties that cannot be set: one in every even graph, two in every odd one."""
    held = place.stream("held").sample(range(1, place.k), 1 + place.graph % 2)
    return sum(1 << v for v in held)


def _display(law: Law, released: bool) -> tuple[int, ...]:
    """List properties by number, which is random; the release lists them in causal order."""
    if released:
        return tuple(v for v in law.order() if v != FREQUENCY)
    return tuple(members((1 << law.k) - 2))
