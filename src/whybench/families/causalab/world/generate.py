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
from whybench.episode.instance import Profile
from whybench.families.causalab.agents.design import next_setting
from whybench.families.causalab.parameters import (
    GRAPHS,
    LIMIT,
    NAME,
    PLANS,
    RECORDS,
    SIGNS,
    TOLERANCE,
    Parameters,
    Plan,
    regime,
)
from whybench.families.causalab.proof.evidence import Evidence, inferred, predicted
from whybench.families.causalab.world import names, observed
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
        if view.rounded and not left:  # readings are too rough: set some again
            left = list(view.targets())
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
REAL_WEIGHTS = (0.15, 0.6)
"""Sizes of the weights of properties in linear systems with real numbers."""
REAL_FREQUENCY_WEIGHTS = (0.5, 3.0)
"""Sizes of the weights of the frequency in these systems."""
REAL_FREQUENCY_BASES = (1.0, 200.0)
"""Bases of the frequency in these systems."""
WEIGHT_DECIMALS = 4
"""Decimals of real weights: with two, few weights fit the first readings."""
CAUSES = 2
"""Least number of causes of the frequency in certified systems."""
PATIENCE = 256
"""Most draws of a reactor's crystal; if none is precise, the most precise one is taken."""
APART = 10
"""Distance of the bases of the manipulator's crystal from 0, from the largest setting and from the
records' bases, in linear systems with real numbers: smaller steps drown in rounding."""
MOVED = 0.25
"""A reactor's crystal is drawn again if rounding can move its prediction by more, in Hz."""
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
    real: bool = False
    """Whether the system is linear with real numbers."""
    causes: int = 1
    """Least number of causes of the frequency."""

    def stream(self, *purpose: str | int) -> Stream:
        """Return the stream for one purpose."""
        return Stream(NAME, self.seed, self.k, self.kind, self.graph, *purpose)


def size(suite: str, parameters: Parameters) -> int:
    """Return the number of instances of a suite."""
    plan = PLANS[suite]
    if plan.fresh:
        return parameters.graphs
    return GRAPHS * (len(plan.regimes) if plan.regimes and parameters.regime is None else 1)


def world(suite: str, seed: str, index: int, parameters: Parameters, profile: Profile) -> World:
    """Rebuild the hidden system at an instance's coordinates."""
    plan, released = PLANS[suite], profile == "published"
    place = _place(plan, seed, index, parameters, profile)
    k, said = place.k, _regime(plan, index, parameters)
    count = _count(plan, index, parameters, profile)
    budget = 4 * (k - 1) if said is None else regime(said)[1]
    law = _law(plan, place, _signs(parameters, profile))
    bases, records, *_ = _crystals(place, count)
    disturbance = _disturbance(plan, place, suite)
    semantics = parameters.semantics or ("set" if released else "shift")
    held = _held(plan, place)
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
        budget=0 if plan.observed or (plan.golden and said is None) else budget,
        tolerance=TOLERANCE[profile] if parameters.tolerance is None else parameters.tolerance,
        records=tuple(Reading(i, law.readings(own)) for i, own in enumerate(records)),
        baseline=Reading(len(records), law.readings(bases)),
        released=released,
        rounded=place.real,
    )
    if plan.golden:
        view = replace(
            view, records=(*view.records, *chain(view, law, records[0], place.stream("chain")))
        )
    if plan.observed:
        view = observed.with_records(view, law, records, place.stream("observed"))
    reactor = _reactor(place, law, held).bases
    if plan.golden and place.real:
        reactor = _precise(place, law, Evidence(view, (*view.records, view.baseline))).bases
    shown = records if place.real else ()
    return World(view, law, bases, reactor, disturbance, said or "", shown)


def discarded(
    suite: str, seed: str, index: int, parameters: Parameters, profile: Profile
) -> Record:
    """Return how many graphs and crystals were rejected, and why.

    Regimes of a suite share graphs and first records. Each rejected draw counts once, at its first
    use.
    """
    plan = PLANS[suite]
    place = _place(plan, seed, index, parameters, profile)
    rows = range(index, -1, -GRAPHS) if plan.regimes and parameters.regime is None else (index,)
    count, *earlier = (_count(plan, row, parameters, profile) for row in rows)
    before = _crystals(place, max(earlier, default=0))
    crystals = _crystals(place, max(count, *earlier, 0))
    graph = _draw(plan, place)
    law = _law(plan, place, _signs(parameters, profile))
    held = _held(plan, place)
    return Record.of(
        unconnected_graph=0 if earlier else graph.unconnected,
        repeated_shape=0 if earlier else graph.repeated,
        shared_base=crystals.shared - before.shared,
        dependent_record=crystals.dependent - before.dependent,
        imprecise_reactor=0 if earlier or plan.golden else _reactor(place, law, held).refused,
    )


def _count(plan: Plan, index: int, parameters: Parameters, profile: Profile) -> int:
    """Return how many records are shown at an index.

    In certified systems each property that cannot be set is made up for by a record, so that the
    frequency can be forced.
    """
    said = _regime(plan, index, parameters)
    if said is not None:
        return regime(said)[0]
    if plan.observed:
        return observed.CRYSTALS[1]
    return max(RECORDS[profile], 1 + index % 2 if plan.partial else 0)


def _signs(parameters: Parameters, profile: Profile) -> str:
    return parameters.signs or SIGNS[profile]


def _place(plan: Plan, seed: str, index: int, parameters: Parameters, profile: Profile) -> Place:
    k, graph = (parameters.k, index) if plan.fresh else (plan.k, index % GRAPHS)
    if profile == "published":
        return Place(k, seed, graph, _kind(plan))
    return Place(k, seed, graph, _kind(plan), not (plan.quadratic or plan.whole), CAUSES)


def _regime(plan: Plan, index: int, parameters: Parameters) -> str | None:
    return parameters.regime or (plan.regimes[index // GRAPHS] if plan.regimes else None)


def _kind(plan: Plan) -> str:
    if plan.fresh or plan.observed:
        return "fresh" if plan.fresh else "observed"
    return "quadratic" if plan.quadratic else "freqparent" if plan.frequency_parent else "linear"


def _draw(plan: Plan, place: Place) -> Draw:
    if plan.fresh:
        return draw(place.k, place.stream("graph"), place.causes)
    return draws(place.k, place.seed, least=place.causes)[place.graph]


def _edges(plan: Plan, place: Place) -> Edges:
    edges = _draw(plan, place).edges
    if plan.frequency_parent:
        return with_frequency_moved(edges, place.k, place.stream("moved"))
    return edges


def _law(plan: Plan, place: Place, signed: str) -> Law:
    stream = place.stream("weights")
    signs = place.stream("signs") if signed == "mixed" else None
    terms: list[list[Term]] = [[] for _ in range(place.k)]
    for cause, effect in sorted(_edges(plan, place)):
        if plan.quadratic:
            square, axis = stream.choice(SQUARES), _between(stream, AXES)
            terms[effect].append(Term(cause, round(-2 * square * axis, 6), square))
        else:
            bounds = REAL_FREQUENCY_WEIGHTS if effect == FREQUENCY else REAL_WEIGHTS
            some = observed.WEIGHTS if plan.observed and effect != FREQUENCY else WEIGHTS
            weight = (
                _between(stream, bounds, WEIGHT_DECIMALS)
                if place.real
                else float(stream.choice(some))
            )
            turned = signs is not None and signs.below(2)
            terms[effect].append(Term(cause, -weight if turned else weight))
    if plan.quadratic or place.real:
        base = _between(stream, SQUARE_BASES if plan.quadratic else REAL_FREQUENCY_BASES)
    else:
        base = float(stream.choice(FREQUENCY_BASES))
    return Law(tuple(map(tuple, terms)), base)


def _between(stream: Stream, bounds: tuple[float, float], decimals: int = DECIMALS) -> float:
    """Return a number with so many decimals, bounds included."""
    low, high = (round(bound * 10**decimals) for bound in bounds)
    return float((low + stream.below(high - low + 1)) / 10**decimals)


def _bases(stream: Stream, place: Place, margin: int) -> Readings:
    """Return bases: with two decimals if readings are rounded, otherwise whole numbers."""
    step = observed.STEP if place.kind == "observed" else 1
    low, high = margin * step, HIGHEST - margin * step
    drawn = [
        _between(stream, (low, high))
        if place.kind == "quadratic" or place.real
        else float(low + step * stream.below((high - low) // step + 1))
        for _ in range(place.k - 1)
    ]
    return (0.0, *drawn)


class Crystals(NamedTuple):
    """Bases, and how many draws of records were rejected."""

    manipulator: Readings
    records: tuple[Readings, ...]
    shared: int
    """Draws that share a base with the manipulator's crystal, or nearly."""
    dependent: int
    """Draws that are affinely dependent on earlier ones."""


@lru_cache(maxsize=256)
def _crystals(place: Place, count: int) -> Crystals:
    """Return the manipulator's bases, and those of the records.

    A draw that is not affinely independent of the earlier ones is repeated, as far as the dimension
    allows. N records and the baseline then determine as much as N + 1 readings can. Every record
    differs from the manipulator's crystal in every base, by more than `APART` if readings are
    rounded.
    """
    apart = APART if place.real else 0
    manipulator = _bases(place.stream("manipulator"), place, max(1, apart))
    kept: list[Readings] = []
    shared = dependent = 0
    stream = place.stream("records")
    while len(kept) < count:
        bases = _bases(stream, place, 0)
        if any(abs(a - b) <= apart for a, b in zip(bases[1:], manipulator[1:], strict=True)):
            shared += 1
            continue
        if len(kept) < place.k - 1 and not _independent([manipulator, *kept, bases]):
            dependent += 1
            continue
        kept.append(bases)
    return Crystals(manipulator, tuple(kept), shared, dependent)


class Reactor(NamedTuple):
    """The bases of the reactor's crystal, and how many draws were rejected."""

    bases: Readings
    refused: int


@lru_cache(maxsize=256)
def _reactor(place: Place, law: Law, held: int) -> Reactor:
    """Draw the reactor's crystal; its prediction must be precise, although readings are rounded.

    The precision is that of the exact agent's experiments with the default regime and `shift`, so
    suites that share a system share the reactor's crystal.
    """
    stream = place.stream("reactor")
    if not place.real:
        return Reactor(_bases(stream, place, 0), 0)
    return _precise(place, law, _rehearsed(place, law, held))


def _precise(place: Place, law: Law, evidence: Evidence) -> Reactor:
    """Draw a reactor's crystal whose prediction from the evidence is precise."""
    stream = place.stream("reactor")
    solution = evidence.solved(FREQUENCY, inferred(evidence).causes[FREQUENCY])
    drawn: list[tuple[float, Readings]] = []
    while len(drawn) < PATIENCE:
        bases = _bases(stream, place, 0)
        drawn.append((predicted(evidence, solution, law.readings(bases)).error, bases))
        if drawn[-1][0] <= MOVED:
            break
    return Reactor(min(drawn)[1], len(drawn) - 1)


def _rehearsed(place: Place, law: Law, held: int) -> Evidence:
    """Return the readings of the exact agent's experiments in the default regime."""
    bases, records, *_ = _crystals(place, max(RECORDS["certified"], held.bit_count()))
    view = View(
        names=("",) * place.k,
        display=tuple(range(1, place.k)),
        controllable=(1 << place.k) - 2 & ~held,
        semantics="shift",
        quadratic=False,
        sink=not law.graph.children[FREQUENCY],
        disturbance=0.0,
        frequency_disturbed=False,
        limit=LIMIT,
        budget=4 * (place.k - 1),
        tolerance=TOLERANCE["certified"],
        records=tuple(Reading(i, law.readings(own)) for i, own in enumerate(records)),
        baseline=Reading(len(records), law.readings(bases)),
        rounded=True,
    )
    now, readings = list(bases), [*view.records, view.baseline]
    while True:
        evidence = Evidence(view, readings)
        found = inferred(evidence)
        step = None if found.complete else next_setting(evidence, found)
        if step is None:
            return evidence
        now[step[0]] = step[1]
        readings.append(Reading(view.baseline.crystal, law.readings(now), *step))


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


def _held(plan: Plan, place: Place) -> int:
    """Return the properties that cannot be set."""
    if plan.observed:
        return (1 << place.k) - 2
    return _uncontrollable(place) if plan.partial else 0


def _uncontrollable(place: Place) -> int:
    """Return the properties that cannot be set: one in every even graph, two in every odd one."""
    held = place.stream("held").sample(range(1, place.k), 1 + place.graph % 2)
    return sum(1 << v for v in held)


def _display(law: Law, released: bool) -> tuple[int, ...]:
    """List properties by number, which is random; the release lists them in causal order."""
    if released:
        return tuple(v for v in law.order() if v != FREQUENCY)
    return tuple(members((1 << law.k) - 2))
